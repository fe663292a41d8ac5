"""Search by words and by vectors, in memory for places that are small enough."""
