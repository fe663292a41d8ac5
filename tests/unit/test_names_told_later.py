"""Tests of names that a platform tells apart from the lines, as OneBot v12 does."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest

import cognitive_memory_core as core
from cognitive_memory_core import Message
from tests.support.builders import GROUP
from tests.support.clock import NOON
from tests.support.telling import EXACT
from tests.support.waiting import PATIENCE


async def test_a_name_told_later_names_the_lines_before_it(tmp_path: Path) -> None:
    """A name that the platform tells after a line names it, unwritten or on disk, and in what a search finds."""
    nameless = replace(GROUP, user_name="", group_name="")
    async with core.CognitiveMemory.open(EXACT, tmp_path, background=False) as memory:
        for number, said in enumerate(("周六去青石公园", "带上风筝")):
            await memory.observe(Message(f"m{number}", nameless, said, NOON))
            await memory.drain(PATIENCE)
        await memory.observe(Message("m2", nameless, "风很大", NOON))
        await memory.note_name(GROUP, NOON)
        lines = await memory.recent_messages(nameless)
        assert [line.scene.user_name for line in lines] == [GROUP.user_name] * 3
        hits = await memory.search_events(nameless, "公园", kinds=["message"])
        assert {hit.event.sender_name for hit in hits} == {GROUP.user_name}
        await memory.drain(PATIENCE)
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as ledger:
        stored = ledger.execute("SELECT id, user_name FROM messages ORDER BY seq").fetchall()
    assert stored == [("m0", ""), ("m1", ""), ("m2", GROUP.user_name)]


@pytest.mark.parametrize("refused", ["opted out", "off", "incognito", "erased", "disabled", "closed"])
async def test_a_name_is_kept_only_where_its_line_would_be(tmp_path: Path, refused: str) -> None:
    """No name is stored of a person or place that is not recorded, or that was erased after the line."""
    settings = EXACT.model_copy(update={"enabled": refused != "disabled"})
    async with core.CognitiveMemory.open(settings, tmp_path, background=False) as memory:
        at = datetime.now(timezone.utc)
        match refused:
            case "opted out":
                await memory.opt_out(GROUP.user_id)
            case "off":
                await memory.set_switch(GROUP, "off")
            case "incognito":
                await memory.incognito(GROUP, 30)
                at = datetime.now(timezone.utc)
            case "erased":
                await memory.forget_user(GROUP, GROUP.user_id)
        told = core.CognitiveMemory.absent() if refused == "closed" else memory
        await told.note_name(GROUP, at)
        assert await memory._opened.ledger.names.people(GROUP.scope) == []
