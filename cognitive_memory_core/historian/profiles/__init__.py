"""From facts to profiles: merging, its guards, names, the profile index."""
