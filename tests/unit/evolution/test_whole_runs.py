"""A run is stored whole or not at all, whatever happens meanwhile: refused writes, kills, admins, erasures."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from cognitive_memory_core.errors import StorageRefused
from tests.support.beliefs import FRIDAY, LIN, MO, TEA, a_belief, a_chat, answered, begun, created, deleted, updated
from tests.support.builders import GROUP
from tests.support.evolving import EvolvingGroup, broken_chains
from tests.support.ledgers import Ledger, a_ledger, name_person

CHAT = a_chat(
    (TEA, "以后每周六晚上讨论新番"),
    (LIN, "好，每周六晚上讨论新番"),
    (LIN, "以后不讨论政治"),
    (MO, "对，不讨论政治"),
    (TEA, "桌游之夜取消了，以后不办"),
    (MO, "好，桌游之夜取消"),
)
GAMES = "每月一次桌游之夜"
ANSWER = answered(updated("B1", "每周六晚上讨论新番", 1, 2), created("不讨论政治", 3, 4), deleted("B2", 5, 6))
BEFORE = {FRIDAY: "active", GAMES: "active"}
AFTER = {"每周六晚上讨论新番": "active", "不讨论政治": "active", GAMES: "deprecated"}


async def prepared(ledger: Ledger) -> EvolvingGroup:
    """Return a group with two beliefs, a chat, and a model that updates, creates and deletes."""
    await ledger.log.append(CHAT)
    for line in CHAT:
        await name_person(
            ledger, line.scene.scope, line.sender_id, line.scene.user_name, line.sent_at - timedelta(days=8)
        )
    await ledger.beliefs.commit([begun(a_belief(FRIDAY, "b1", strength=0.9)), begun(a_belief(GAMES, "b2"))])
    group = await EvolvingGroup.over(ledger)
    group.clock.advance(hours=1)
    group.chat.answer = ANSWER
    return group


async def standing(group: EvolvingGroup) -> dict[str, str]:
    """Return the current statements with their status."""
    return {one.statement: one.status for one in await group.heads()}


@dataclass
class FaultyDisk:
    """Copies a directory before each commit, as a kill there would leave it, and refuses one of the commits."""

    live: Path
    refused: int
    copies: list[Path] = field(default_factory=list[Path])
    is_armed: bool = False

    def check(self) -> None:
        """Copy, then refuse the commit if it is the one."""
        if not self.is_armed:
            return
        self.copies.append(self.live.with_name(f"killed-{self.refused}-{len(self.copies)}"))
        shutil.copytree(self.live, self.copies[-1])
        if len(self.copies) - 1 == self.refused:
            raise StorageRefused("full")


async def state_of(path: Path) -> dict[str, str]:
    """Open a ledger as after a kill; return its beliefs, of which no chain may be broken."""
    ledger = await Ledger.open(path / "ledger.db")
    group = await EvolvingGroup.over(ledger)
    now = await standing(group)
    assert await broken_chains(ledger) == []
    await ledger.close()
    return now


@pytest.mark.parametrize("refused", [-1, 0, 1])
async def test_a_run_is_whole_at_every_write(tmp_path: Path, refused: int) -> None:
    """At each write of a run a kill, or a disk that refuses it, leaves all of the run or nothing; no chain breaks."""
    disk = FaultyDisk(tmp_path / "live", refused)
    ledger = await Ledger.open(disk.live / "ledger.db", check=disk.check)
    group = await prepared(ledger)
    disk.is_armed = True
    outcome = "done"
    try:
        await group.evolve()
    except StorageRefused:
        outcome = "refused"
    disk.is_armed = False
    now = await standing(group)
    await ledger.close()
    assert outcome == ("done" if refused < 0 else "refused")
    assert now == (BEFORE if refused == 0 else AFTER)
    assert await state_of(disk.live) == now
    found = [await state_of(copy) for copy in disk.copies]
    assert found == [BEFORE, AFTER][: len(disk.copies)]


async def interrupted(change: Callable[[EvolvingGroup], Awaitable[object]]) -> tuple[EvolvingGroup, str]:
    """Run a change while the model thinks; return the group and the message of the run."""
    group = await prepared(a_ledger())
    group.chat.gate.clear()
    run = asyncio.ensure_future(group.evolve())
    await group.chat.asked.wait()
    await change(group)
    group.chat.gate.set()
    evolution = await run
    assert await broken_chains(group.ledger) == []
    return group, evolution.message


async def test_an_admins_edit_wins_over_a_run() -> None:
    """What an admin retires or weakens while the model thinks stays as the admin left it; the rest applies."""
    group, message = await interrupted(lambda group: group.keeping.retire(GROUP, "b1", ""))
    assert "期间被改过" in message
    assert await standing(group) == {"不讨论政治": "active", FRIDAY: "deprecated", GAMES: "deprecated"}
    group, _ = await interrupted(lambda group: group.keeping.set_strength(GROUP, "b2", 0.3))
    assert (await standing(group))[GAMES] == "active"


async def test_an_erasure_voids_a_run() -> None:
    """A run that read what was erased meanwhile stores nothing; so does one whose people opted out meanwhile."""

    async def erased(group: EvolvingGroup) -> None:
        async with group.evolver.suspended():
            await group.ledger.eraser.forget_person(LIN[0], group.clock.now(), str)

    group, message = await interrupted(erased)
    assert "作废" in message
    assert (await standing(group)) == BEFORE
    _, message = await interrupted(lambda group: group.consent.opt_out(MO[0], group.clock.now()))
    assert "作废" in message
