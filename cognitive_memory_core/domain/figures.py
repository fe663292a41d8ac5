"""Figures for operators: totals, days, spending, backlog, prices."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

LEDGER_ROWS = "ledger rows"  # name in the status under which damage of the ledger's file is reported


@dataclass(frozen=True)
class Totals:
    """Row counts of the ledger: active events, retired events, messages, memos, pins, active beliefs."""

    events: int = 0
    retired: int = 0
    messages: int = 0
    memos: int = 0
    pins: int = 0
    beliefs: int = 0


@dataclass(frozen=True)
class DayCount:
    """The lines that were logged on one day, and the active events that happened on it."""

    day: date
    messages: int = 0
    events: int = 0


@dataclass(frozen=True)
class Activity:
    """Active events and logged lines of a place or of the whole ledger: in total, and by day, the oldest day first."""

    events: int = 0
    messages: int = 0
    days: tuple[DayCount, ...] = ()


@dataclass(frozen=True)
class Spending:
    """Cost of one purpose on one day, and how often its model was ``unreachable`` or answered badly (``bad``).

    ``answered`` is how many of the tokens the model wrote.
    """

    purpose: str
    calls: int = 0
    tokens: int = 0
    unreachable: int = 0
    bad: int = 0
    answered: int = 0

    def plus(self, more: Spending) -> Spending:
        """Return the sum of this and another spending of the same purpose and day."""
        counts = (getattr(self, name) + getattr(more, name) for name in COUNTED)
        return Spending(self.purpose, *counts)


COUNTED = ("calls", "tokens", "unreachable", "bad", "answered")  # of what is spent


@dataclass(frozen=True)
class PurgeState:
    """When the oldest erasure was whose bytes are still on disk, and when the last purge was; None if there is none."""

    erased_at: datetime | None = None
    purged_at: datetime | None = None


IndexActivity = Literal["off", "asleep", "waking", "awake"]


@dataclass(frozen=True)
class IndexState:
    """The state of the vector store: the number of the generation in use (0 if none) and how many rows it lacks.

    ``built`` of ``to_build`` rows are in the next generation; both are 0 if none is being built. ``activity`` is "off"
    without a vector store, "asleep" while it is stopped because nothing needs it, "waking" while it starts, and "awake"
    while it answers; in the other states exact search of the ledger answers.
    """

    generation: int = 0
    behind: int = 0
    built: int = 0
    to_build: int = 0
    activity: IndexActivity = "off"


@dataclass(frozen=True)
class MergeState:
    """Counts of ``facts`` that wait for a merge, of their ``profiles``, and of profiles whose last merge failed."""

    profiles: int = 0
    facts: int = 0
    failing: int = 0
    last_error: str = ""


MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """The price of a million input tokens (``given``) and of a million output tokens (``written``), in any currency."""

    given: float
    written: float

    def __str__(self) -> str:
        """Return the price as .env writes it."""
        return f"{self.given:.15g}/{self.written:.15g}"

    def of(self, tokens: int, answered: int) -> float:
        """Return the price of ``tokens`` in all, of which ``answered`` are output tokens."""
        return ((tokens - answered) * self.given + answered * self.written) / MILLION
