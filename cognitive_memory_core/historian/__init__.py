"""The write path: makes statements, events and profiles from what was said; ``recall`` reads them."""
