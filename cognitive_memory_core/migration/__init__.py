"""Converts the memory of an older system to an export that this memory imports; the source is never changed."""
