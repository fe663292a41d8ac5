"""Test of the hourly upkeep of a log in which nothing can be deleted."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.historian.upkeep import Upkeep
from cognitive_memory_core.settings.schema import Live, Settings
from tests.support.builders import a_message
from tests.support.clock import NOON
from tests.support.ledgers import a_ledger, later
from tests.support.waiting import until


async def nothing_due() -> None:
    """Purge nothing."""


async def test_a_log_that_cannot_be_pruned_is_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Damage that keeps old messages from being deleted is told, because the examination comes first."""
    monkeypatch.setattr("cognitive_memory_core.historian.upkeep.AFTER", 0.0)
    ledger = a_ledger()
    await ledger.log.append([a_message("话", sent_at=later(minutes=number)) for number in range(10)])
    upkeep = Upkeep(ledger, Live(Settings()), lambda: NOON + timedelta(days=1), nothing_due)
    await ledger.database.write(lambda writer: writer.execute("UPDATE messages SET scope = 'x' WHERE seq = 3"))

    async def prune(before: datetime) -> int:
        raise UnavailableError("malformed")

    monkeypatch.setattr(ledger.log, "prune", prune)
    upkeep.loop.start()
    await until(lambda: bool(upkeep.damage.error))
    await upkeep.loop.stop()
