"""One part of a context: how it is read, and its fallback if a store or a model is unavailable."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..cancellation import is_out_of_threads
from ..domain.context import Section
from ..domain.event import Event
from ..ports.words import LineKey
from ..recall.deadlines import AWAY
from ..recall.quotations import Quotation
from .token_budget import Part

T = TypeVar("T")


@dataclass(frozen=True)
class PartRead:
    """A part of the context, and the names of the stores or models that were unavailable while it was read."""

    part: Part
    degraded: tuple[str, ...] = ()
    made_of: frozenset[LineKey] = frozenset()  # lines of the log that its events were made of
    quotations: tuple[Quotation, ...] = ()  # the lines of the log that it chooses from, best first
    quoting: Callable[[Sequence[Quotation]], Section] | None = None  # renders the chosen ones


@dataclass(frozen=True)
class TurnEvents:
    """The events found for a turn, the events that replace them (``newer``), and the parts that were unavailable."""

    found: Sequence[Event] = ()
    newer: Sequence[Event] = ()
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True)
class PartReader(Generic[T]):
    """Reads one part of the context from a store, and renders it.

    If ``read`` is None, nothing is read and ``unread`` is rendered. If reading is late or fails, ``fallback`` returns
    the part.
    """

    read: Callable[[], Awaitable[T]] | None
    unread: T
    render: Callable[[T], list[PartRead]]
    fallback: Callable[[], list[PartRead]]

    def start(self) -> asyncio.Future[T] | None:
        """Start to read; None if nothing is to be read. A read of the ledger is a future already and needs no task."""
        return asyncio.ensure_future(self.read()) if self.read else None

    def rendered(self, answer: asyncio.Future[Any] | None) -> list[PartRead]:
        """Render what was read; return the fallback if reading is not done, or if a store or model was unavailable."""
        if answer is not None and (not answer.done() or answer.cancelled()):
            return self.fallback()
        try:
            return self.render(self.unread if answer is None else answer.result())
        except AWAY:
            return self.fallback()
        except RuntimeError as failure:
            if not is_out_of_threads(failure):
                raise
            return self.fallback()
