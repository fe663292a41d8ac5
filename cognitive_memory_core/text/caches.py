"""Registry of in-memory caches of texts and names; all are cleared when a person is forgotten."""

from __future__ import annotations

from threading import Lock
from typing import Protocol, TypeVar
from weakref import WeakSet


class Remembering(Protocol):
    """A cached function, as made by functools."""

    def cache_clear(self) -> None:
        """Drop all cached results."""
        ...


class Holder(Protocol):
    """An object that caches texts or names in memory."""

    def clear_caches(self) -> None:
        """Drop everything cached."""
        ...


R = TypeVar("R", bound=Remembering)
_functions: list[Remembering] = []
_holders: WeakSet[Holder] = WeakSet()
_turn = Lock()


def cleared_on_erasure(function: R) -> R:
    """Register a cached function whose results :func:`clear_caches` drops; put this decorator above ``lru_cache``."""
    _functions.append(function)
    return function


def register_cache(holder: Holder) -> None:
    """Register an object that :func:`clear_caches` clears; only a weak reference is kept."""
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
