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


async def spent_on(accounts: Any, day: date) -> list[Spending]:
    """Return what was spent on a day."""
    return [spending for one, spending in await accounts.spent(day) if one == day]


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
