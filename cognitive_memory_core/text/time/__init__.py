"""Time expressions: the window that a text names, and the dates of relative words."""
