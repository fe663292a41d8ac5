"""Replacements for models that need neither a key nor a network."""
