"""Tests of the hourly cleaning of the message log."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest

from cognitive_memory_core.historian.upkeep import MEGABYTE, Upkeep
from cognitive_memory_core.settings.schema import CaptureSettings, Live, Settings
from tests.support.builders import GROUP, a_message
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, a_ledger, later
from tests.support.waiting import until

FILES = "cognitive_memory_core.historian.upkeep"


async def nothing_due() -> float:
    """Purge nothing."""
    return 3600.0


async def crowded(count: int, **capture: float) -> tuple[Ledger, Upkeep]:
    """Return a ledger with messages a minute apart, and its upkeep."""
    ledger = a_ledger()
    await ledger.log.append([a_message("话" * 100, sent_at=later(minutes=number)) for number in range(count)])
    live = Live(Settings(capture=CaptureSettings.model_validate(capture)))
    return ledger, Upkeep(ledger, live, lambda: NOON + timedelta(days=1), nothing_due)


async def left(ledger: Ledger) -> int:
    """Count the remaining messages."""
    return len(await ledger.log.recent(GROUP.scope, 10_000))


async def test_the_log_stays_within_its_size(caplog: pytest.LogCaptureFixture) -> None:
    """Over ``log_max_mb`` the oldest messages are deleted and counted, and logged once."""
    ledger, upkeep = await crowded(1_000, log_max_mb=1)
    room = MEGABYTE // a_message("话" * 100).weight
    with caplog.at_level(logging.WARNING, FILES):
        await upkeep.shrink()
        assert (await left(ledger), upkeep.removed) == (room, 1_000 - room)
        await ledger.log.append([a_message("话" * 100, sent_at=later(days=1)) for _ in range(9)])
        await upkeep.shrink()
    assert (await left(ledger), upkeep.removed) == (room, 1_009 - room)
    (told,) = caplog.messages
    assert "LOG_MAX_MB" in told


async def test_a_purge_that_must_wait_is_called_when_it_may_run() -> None:
    """The loop rests no longer than until the purge may be due, not for a whole hour."""
    ledger, calls = a_ledger(), list[float]()

    async def purge() -> float:
        calls.append(0.01)
        return calls[-1]

    upkeep = Upkeep(ledger, Live(Settings()), lambda: NOON, purge)
    upkeep.loop.start()
    await until(lambda: len(calls) > 1)
    await upkeep.loop.stop()
