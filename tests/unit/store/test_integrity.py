"""Tests of the full check of the ledger's file: it notices what a read through an index passes over."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import cognitive_memory_core as core
from cognitive_memory_core.store.database.examination import examined as ledger_examined
from cognitive_memory_core.store.ledger import Ledger
from tests import golden
from tests.golden import fill
from tests.support.damaged_rows import DAMAGES, changed

SETTINGS = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data directory with something of everything."""
    newest = [name for name in golden.names() if "-grown-" in name][-1]
    return golden.unpacked(newest, tmp_path / "data")


each = pytest.mark.parametrize("table", DAMAGES)


async def examined(data: Path) -> list[str]:
    """Examine the ledger of a directory; return what is damaged."""
    ledger = await Ledger.open(data / "ledger.db", read_only=True)
    try:
        return await ledger.examine()
    finally:
        await ledger.close()


@pytest.mark.parametrize("name", golden.names())
async def test_a_whole_ledger_has_no_damage(tmp_path: Path, name: str) -> None:
    """Nothing is found in the ledger of any earlier version, once it is migrated."""
    data = golden.unpacked(name, tmp_path / "data")
    async with core.CognitiveMemory.open(SETTINGS, data, background=False):
        pass
    assert await examined(data) == []


@each
async def test_what_cannot_be_is_found(data: Path, table: str) -> None:
    """A table that differs from its index, and a row that contradicts itself, are found, although reads work."""
    DAMAGES[table](data)
    damages = await examined(data)
    assert damages
    assert all(one.startswith(table) for one in damages)


async def test_a_cancelled_examination_has_ended(data: Path) -> None:
    """A memory that closes does not wait for the examination of a large ledger."""
    endless = "(WITH RECURSIVE t (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t)"
    asking = asyncio.ensure_future(ledger_examined(data / "ledger.db", {"events": endless}))
    await asyncio.sleep(0.2)
    assert not asking.done()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_a_row_that_cannot_be_read_makes_the_ledger_unavailable(data: Path) -> None:
    """A row that is none of ours is an error of the store, with which every caller reckons, and no other one."""
    changed("UPDATE events SET subjects = '[\"1'")(data)
    async with core.CognitiveMemory.open(SETTINGS, data, background=False) as memory:
        with pytest.raises(core.UnavailableError, match="events: "):
            await memory.events(core.Scene.operator())
        await memory.context(fill.GROUP, "乌龙茶")


UNREADABLE = {
    "a list": "UPDATE events SET subjects = '[\"1' WHERE seq = 1",
    "an instant": "UPDATE messages SET sent_at = '2026-13-01' WHERE seq = 1",
    "text of an event": "UPDATE events SET text = CAST(x'e4b8' AS TEXT) WHERE seq = 1",
    "text of a line": "UPDATE messages SET text = CAST(x'e4b8' AS TEXT) WHERE seq = 1",
    "a memo": "UPDATE memos SET written_at = 'x'",
    "a pin": "UPDATE pins SET text = CAST(x'e4b8' AS TEXT)",
    "a belief": "UPDATE beliefs SET tags = '{'",
    "a profile": "UPDATE profiles SET tags = '{'",
    "a fact": "UPDATE facts SET happened_at = 'x'",
    "a forgotten event": "UPDATE events SET happened_at = 'x' WHERE seq IN (SELECT seq FROM forgotten)",
}


@pytest.mark.parametrize("damage", UNREADABLE)
async def test_a_row_that_cannot_be_read_stops_no_start(data: Path, damage: str) -> None:
    """A memory opens with a row that cannot be read, also if it makes its word index and hidden lines anew."""
    changed("INSERT OR IGNORE INTO forgotten (seq) SELECT max(seq) FROM events")(data)
    changed(UNREADABLE[damage])(data)
    changed("UPDATE meta SET value = '' WHERE key IN ('terms', 'veils')")(data)
    async with core.CognitiveMemory.open(SETTINGS, data, background=False) as memory:
        for scene in (fill.GROUP, fill.PRIVATE):
            await memory.context(scene, "乌龙茶，小棠怎么样")
        await memory.remember(core.Turn(fill.PRIVATE, memo="聊了天气", observations=["阿棠(2000001) 喜欢观星"]))
        assert "聊了天气" in (await memory.context(fill.PRIVATE, "天气")).text


TAKEN = {key: f"DELETE FROM meta WHERE key = '{key}'" for key in ("veils", "terms", "revision", "erasure_key")}
TAKEN["no hexadecimal number"] = "UPDATE meta SET value = 'x' WHERE key = 'erasure_key'"


@pytest.mark.parametrize("damage", TAKEN)
async def test_a_value_of_the_ledger_that_damage_took_is_refused_in_a_sentence(data: Path, damage: str) -> None:
    """Without a value that every ledger keeps, opening or using the memory refuses as for a broken disk."""
    changed(TAKEN[damage])(data)

    async def used() -> None:
        async with core.CognitiveMemory.open(SETTINGS, data, background=False) as memory:
            await memory.context(fill.GROUP, "乌龙茶")
            await memory.forget_user(core.Scene.operator(), "2000001")

    with pytest.raises(core.UnavailableError):
        await used()
