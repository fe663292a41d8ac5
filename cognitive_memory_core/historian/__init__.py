"""The write path: makes statements, events and profiles of what was said; reading them is ``recall``."""
