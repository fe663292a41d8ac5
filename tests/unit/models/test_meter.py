"""Tests of recording the cost of model calls."""

from __future__ import annotations

import asyncio
from datetime import date
from sqlite3 import IntegrityError
from typing import Any

import pytest

from cognitive_memory_core.domain.figures import Spending
from cognitive_memory_core.errors import StorageRefused
from cognitive_memory_core.models.spending import Budget
from cognitive_memory_core.settings.schema import Live, Settings
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import a_ledger
from tests.support.ports import Wrapping
from tests.support.waiting import until


class RefusingAccounts(Wrapping):
    """Accounts that refuse writes until allowed."""

    refuses = True

    async def spend(self, day: date, spending: Spending) -> None:
        """Refuse or write."""
        if self.refuses:
            raise StorageRefused("满了")
        await self.inner.spend(day, spending)


async def spent_on(accounts: Any, day: date) -> list[Spending]:
    """Return what was spent on a day."""
    return [spending for one, spending in await accounts.spent(day) if one == day]


async def test_calls_are_added_up_by_purpose_and_day() -> None:
    """Calls are counted by purpose and by day of the configured zone."""
    accounts, clock = a_ledger().housekeeping, FrozenClock()
    meter = Budget(accounts, clock, Live(Settings()))
    meter.count("embedding", 10)
    meter.count("embedding", 5)
    meter.count("merge", -3)
    clock.advance(hours=13)
    meter.count("embedding", 1)
    await meter.flush()
    await meter.flush()
    today = sorted(await spent_on(accounts, NOON.date()), key=lambda row: row.purpose)
    assert today == [Spending("embedding", 2, 15), Spending("merge", 1, 0)]
    assert await spent_on(accounts, clock.now().date()) == [Spending("embedding", 1, 1)]


async def test_what_the_ledger_refuses_waits() -> None:
    """Counts that could not be written are kept and written later."""
    accounts, clock = RefusingAccounts(a_ledger().housekeeping), FrozenClock()
    meter = Budget(accounts, clock, Live(Settings()))
    meter.count("embedding", 10)
    await meter.flush()
    meter.count("embedding", 1)
    accounts.refuses = False
    await meter.flush()
    assert await spent_on(accounts, NOON.date()) == [Spending("embedding", 2, 11)]


class FailingOnce(Wrapping):
    """Accounts whose first write fails."""

    def __init__(self, failure: BaseException) -> None:
        """Fail first with this error."""
        super().__init__(a_ledger().housekeeping)
        self.failure: BaseException | None = failure

    async def spend(self, day: date, spending: Spending) -> None:
        """Fail first, then write."""
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure
        await self.inner.spend(day, spending)


@pytest.mark.parametrize("failure", [StorageRefused("满了"), IntegrityError("UNIQUE"), asyncio.CancelledError()])
async def test_what_was_refused_once_is_written_without_another_call(failure: BaseException) -> None:
    """After any failed write the count is written soon, even without another call."""
    accounts = FailingOnce(failure)
    meter = Budget(accounts, FrozenClock(), Live(Settings()))
    meter.loop.start()
    meter.count("embedding", 10)

    async def is_written() -> bool:
        return await spent_on(accounts, NOON.date()) == [Spending("embedding", 1, 10)]

    await until(is_written)
    await until(lambda: not meter.loop.trouble.error)
    await meter.loop.stop()


async def test_a_write_that_is_cancelled_loses_no_call_and_counts_none_twice() -> None:
    """Stopping during a write counts each call once."""

    class SlowAccounts(Wrapping):
        """Accounts that write when allowed."""

        may_write = asyncio.Event()

        async def spend(self, day: date, spending: Spending) -> None:
            """Wait, then write."""
            await self.may_write.wait()
            await self.inner.spend(day, spending)

    accounts = SlowAccounts(a_ledger().housekeeping)
    meter = Budget(accounts, FrozenClock(), Live(Settings()))
    meter.count("rewrite", 7)
    meter.count("merge", 7)
    writing = asyncio.create_task(meter.flush())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    writing.cancel()
    await asyncio.sleep(0)
    accounts.may_write.set()
    await asyncio.gather(writing, return_exceptions=True)
    await meter.flush()
    assert sorted(one.purpose for one in await spent_on(accounts, NOON.date()) if one.calls == 1) == [
        "merge",
        "rewrite",
    ]
