"""Loads the names of a package when they are first used, so that importing the package costs little (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module


def loaded_on_use(
    package: str, modules: Iterable[str] = (), names: Mapping[str, str] | None = None
) -> Callable[[str], object]:
    """Return a ``__getattr__`` for a package, which loads a module below it or a name that such a module defines.

    ``names`` maps a module, dotted, to the names it defines, separated by blanks. What cannot be imported raises where
    it is used, every time.
    """
    submodules = frozenset(modules)
    homes = {name: home for home, defined in (names or {}).items() for name in defined.split()}

    def load(name: str) -> object:
        if name in submodules:
            return import_module(f".{name}", package)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f".{homes[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
