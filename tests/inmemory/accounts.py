"""Model calls and tokens by purpose and day."""

from __future__ import annotations

from datetime import date

from cognitive_memory_core.ports.ledger import Spending


class InMemoryAccounts:
    """Model spending in memory."""

    def __init__(self) -> None:
        """Start without spending."""
        self._spent: dict[tuple[date, str], Spending] = {}

    async def spend(self, day: date, spending: Spending) -> None:
        """Add spending to a day."""
        before = self._spent.get((day, spending.purpose), Spending(spending.purpose))
        self._spent[day, spending.purpose] = before.plus(spending)

    def days(self) -> list[date]:
        """Return the days with spending, oldest first."""
        return sorted({day for day, _ in self._spent})

    async def spent(self, day: date) -> list[Spending]:
        """Return a day's spending by purpose."""
        return [self._spent[key] for key in sorted(self._spent) if key[0] == day]
