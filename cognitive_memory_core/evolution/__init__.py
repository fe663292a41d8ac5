"""Long-term memory of groups: beliefs, derived from what was said and kept in versions."""
