"""Search by words and by vectors, from memory where a place fits."""
