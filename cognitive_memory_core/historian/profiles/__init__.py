"""From facts to profiles: merging, its guards, names and the profile index."""
