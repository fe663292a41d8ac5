"""Figures of the ledger: counts of rows, activity by day, model calls, and whether erased bytes wait to be removed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

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
        return Spending(
            self.purpose,
            self.calls + more.calls,
            self.tokens + more.tokens,
            self.unreachable + more.unreachable,
            self.bad + more.bad,
            self.answered + more.answered,
        )


@dataclass(frozen=True)
class PurgeState:
    """When the oldest erasure was whose bytes are still on disk, and when the last purge was; None if there is none."""

    erased_at: datetime | None = None
    purged_at: datetime | None = None
