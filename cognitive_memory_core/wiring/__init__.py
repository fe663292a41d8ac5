"""Composition root: the one folder that knows every adapter. Opens adapters; knows no façade."""

from .adapters import Adapters, opened_adapters

__all__ = ["Adapters", "opened_adapters"]
