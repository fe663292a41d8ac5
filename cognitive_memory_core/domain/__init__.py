"""The nouns of memory and their rules: standard library only, frozen, synchronous."""
