"""Characters, words and terms: what is indexed and counted."""
