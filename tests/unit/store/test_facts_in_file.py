"""Tests of facts and profiles in the database: transactions, migration, and speed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from cognitive_memory_core.domain.event import Fact
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.store.ledger import Ledger
from tests.support.builders import GROUP, a_draft, an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.costs import LINEAR, spent_off_loop
from tests.support.ledgers import a_fact, shown

ME = ProfileKey.member("10001", "2000001")
BEFORE = """
INSERT INTO events (id, text, kind, user_id, group_id, sender_id, subjects, message_ids, request_type, happened_at,
    is_absolute, count, agent, confidence, pain, solution, outcome, sender_name, scope, at_us, duplicate_key)
VALUES ('old', '旧事', 'event', '2000001', '10001', '2000001', '[]', '[]', 'group', '2026-03-04T12:00:00+08:00',
    1, 1, 'default', 1.0, '', '', '', '', 'default' || char(31) || 'group' || char(31) || '10001', 0, 'key');
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a ledger."""
    return tmp_path / "ledger.db"


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


async def test_who_waits_is_told_quickly_of_thousands_of_facts(path: Path) -> None:
    """The time to list waiting facts is proportional to their number."""
    ledger = await Ledger.open(path, clock=FrozenClock())

    async def asked() -> list[Fact]:
        waiting = await ledger.facts.waiting()
        return await ledger.facts.facts(waiting[0].key, 12)

    few = 0.0
    for start in range(0, 4_000, 1_000):
        few = few or (await spent_off_loop(asked) if start else 0.0)
        events = [
            an_event(f"第{number}件", Scene.group(str(10_000 + number % 50), str(2_000_000 + number % 1_000)))
            for number in range(start, start + 1_000)
        ]
        await ledger.events.commit(replace(a_draft(*events), facts=tuple(map(a_fact, events))))
    await ledger.consent.opt_out("2000001", NOON)
    assert await spent_off_loop(asked) < LINEAR * few
    waiting, facts = await ledger.facts.waiting(), await asked()
    assert (len(waiting), sum(one.facts for one in waiting), len(facts)) == (999, 3_996, 4)
    await ledger.close()
