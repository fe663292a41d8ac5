"""Tests of the tool search_events: events first, then log lines if few events fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

import cognitive_memory_core as core
from tests.support.builders import GROUP, OTHER_GROUP, a_message, an_event
from tests.support.clock import NOON
from tests.support.waiting import PATIENCE

from .stage import Stage, message, new_id

LEAST = 0.15


class Shelf(core.CognitiveMemory):
    """A memory with fixed hits that records what was asked."""

    def __init__(self, events: Sequence[core.Hit], lines: Sequence[core.Hit]) -> None:
        """Take the hits of each search."""
        super().__init__(core.Settings())
        self.found = {(): list(events), ("message",): list(lines)}
        self.asked: list[dict[str, Any]] = []

    @property
    def is_running(self) -> bool:
        """Return True."""
        return True

    async def search_events(self, scene: core.Scene, query: str, **narrowed: Any) -> list[core.Hit]:
        """Return the hits of the requested kinds, up to the limit."""
        self.asked.append({"scene": scene, "query": query, **narrowed})
        return self.found[narrowed["kinds"]][: narrowed["top_k"]]


def events(*relevances: float, **fields: Any) -> list[core.Hit]:
    """Return hits of events."""
    made = [an_event(f"事{at}", **fields) for at in range(len(relevances))]
    return [core.Hit(event, much, relevance=much) for event, much in zip(made, relevances, strict=True)]


def lines(count: int, scene: core.Scene = GROUP, relevance: float = 0.5) -> list[core.Hit]:
    """Return hits of lines m0, m1 and so on."""
    said = [a_message(f"话{at}", scene, NOON + timedelta(minutes=at), id=f"m{at}") for at in range(count)]
    return [core.Hit(line.as_event(), relevance, relevance=relevance) for line in said]


async def searched(shelf: Shelf, patch: pytest.MonkeyPatch, asked: Sequence[str] = (), **arguments: Any) -> list[str]:
    """Return the texts in the tool's answer; ``asked`` are the messages being answered."""
    from nonebot_plugin_cognitive_memory.lifecycle import lifetime
    from nonebot_plugin_cognitive_memory.recording import Source, TurnEnd
    from nonebot_plugin_cognitive_memory.tools import MemoryToolbox

    patch.setattr(lifetime, "memory", shelf)
    box = MemoryToolbox(TurnEnd(GROUP, Source("", tuple(asked))))
    answer = json.loads(await box.call("search_events", {"query": "茶", **arguments}))
    assert answer["ok"]
    return [event["text"] for event in answer["events"]]


@pytest.mark.parametrize(
    ("relevances", "top_k", "said"),
    [
        ((), 12, 4),
        ((0.9, LEAST), 12, 4),
        ((0.9, 0.8, LEAST), 12, 0),
        ((0.9,), 1, 0),
        ((0.9, 0.8), 2, 0),
        ((0.9,), 3, 2),
    ],
)
async def test_few_fitting_events_are_followed_by_lines(
    group: int, monkeypatch: pytest.MonkeyPatch, relevances: tuple[float, ...], top_k: int, said: int
) -> None:
    """With fewer than three relevant events, or fewer than requested, log lines fill the answer."""
    shelf = Shelf(events(*relevances), lines(4))
    found = await searched(shelf, monkeypatch, top_k=top_k)
    assert found == [f"事{at}" for at in range(len(relevances))] + [f"话{at}" for at in range(said)]
    assert len(shelf.asked) == 1 + bool(said)


async def test_events_that_hardly_matter_leave_room(group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events below the relevance limit do not count and come after the lines."""
    shelf = Shelf(events(0.9, 0.8, *[LEAST - 0.01] * 10), lines(4))
    found = await searched(shelf, monkeypatch, top_k=8)
    assert found == ["事0", "事1", "话0", "话1", "话2", "话3", "事2", "事3"]


async def test_lines_that_a_found_event_was_made_of_are_left_out(group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Source lines of found events are left out and replaced by others; equal ids elsewhere are kept."""
    made = events(0.9, message_ids=("m0", "m1"))
    assert await searched(Shelf(made, lines(4)), monkeypatch, top_k=3) == ["事0", "话2", "话3"]
    assert await searched(Shelf(made, lines(2, OTHER_GROUP)), monkeypatch) == ["事0", "话0", "话1"]


async def test_the_question_is_no_answer_to_itself(group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message being answered is left out and replaced by another line."""
    assert await searched(Shelf([], lines(4)), monkeypatch, asked=["m0"], top_k=3) == ["话1", "话2", "话3"]


async def test_the_log_is_asked_no_wider(group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Person, group, times and query apply to lines as to events."""
    shelf = Shelf([], lines(1))
    narrowed = {"time_from": "2026-03-01", "time_to": "2026-03-02"}
    await searched(shelf, monkeypatch, target_user_id="2000002", target_group_id=GROUP.group_id, **narrowed)
    known, said = ({key: value for key, value in asked.items() if key != "top_k"} for asked in shelf.asked)
    assert known.pop("kinds") == ()
    assert said.pop("kinds") == ("message",)
    assert known == said
    assert said == {"scene": GROUP, "query": "茶", "user_id": "2000002", "group_id": GROUP.group_id, **narrowed}


async def test_what_matters_is_what_the_settings_say(group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a lower relevance limit the same events count as relevant."""
    from nonebot_plugin_cognitive_memory import tool_actions

    weak = events(0.1, 0.1, 0.1)
    assert "话0" in await searched(Shelf(weak, lines(1)), monkeypatch)
    lower = core.Settings.from_mapping({"query": {"min_relevance": 0.1}})
    monkeypatch.setattr(tool_actions, "setup", replace(tool_actions.setup, settings=lower))
    assert "话0" not in await searched(Shelf(weak, lines(1)), monkeypatch)


async def test_an_event_and_lines_of_a_real_memory(stage: Stage, group: int) -> None:
    """A learned message is returned as its event only, and unlearned lines follow."""
    from nonebot_plugin_cognitive_memory import get_memory

    from .companion import Companion, listening

    user = new_id()
    chat = Companion(ends=("", [f"阿棠({user}) 周六去看星轨展"]))
    with listening(chat):
        await stage.hear(message("周六我去看星轨展", user, group))
    assert await get_memory().drain(PATIENCE)
    await stage.hear(message("星轨展的票在小满那里", new_id(), group))
    answer = json.loads(await chat.met["tools"].call("search_events", {"query": "星轨展"}))
    texts = [event["text"] for event in answer["events"]]
    assert "看星轨展" in texts[0]
    assert texts[1:] == ["星轨展的票在小满那里"]
