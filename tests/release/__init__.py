"""Tests of what is released: the archives, and the plugin installed from them into an environment of its own."""
