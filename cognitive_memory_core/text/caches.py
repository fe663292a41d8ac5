"""What a process remembers of texts and names to be fast: all let go of at once when somebody is forgotten."""

from __future__ import annotations

from threading import Lock
from typing import Protocol, TypeVar
from weakref import WeakSet


class Remembering(Protocol):
    """A cached function, as functools makes it."""

    def cache_clear(self) -> None:
        """Forget every answer."""
        ...


class Holder(Protocol):
    """An object that holds texts or names in memory only."""

    def clear_caches(self) -> None:
        """Hold nothing."""
        ...


R = TypeVar("R", bound=Remembering)
_functions: list[Remembering] = []
_holders: WeakSet[Holder] = WeakSet()
_turn = Lock()


def cleared_on_erasure(function: R) -> R:
    """Let a cached function forget with all others; to be written above ``lru_cache``."""
    _functions.append(function)
    return function


def register_cache(holder: Holder) -> None:
    """Let an object let go with all others, for as long as it lives."""
    with _turn:
        _holders.add(holder)


def clear_caches() -> None:
    """Remember nothing: what was erased must not stay in memory."""
    with _turn:
        holders = list(_holders)
    for holder in holders:
        holder.clear_caches()
    for function in _functions:
        function.cache_clear()
