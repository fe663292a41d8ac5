"""One file for each promise of README; the list there names them."""
