"""Scheduled evolution: which groups are due, in what order, and within the day's calls."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cognitive_memory_core as core
from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.consent import PlaceSwitch
from cognitive_memory_core.domain.scope import Scene, Scope
from cognitive_memory_core.evolution.evolver import evolve_due
from cognitive_memory_core.ports import Ask
from cognitive_memory_core.settings.schema import EvolutionSettings, Live, Settings
from cognitive_memory_core.store.beliefs import GroupActivity
from tests.support.beliefs import FRIDAY, LIN, TEA, a_chat, answered, created
from tests.support.builders import GROUP
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import a_ledger
from tests.support.waiting import PATIENCE

GROUPS, DAYS, CALLS = 200, 7, 100


class CountedEvolver:
    """Stands in for the evolver: counts the runs of each group, and marks its lines as read."""

    def __init__(self, book: Any, clock: FrozenClock | None = None, live: Live[Settings] | None = None) -> None:
        """Note runs in a book."""
        ledger = a_ledger()
        self.book = book
        self.ledger = SimpleNamespace(beliefs=book)
        self.consent = Consent(ledger)
        self.clock = clock or FrozenClock()
        self.settings = live or Live(Settings())
        self.runs: dict[str, list[datetime]] = {}
        self.today = 0

    async def evolve(self, scene: Scene, since: datetime) -> core.Evolution:
        """Record a run."""
        self.runs.setdefault(scene.group_id, []).append(since)
        self.today += 1
        await self.book.note(scene.scope, [f"{scene.group_id}-{len(self.runs[scene.group_id])}"])
        return core.Evolution()


class UnreadBook:
    """Knows of each group how many lines are unread, and the number of its last run."""

    def __init__(self, groups: int) -> None:
        """Start with groups that were never read."""
        self.unread_lines = {f"{at:05}": 0 for at in range(10_000, 10_000 + groups)}
        self.last = dict.fromkeys(self.unread_lines, 0)

    async def unread(self) -> list[Any]:
        """Return the groups, the one whose last run is longest ago first."""
        rows = [
            GroupActivity(Scope("default", "group", one), count, NOON, self.last[one])
            for one, count in self.unread_lines.items()
            if count
        ]
        return sorted(rows, key=lambda row: row.run)

    async def note(self, scope: Scope, read: object) -> None:
        """Mark a group as read."""
        self.unread_lines[scope.place_id] = 0
        self.last[scope.place_id] = max(self.last.values()) + 1


async def test_nobody_starves() -> None:
    """Of 200 groups that all talk, each is evolved in a week in which 50 of 100 daily calls are evolution's."""
    book, clock, slept = UnreadBook(GROUPS), FrozenClock(), list[float]()
    evolver: Any = CountedEvolver(book, clock)

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.advance(seconds=seconds)

    for _ in range(DAYS):
        evolver.today = 0
        for group in book.unread_lines:
            book.unread_lines[group] += 40
        await evolve_due(evolver, lambda: evolver.today < CALLS // 2, 3600.0, sleep)
        assert sum(slept) <= 3600.0
        slept.clear()
        clock.advance(hours=23)
    counts = {len(runs) for runs in evolver.runs.values()}
    assert len(evolver.runs) == GROUPS
    assert counts <= {1, 2}


async def test_a_quiet_group_costs_nothing() -> None:
    """A group with too few new lines, or one that is not recorded, is not evolved; nor is any while it is disabled."""
    book, live = UnreadBook(3), Live(Settings())
    quiet, off, loud = book.unread_lines
    book.unread_lines.update({quiet: 29, off: 300, loud: 30})
    evolver: Any = CountedEvolver(book, live=live)
    await evolver.consent.set_switch(PlaceSwitch(Scope("default", "group", off), "off"))
    assert await evolve_due(evolver, lambda: True, 0.0) == 1
    assert list(evolver.runs) == [loud]
    assert evolver.runs[loud] == [NOON]
    live.current = Settings(evolution=EvolutionSettings(enabled=False))
    book.unread_lines[loud] = 99
    assert await evolve_due(evolver, lambda: True, 0.0) == 0


async def test_a_round_reads_what_no_run_read(tmp_path: Path) -> None:
    """A scheduled run over the whole memory reads the unread lines, and the next round has nothing to do."""
    clock = FrozenClock()
    clock.advance(hours=2)
    asked: list[str] = []

    class Answering:
        async def ask(self, ask: Ask[Any]) -> Any:
            asked.append(ask.prompt)
            return ask.parse(answered(created(FRIDAY, 1, 2)))

    store = core.VectorStoreSettings(backend="exact")
    settings = core.Settings(vector_store=store, evolution=EvolutionSettings(min_messages=2))
    async with core.CognitiveMemory.open(settings, tmp_path, background=False, clock=clock, chat=Answering()) as memory:
        for line in a_chat(
            (TEA, "以后每周五晚上讨论新番"), (LIN, "好，每周五晚上讨论新番"), at=NOON - timedelta(days=3)
        ):
            await memory.observe(replace(line, scene=replace(line.scene, is_admin=True)))
        await memory.drain(PATIENCE)
        assert await memory.evolve_groups(within=0) == 1
        assert (await memory.beliefs(GROUP)).total == 1
        assert await memory.evolve_groups(within=0) == 0
    assert len(asked) == 1
