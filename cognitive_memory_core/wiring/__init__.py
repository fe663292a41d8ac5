"""Composition root: the one folder that knows every adapter. Returns parts; knows no façade."""

from .parts import Parts, parts_of

__all__ = ["Parts", "parts_of"]
