"""Builders and stand-ins that every kind of test shares."""
