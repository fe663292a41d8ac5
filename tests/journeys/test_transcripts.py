"""Tests of the formats that the demo reads, and of its isolation check."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import cognitive_memory_core as core
from tests.support.onebot import ROOT
from tests.support.telling import GAMES_DOUSHA, READING_MILI, a_memory, tell

DEMO = ROOT / "nonebot_plugin_cognitive_memory" / "demo"
BOT = "3850617294"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import modules of the demo as its script does: by their own names from their own folder."""
    monkeypatch.syspath_prepend(str(DEMO))

    def imported(name: str) -> ModuleType:
        return importlib.import_module(name)

    return imported


def a_sheet(*messages: dict[str, object], **more: object) -> dict[str, object]:
    """Return a conversation of one group and one private chat in the sample's format."""
    places = [
        {"id": "g", "kind": "group", "group_id": "618203471", "name": "山脚读书会"},
        {"id": "p", "kind": "private", "user_id": "2156083317"},
    ]
    return {"bot": {"user_id": BOT, "name": "小本"}, "places": places, "messages": list(messages), **more}


def a_message(number: str, **fields: object) -> dict[str, object]:
    """Return a message of that conversation."""
    time = f"2026-03-09T19:0{number[-1]}:00+08:00"
    return {"id": number, "place": "g", "user_id": "2156083317", "name": "阿禾", "time": time, "text": "你好", **fields}


def read(script: Any, folder: Path, sheet: object) -> Any:
    """Write a file and read it as the demo does."""
    (folder / "t.json").write_text(json.dumps(sheet), "utf-8")
    return script("transcript").read_transcript(folder / "t.json")


@pytest.mark.parametrize(
    "sheet",
    [
        {},
        [],
        a_sheet(),
        a_sheet(a_message("1", place="nowhere")),
        a_sheet(a_message("1", time="yesterday")),
        a_sheet(a_message("1", user_id="user_1")),
        a_sheet(a_message("1"), questions=[{"place": "nowhere", "asker": "1", "question": "?"}]),
    ],
)
def test_what_cannot_be_played_is_refused(script: Any, tmp_path: Path, sheet: object) -> None:
    """A file in an unknown format, without lines, with an unlisted place or an id that is no number is refused."""
    with pytest.raises(script("transcript").NotATranscript, match=r"t\.json"):
        read(script, tmp_path, sheet)


def test_the_sample_is_what_it_is_said_to_be(script: Any) -> None:
    """The sample has two groups and a private chat over several days, and one person takes part in all three."""
    sample = script("transcript").read_transcript(DEMO / "sample.json")
    assert Counter(place.kind for place in sample.places) == {"group": 2, "private": 1}
    assert len({line.time.date() for line in sample.lines}) >= 5
    assert any(len({line.place for line in sample.lines if line.user_id == user}) == 3 for user in _users(sample))
    assert any(len({line.name for line in sample.lines if line.user_id == user}) >= 3 for user in _users(sample))
    assert len(sample.questions) == 3


@pytest.mark.parametrize("leaky", [False, True])
async def test_the_isolation_check_sees_a_leak(script: Any, tmp_path: Path, leaky: bool) -> None:
    """The check counts no leak for an isolating memory, and some for a memory that treats all groups as one."""
    sample = script("transcript").read_transcript(DEMO / "sample.json")
    async with a_memory(tmp_path) as memory:
        await tell(memory, READING_MILI, "读书会在青石巷咖啡馆，读《边城》，米粒对花生过敏")
        await tell(memory, GAMES_DOUSHA, "桌游在胜利路，豆沙带《卡坦岛》")
        asked = _Leaky(memory) if leaky else memory
        findings = [await script("transcript").checked(asked, sample, place) for place in sample.places]
    assert any(leaks for _, _, leaks in findings) is leaky
    assert all(searches for searches, _, _ in findings)


class _Leaky:
    """A memory that answers every question as if an operator asked, without any restriction."""

    def __init__(self, memory: core.CognitiveMemory) -> None:
        self._memory = memory

    async def events(self, scene: core.Scene, **options: Any) -> list[core.Event]:
        return await self._memory.events(core.Scene.operator(), **options)

    async def search_events(self, scene: core.Scene, query: str, **options: Any) -> list[core.Hit]:
        return await self._memory.search_events(core.Scene.operator(), query, **options)

    async def context(self, scene: core.Scene, query: str) -> core.Context:
        return await self._memory.context(core.Scene.operator(), query)


def _users(sample: Any) -> set[int]:
    return {line.user_id for line in sample.lines}
