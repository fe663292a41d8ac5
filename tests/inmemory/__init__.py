"""Twins of the file queue and the profile files, for tests."""
