"""Erasing people, places and events, and purging their bytes."""
