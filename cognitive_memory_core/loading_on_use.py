"""Loads modules and compiles expressions when they are first used."""

from __future__ import annotations

from collections.abc import Callable


class OnUse:
    """Has the attributes of what ``make`` returns: of a module, or of a compiled expression."""

    def __init__(self, make: Callable[[], object]) -> None:
        """Make nothing yet; ``make`` is called once for each attribute that is used."""
        self._make = make

    def __getattr__(self, name: str) -> object:
        value: object = getattr(self._make(), name)
        setattr(self, name, value)
        return value
