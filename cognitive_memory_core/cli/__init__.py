"""The command `cognitive-memory`."""
