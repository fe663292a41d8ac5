"""Slow memory of groups: beliefs grow out of what was said, in versions."""
