"""Tests of facts and profiles in the database: transactions, migration, and speed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.store.ledger import Ledger
from tests.support.builders import GROUP, a_draft, an_event
from tests.support.clock import FrozenClock
from tests.support.ledgers import a_fact, shown

ME = ProfileKey.member("10001", "2000001")


@pytest.mark.parametrize("table", ["facts", "heard"])
async def test_events_and_their_facts_come_in_together_or_not_at_all(path: Path, table: str) -> None:
    """If one row cannot be written, neither event nor fact nor job mark is stored."""
    ledger = await Ledger.open(path, clock=FrozenClock())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            f"CREATE TRIGGER full BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )
    event = an_event("甲")
    draft = replace(a_draft(event, job_id="job"), facts=(a_fact(event),), observations={event.id: "是甲"})
    with pytest.raises(sqlite3.IntegrityError):
        await ledger.events.commit(draft)
    assert await shown(ledger, GROUP) == []
    assert not await ledger.events.done("job")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER full")
    await ledger.events.commit(draft)
    assert await ledger.facts.facts(ME, 9) == [a_fact(event)]
    await ledger.close()
