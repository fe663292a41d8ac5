"""Erasure of persons, places and events, and the purge of their bytes."""
