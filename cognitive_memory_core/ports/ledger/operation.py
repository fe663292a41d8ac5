"""Records of operation: model calls by day, whether the machine's clock is trusted, and the state of the file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

LEDGER_ROWS = "ledger rows"  # name in the status under which damage of the ledger's file is reported


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


class Accounts(Protocol):
    """Daily accounts of model calls and tokens, by purpose."""

    async def spend(self, day: date, spending: Spending) -> None:
        """Add the cost of one purpose to a day."""
        ...

    async def spent(self, day: date) -> list[Spending]:
        """Return a day's spending by purpose."""
        ...


@dataclass(frozen=True)
class ClockState:
    """The latest trusted instant of the machine's clock (None before the first) and the instant seen last.

    ``steady_seconds`` is how long the clock has run without a jump.
    """

    believed_at: datetime | None
    seen_at: datetime
    steady_seconds: float


class ClockStore(Protocol):
    """The trust state of the machine's clock, and the correction of wrongly dated tombstones."""

    async def find(self) -> ClockState | None:
        """Return the stored state; None before the first :meth:`keep`."""
        ...

    async def keep(self, state: ClockState) -> None:
        """Store the state."""
        ...

    async def redate_tombstones(self, after: datetime, to: datetime) -> int:
        """Redate the tombstones dated later than ``after`` to the instant ``to``; return how many."""
        ...


@dataclass(frozen=True)
class LedgerExamination:
    """The damage found in the ledger's file, one line each in SQLite's words; ``is_complete``: all was examined."""

    damages: tuple[str, ...] = ()
    is_complete: bool = True


class LedgerExaminer(Protocol):
    """Finds rows that are damaged although the file can be read."""

    async def examine(self, seconds: float) -> LedgerExamination:
        """Compare tables with their indexes and rows with themselves, for at most ``seconds``; change nothing."""
        ...
