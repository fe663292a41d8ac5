"""Tests of `cognitive-memory import-chat`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import cognitive_memory_core as core
from tests.support.bot_homes import SETTINGS, BotHome
from tests.support.chat_files import FORMATS, Line, chat, five_json

GROUP = ("--group", "10001", "--bot", "2000000")


def lines(count: int = 30) -> Iterator[Line]:
    """Return a chat of yesterday."""
    return chat(count, datetime.now(timezone.utc).replace(microsecond=0) - timedelta(days=1))


def test_one_chat_in_every_format_is_one_chat(empty_home: BotHome, tmp_path: Path) -> None:
    """The same lines from exports in every format, and heard live before, are in the log once and in order."""
    said = list(lines())
    asyncio.run(_heard(empty_home.data_dir, said[25:]))
    results: dict[str, Any] = {}
    for name, write in FORMATS.items():
        folder = tmp_path / name
        folder.mkdir()
        results[name] = empty_home.told("import-chat", str(write(folder, iter(said))), *GROUP)
    first, *rest = results.values()
    assert first == {"taken": 17, "known": 3, "left_out": {"own": 10}}
    assert rest == [{"taken": 0, "known": 20, "left_out": {"own": 10}}] * 5
    logged = asyncio.run(_logged(empty_home.data_dir))
    assert [line.text for line in logged] == [line.text for line in said if line.sender != "2000000"]
    assert {line.scene.user_name for line in logged} == {"小林", "老周"}


async def _heard(data_dir: Path, said: list[Line]) -> None:
    async with core.CognitiveMemory.open(SETTINGS, data_dir, background=False) as memory:
        for line in said:
            if line.sender != "2000000":
                scene = core.Scene.group("10001", line.sender, user_name=line.name)
                await memory.observe(core.Message(str(line.number), scene, line.text, line.at, number=str(line.number)))


async def _logged(data_dir: Path) -> list[core.Message]:
    async with core.CognitiveMemory.open(SETTINGS, data_dir, background=False) as memory:
        return await memory.recent_messages(core.Scene.group("10001", "0"), 200)


def test_the_operator_names_the_place_and_the_bot(empty_home: BotHome, tmp_path: Path) -> None:
    """Without one place, or the bot's account for a group, nothing is read, and a sentence says what to write."""
    file = str(five_json(tmp_path, lines()))
    for words, says in (
        ((), "--group 群号"),
        (("--group", "10001", "--user", "2000001"), "只写一个"),
        (("--group", "10001"), "--bot"),
        (("--group", "\n", "--bot", "2000000"), "群号"),
    ):
        status, _, err = empty_home.run("import-chat", file, *words)
        assert status == 1
        assert says in err or "group_id" in err
    assert not empty_home.data_dir.exists()


def test_a_broken_file_keeps_what_was_read(empty_home: BotHome, tmp_path: Path) -> None:
    """Of a file that is cut, the lines before are taken and reported, and the command fails with a sentence."""
    whole = five_json(tmp_path, lines())
    cut = tmp_path / "cut.json"
    cut.write_bytes(whole.read_bytes()[:-2000])
    status, out, err = empty_home.run("import-chat", str(cut), "--group", "10001", "--bot", "1")
    assert status == 1
    assert "坏了" in err
    assert "新记下 2" in out
    status, out, err = empty_home.run("import-chat", str(whole), *GROUP)
    assert (status, err) == (0, "")
    assert "原来就有" in out
