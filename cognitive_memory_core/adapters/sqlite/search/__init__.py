"""Search by words and by vectors, in memory where a place fits."""
