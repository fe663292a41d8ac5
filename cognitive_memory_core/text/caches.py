"""Registry of in-memory caches of texts and names; all are cleared when a person is forgotten."""

from __future__ import annotations

from threading import Lock
from typing import Any, TypeVar
from weakref import WeakSet

F = TypeVar("F")
_functions: list[Any] = []
_holders: WeakSet[Any] = WeakSet()
_turn = Lock()


def cleared_on_erasure(function: F) -> F:
    """Register a cached function whose results :func:`clear_caches` drops; put this decorator above ``lru_cache``."""
    _functions.append(function)
    return function


def register_cache(holder: object) -> None:
    """Register an object whose method ``clear_caches`` :func:`clear_caches` calls; only a weak reference is kept."""
    with _turn:
        _holders.add(holder)


def clear_caches() -> None:
    """Clear all registered caches; called after an erasure, so that erased texts and names do not stay in memory."""
    with _turn:
        holders = list(_holders)
    for holder in holders:
        holder.clear_caches()
    for function in _functions:
        function.cache_clear()
