"""Tests that start the chat plugins to which there are bridges."""
