"""Tests of opening directories of earlier versions, and of refusing those of later ones."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import cognitive_memory_core as core
from benchmarks.fault_row import Seen
from benchmarks.faults import upgrades
from cognitive_memory_core.settings.configuration import Configuration
from cognitive_memory_core.store.database import schema
from tests import golden
from tests.golden import fill
from tests.support.clock import FrozenClock
from tests.support.sizes import sized
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).absolute().parents[2]
NAMES = golden.names()
SETTINGS = core.Settings.model_validate({"vector_store": {"backend": "exact"}})
EVERY = sized(11, 1)  # statements between two kills
OPERATOR = core.Scene.operator()


def version(path: Path) -> int:
    """Return the format of a ledger."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def test_every_released_version_has_its_directory() -> None:
    """Each version that the change log dates, and each ledger format up to now, has a directory to be opened."""
    released = re.findall(r"^## \[([\d.]+)\] - \d{4}", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert not [name for name in released if not any(one.startswith(f"{name}-format-") for one in NAMES)]
    assert {golden.format_of(name) for name in NAMES} >= set(range(1, schema.FORMAT + 1))


@pytest.mark.parametrize("name", NAMES)
async def test_an_older_directory_opens_with_nothing_lost(name: str, tmp_path: Path) -> None:
    """Every row, job and profile of an older directory is there after the newest version opened it, with a copy."""
    data = golden.unpacked(name, tmp_path / "data")
    before, profiles = golden.rows_of(data / "ledger.db"), sorted(data.glob("profiles/**/*.md"))
    words = {path: path.read_bytes() for path in profiles}
    found, pending = version(data / "ledger.db"), len(list((data / "queues" / "pending").iterdir()))
    async with core.CognitiveMemory.open(SETTINGS, data, background=False, clock=FrozenClock(fill.NOON)) as memory:
        assert len(await memory.events(OPERATOR, limit=100)) >= 4
        assert {pin.text for pin in await memory.pins(fill.GROUP)} == {"群主在广州"}
        assert {pin.text for pin in await memory.pins(fill.PRIVATE)} == {"别在早上发消息"}
        assert await memory.search_events(fill.OTHER, "搬到杭州")
        assert not await memory.may_record(fill.AWAY, fill.NOON)
        assert [line.id for line in await memory.recent_messages(fill.GROUP)] == ["m1", "m2"]  # m0 went with its event
        [failed] = await memory.failed_jobs()
        assert failed.error == "坏了"
        assert (await memory.status()).jobs.pending == pending >= 2
    assert golden.missing(before, golden.rows_of(data / "ledger.db")) == []
    assert {path: path.read_bytes() for path in profiles} == words
    if found < schema.FORMAT:
        assert golden.rows_of(data / f"ledger.v{found}.db") == before


GROWN = [name for name in NAMES if "-grown-" in name]
WITH_CHROMA = [name for name in NAMES if golden.holds(name, "chromadb/current")]


@pytest.mark.parametrize("name", GROWN)
async def test_beliefs_and_experiences_come_along(name: str, tmp_path: Path) -> None:
    """Beliefs with their history and changes, and experiences with what was decided of them, are as they were left."""
    data = golden.unpacked(name, tmp_path / "data")
    async with core.CognitiveMemory.open(SETTINGS, data, background=False, clock=FrozenClock(fill.NOON)) as memory:
        active = {one.statement: one for one in (await memory.beliefs(fill.CLUB)).beliefs}
        [retired] = (await memory.beliefs(fill.CLUB, status="deprecated")).beliefs
        assert (len(active), active["每周五晚上讨论新番"].strength, retired.statement) == (2, 0.9, "群里不讨论政治")
        assert len(await memory.belief_history(fill.CLUB, retired.id)) >= 1
        assert len(await memory.belief_changes(fill.CLUB, days=30)) == 5
        assert await memory.suggestions(fill.CLUB) == []  # decided already
        experiences = [one for one in await memory.events(fill.CLUB, limit=50) if one.kind == "experience"]
        assert {(one.pain, one.solution, one.outcome) for one in experiences} == {("依赖装不上", "换了镜像源", "好了")}
        assert "每周五晚上讨论新番" in (await memory.context(fill.CLUB, "周五晚上讨论什么新番")).text


@pytest.mark.parametrize("name", WITH_CHROMA[:: sized(2, 1)])
async def test_a_chroma_folder_of_an_older_version_is_used_or_built_anew(name: str, tmp_path: Path) -> None:
    """With the vector store, an older directory's generation serves or is replaced, and holds every event's vector."""
    data = golden.unpacked(name, tmp_path / "data")
    settings = core.Settings.model_validate({"profile": {"merge_delay_seconds": 0, "merge_min_facts": 1}})
    async with core.CognitiveMemory.open(settings, data, clock=FrozenClock(fill.NOON)) as memory:
        assert await memory.drain(PATIENCE)
        rows = await memory.reindex()
        status = await memory.status()
        assert rows >= len(await memory.events(OPERATOR, limit=100)) >= 4
        assert await memory.search_events(fill.OTHER, "搬到杭州")
        assert status.last_error == ""
    assert golden.generation_of(data)


@pytest.mark.parametrize("name", [NAMES[0], NAMES[-1]])
def test_what_an_older_version_left_undone_is_done(name: str, tmp_path: Path) -> None:
    """Jobs that an older version left in pending/ and failed/ become memory; no row is lost, and the copy is whole."""
    found = Seen()
    upgrades.open_whole(tmp_path / "data", name, found)
    assert found == Seen(opened=1), found.examples


def test_an_older_overrides_file_is_in_force(tmp_path: Path) -> None:
    """A setting that an older version stored in overrides.json is in force; one that is unknown here is kept."""
    data = golden.unpacked(NAMES[0], tmp_path / "data")
    assert Configuration({}, data).settings.query.auto_top_k == 5
    (data / "overrides.json").write_text('{"query.auto_top_k": 5, "query.of_later": 1}', "utf-8")
    configuration = Configuration({}, data)
    configuration.change("query.auto_messages_k", "3")
    assert json.loads((data / "overrides.json").read_text("utf-8"))["query.of_later"] == 1


@pytest.mark.skipif(os.name == "nt", reason="forks")
@pytest.mark.parametrize("name", NAMES[:: sized(9, 1)])
def test_a_migration_killed_at_any_statement_is_finished_by_the_next_start(name: str, tmp_path: Path) -> None:
    """A migration killed before any of its statements leaves a ledger that the next start migrates, nothing lost."""
    found = Seen()
    upgrades.kill_statements(tmp_path, name, EVERY, found)
    assert found["statements"] * EVERY > 3 * (schema.FORMAT - golden.format_of(name))
    assert found["stuck"] == found["lost"] == 0, found.examples


def test_a_directory_of_a_later_version_is_refused_untouched(tmp_path: Path) -> None:
    """A later directory, with the change in its file or log, is refused with the release it needs, and none changes."""
    found = Seen()
    upgrades.refuse_later(tmp_path, NAMES[-1], found)
    assert found == Seen(refused=2)


async def test_a_ledger_without_its_format_is_called_damaged(tmp_path: Path) -> None:
    """A ledger of one byte, and one with tables but without its format's number, are refused as damaged, untouched."""
    async with core.CognitiveMemory.open(SETTINGS, tmp_path / "whole", background=False):
        pass
    with closing(sqlite3.connect(tmp_path / "whole" / "ledger.db")) as connection:
        connection.execute("PRAGMA user_version = 0")
    (tmp_path / "byte").mkdir()
    (tmp_path / "byte" / "ledger.db").write_bytes(b"x")
    for folder, why in (("whole", "user_version"), ("byte", "一个字节")):
        before = (tmp_path / folder / "ledger.db").read_bytes()
        with pytest.raises(core.UnavailableError, match=why):
            async with core.CognitiveMemory.open(SETTINGS, tmp_path / folder, background=False):
                pass
        assert (tmp_path / folder / "ledger.db").read_bytes() == before


async def test_going_back_is_putting_the_copy_in_place(tmp_path: Path) -> None:
    """The copy kept by a migration, renamed to ledger.db without its log, is the older ledger row by row."""
    data = golden.unpacked(NAMES[3], tmp_path / "data")
    before = golden.rows_of(data / "ledger.db")
    async with core.CognitiveMemory.open(SETTINGS, data, background=False) as memory:
        await memory.drain(60)
    (data / "ledger.v4.db").replace(data / "ledger.db")
    assert version(data / "ledger.db") == 4
    assert golden.rows_of(data / "ledger.db") == before
