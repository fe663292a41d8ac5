"""Loads modules, names and expressions when they are first used, so that importing a package costs little."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module


def loaded_on_use(
    package: str, modules: Iterable[str], names: Mapping[str, str]
) -> tuple[Callable[[str], object], list[str]]:
    """Return ``__getattr__`` and ``__all__`` of a package whose submodules and their names are imported on first use.

    ``names`` maps a dotted module to the names that it defines, separated by blanks. A failed import is tried again at
    the next use.
    """
    submodules = frozenset(modules)
    homes = {name: home for home, defined in names.items() for name in defined.split()}

    def load(name: str) -> object:
        if name in submodules:
            return import_module(f".{name}", package)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f".{homes[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    return load, sorted((*submodules, *homes))


class OnUse:
    """Has the attributes of what ``make`` returns: of a module, or of a compiled expression."""

    def __init__(self, make: Callable[[], object]) -> None:
        """Make nothing yet; ``make`` is called once for each attribute that is used."""
        self._make = make

    def __getattr__(self, name: str) -> object:
        value: object = getattr(self._make(), name)
        setattr(self, name, value)
        return value
