"""Tests of taking over an end_summaries.json that lies in the data directory at the first start."""

from __future__ import annotations

import asyncio
import errno
import json
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core
from cognitive_memory_core.disk import Disk
from cognitive_memory_core.migration.layout import COPY, keep_summaries
from cognitive_memory_core.migration.summaries import SummaryTakeover
from tests.support.bot_homes import ENV, BotHome
from tests.support.disk import Fault, FaultyDisk
from tests.support.older_system import GROUP, PERSON, summary, write_json
from tests.support.waiting import PATIENCE

EXACT: dict[str, Any] = {"vector_store": {"backend": "exact"}}
SETTINGS = core.Settings.model_validate(EXACT)
HERE = core.Scene.group(GROUP, PERSON)
OPERATOR = core.Scene.operator()
ROWS = 40


def lay(data: Path, rows: list[object] | None = None) -> bytes:
    """Write the file of the older mode, whose places are numbers; return its content."""
    write_json(data / "end_summaries.json", [summary(n, GROUP) for n in range(ROWS)] if rows is None else rows)
    return (data / "end_summaries.json").read_bytes()


async def events_of(data: Path, settings: core.Settings = SETTINGS, scene: core.Scene = OPERATOR) -> list[str]:
    """Open the directory until its work is done; return the texts of its events, oldest first."""
    async with core.CognitiveMemory.open(settings, data) as memory:
        assert await memory.drain(PATIENCE)
        return [event.text for event in reversed(await memory.events(scene, limit=200))]


async def test_what_cannot_be_read_is_reported_and_the_rest_comes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Damaged rows and places without a number are named with the command that brings them; others come over."""
    good, nameless = summary(1, GROUP), summary(2)
    text = f"[{json.dumps(good)}, 7, {json.dumps(nameless)}, oops"
    (tmp_path / "end_summaries.json").write_text(text, "utf-8")
    assert await events_of(tmp_path) == [good["summary"]]
    said = [record.getMessage() for record in caplog.records]
    assert any("end_summaries.json 第 3 条" in line and "--group" in line for line in said)
    assert any("cognitive-memory migrate" in line and str(tmp_path / "end_summaries.json") in line for line in said)
    assert (tmp_path / "end_summaries.json").read_text("utf-8") == text


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe\x00", b"[" * 4_000, b"[1, 2, 3]", b'["' + b"x" * 400_000])
async def test_a_file_of_any_content_stops_nothing(tmp_path: Path, content: bytes) -> None:
    """Whatever the file holds, the memory opens, works, and tries no second time."""
    (tmp_path / "end_summaries.json").write_bytes(content)
    assert await events_of(tmp_path) == []
    assert not (tmp_path / COPY).exists()
    async with core.CognitiveMemory.open(SETTINGS, tmp_path) as memory:
        assert await memory.remember(core.Turn(HERE, memo="照常"))


async def test_the_memory_of_the_set_agent_gets_them(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """They go to the agent of the settings; where each account has its own, nothing is guessed and the log says so."""
    lay(tmp_path / "named")
    named = core.Settings.model_validate({**EXACT, "agent": "小忆"})
    assert len(await events_of(tmp_path / "named", named, core.Scene.operator("小忆"))) == ROWS
    lay(tmp_path / "isolated")
    isolated = core.Settings.model_validate({**EXACT, "isolate_bots": True})
    assert await events_of(tmp_path / "isolated", isolated) == []
    assert any("--agent" in record.getMessage() for record in caplog.records)


async def test_somebody_forgotten_before_it_ran_does_not_come(tmp_path: Path) -> None:
    """A person erased while the summaries still wait is in none of the events that come."""
    rows: list[object] = [summary(1, PERSON, "private"), {**summary(2, GROUP), "summary": f"Null({PERSON}) 借走了书"}]
    lay(tmp_path, rows)
    async with core.CognitiveMemory.open(SETTINGS, tmp_path, background=False) as memory:
        await memory.forget_user(OPERATOR, PERSON)
    [left] = await events_of(tmp_path)
    assert left.endswith("(某位成员) 借走了书")
    assert PERSON not in (tmp_path / "end_summaries.json").read_text("utf-8")


async def test_no_erasure_runs_while_it_is_read(tmp_path: Path) -> None:
    """An erasure asked for in the middle of the takeover waits for its end, and then finds what came."""
    lay(tmp_path)
    begun, may_end, order = asyncio.Event(), asyncio.Event(), list[str]()

    async def import_slowly(_: Path) -> int:
        begun.set()
        await may_end.wait()
        order.append("imported")
        return ROWS

    async def erase() -> None:
        async with taking_over.suspended():
            order.append("erased")

    keep_summaries(tmp_path, Disk())
    taking_over = SummaryTakeover(tmp_path, "default", import_slowly, Disk())
    taking_over.loop.start()
    await begun.wait()
    erasing = asyncio.create_task(erase())
    await asyncio.sleep(0.05)
    assert order == []
    may_end.set()
    await erasing
    await taking_over.loop.stop()
    assert order == ["imported", "erased"]


async def test_the_command_afterwards_adds_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`migrate` of the same file finds everything there already, and its --group brings what was left out."""
    home = BotHome(tmp_path / "bot", capsys)
    home.path.mkdir()
    home.write_env(*ENV)
    home.data_dir.mkdir(parents=True)
    lay(home.data_dir, [summary(1, GROUP), summary(2)])
    assert len(await events_of(home.data_dir)) == 1
    path = str(home.data_dir / "end_summaries.json")
    run = asyncio.to_thread
    assert json.loads((await run(home.run, "migrate", path, "--json"))[1])["rows"] == 0
    assert json.loads((await run(home.run, "migrate", path, "--group", GROUP, "--json"))[1])["rows"] == 2


@pytest.mark.parametrize("at", range(1, 9))
async def test_a_refusing_disk_costs_the_takeover_and_not_the_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, at: int
) -> None:
    """Whichever operation of the copy fails, it is whole or not there; if not, the log names the command."""
    content, disk = lay(tmp_path), FaultyDisk()
    disk.arm(Fault(at, errno.ENOSPC, always=True))
    keep_summaries(tmp_path, disk)
    copy, is_told = tmp_path / COPY, "cognitive-memory migrate" in caplog.text
    assert copy.read_bytes() == content if copy.exists() else is_told
    assert len(await events_of(tmp_path)) == ROWS
