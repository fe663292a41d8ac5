"""Tests of the hourly upkeep of a ledger in which something cannot be deleted."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from cognitive_memory_core import CognitiveMemory
from cognitive_memory_core.errors import StorageRefused, UnavailableError
from cognitive_memory_core.historian.upkeep import Upkeep
from cognitive_memory_core.settings.schema import Live, Settings
from tests.support.builders import GROUP, a_message
from tests.support.clock import NOON
from tests.support.ledgers import a_ledger, later
from tests.support.waiting import until


async def nothing_due() -> float:
    """Purge nothing."""
    return 3600.0


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


async def test_a_refused_erasure_of_a_period_holds_up_no_purge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the ledger refuses to erase an ended incognito period, the hourly round purges nevertheless."""
    async with CognitiveMemory.open(Settings(), tmp_path, background=False) as memory:
        learning = await memory._learning()
        await memory.forget_user(GROUP, GROUP.user_id)

        async def refused(_: datetime) -> None:
            raise StorageRefused("disk full")

        monkeypatch.setattr(learning.opened.consent, "erase_ended", refused)
        assert (await learning.opened.ledger.eraser.purge_due()).erased_at is not None
        await learning.upkeep._round()
        assert (await learning.opened.ledger.eraser.purge_due()).erased_at is None
