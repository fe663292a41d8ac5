"""What models cost is written down."""

from __future__ import annotations

import asyncio
from datetime import date

from cognitive_memory_core.adapters.inmemory.accounts import InMemoryAccounts
from cognitive_memory_core.errors import StorageRefused
from cognitive_memory_core.historian.meter import SpendingMeter
from cognitive_memory_core.ports.ledger import Spending
from tests.support.clock import NOON, SHANGHAI, FrozenClock


class RefusingAccounts(InMemoryAccounts):
    """Accounts whose disk is full until told otherwise."""

    refuses = True

    async def spend(self, day: date, spending: Spending) -> None:
        """Refuse, or write."""
        if self.refuses:
            raise StorageRefused("满了")
        await super().spend(day, spending)


async def test_calls_are_added_up_by_purpose_and_day() -> None:
    """Three calls of two purposes on two days of the zone are counted where they belong."""
    accounts, clock = InMemoryAccounts(), FrozenClock()
    meter = SpendingMeter(accounts, clock, SHANGHAI)
    meter.count("embedding", 10)
    meter.count("embedding", 5)
    meter.count("merge", -3)
    clock.advance(hours=13)
    meter.count("embedding", 1)
    await meter.settle()
    await meter.settle()
    today = sorted(await accounts.spent(NOON.date()), key=lambda row: row.purpose)
    assert today == [Spending("embedding", 2, 15), Spending("merge", 1, 0)]
    assert await accounts.spent(clock.now().date()) == [Spending("embedding", 1, 1)]


async def test_what_the_ledger_refuses_waits() -> None:
    """A full disk loses no count, also of what is spent meanwhile."""
    accounts, clock = RefusingAccounts(), FrozenClock()
    meter = SpendingMeter(accounts, clock, SHANGHAI)
    meter.count("embedding", 10)
    await meter.settle()
    meter.count("embedding", 1)
    accounts.refuses = False
    await meter.settle()
    assert await accounts.spent(NOON.date()) == [Spending("embedding", 2, 11)]


async def test_two_who_write_at_once_write_each_call_once() -> None:
    """The loop and a status that settle together neither fail nor count twice."""

    class SlowAccounts(InMemoryAccounts):
        """Accounts that take a moment."""

        async def spend(self, day: date, spending: Spending) -> None:
            """Wait, and write."""
            await asyncio.sleep(0)
            await super().spend(day, spending)

    accounts = SlowAccounts()
    meter = SpendingMeter(accounts, FrozenClock(), SHANGHAI)
    for purpose in ("rewrite", "merge", "triage"):
        meter.count(purpose, 1)
    await asyncio.gather(meter.settle(), meter.settle(), meter.settle())
    assert sum(one.calls for one in await accounts.spent(NOON.date())) == 3
