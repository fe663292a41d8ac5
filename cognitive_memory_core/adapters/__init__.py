"""Adapters: one folder per technology; none imports another."""
