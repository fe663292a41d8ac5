"""Domain objects and pure rules: standard library only, frozen, synchronous."""
