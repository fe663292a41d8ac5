"""Characters, words and terms for indexing and counting."""
