"""A mapping of bounded size, for what is remembered of people and places that come without end."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Newest(OrderedDict[K, V], Generic[K, V]):
    """Keeps the keys that were set last."""

    def __init__(self, most: int) -> None:
        """Keep at most ``most`` keys."""
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        """Set a key, and drop the one set longest ago if there are too many."""
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)
