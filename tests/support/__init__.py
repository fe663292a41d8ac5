"""Builders and fakes shared by all kinds of tests."""
