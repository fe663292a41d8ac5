"""Time expressions: which window a text names, and relative words resolved to dates."""
