"""Composition root: the one folder that knows every adapter and builds every use case; knows no façade."""

from .adapters import Adapters, opened_adapters
from .use_cases import UseCases

__all__ = ["Adapters", "UseCases", "opened_adapters"]
