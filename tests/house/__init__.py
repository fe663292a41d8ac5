"""Tests of the conventions of this repository: layers, names, language and import cost, checked on its files."""
