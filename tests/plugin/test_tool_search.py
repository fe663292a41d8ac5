"""Tests of the tool search_events: events and log lines in one list."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

import cognitive_memory_core as core
from tests.support.builders import GROUP, a_message, an_event
from tests.support.clock import NOON
from tests.support.waiting import PATIENCE

from .stage import Stage, message, new_id


class Answering(core.CognitiveMemory):
    """A memory with fixed hits that records what was asked."""

    def __init__(self, found: Sequence[core.Hit]) -> None:
        """Use these search results."""
        super().__init__(core.Settings())
        self.found = list(found)
        self.asked: list[dict[str, Any]] = []

    @property
    def is_running(self) -> bool:
        """Return True."""
        return True

    async def search_events(self, scene: core.Scene, query: str, **narrowed: Any) -> list[core.Hit]:
        """Return the results up to the limit."""
        self.asked.append({"scene": scene, "query": query, **narrowed})
        return self.found[: narrowed["top_k"]]


def events(*relevances: float, **fields: Any) -> list[core.Hit]:
    """Return hits of events."""
    made = [an_event(f"事{at}", **fields) for at in range(len(relevances))]
    return [core.Hit(event, much, relevance=much) for event, much in zip(made, relevances, strict=True)]


def lines(count: int, scene: core.Scene = GROUP, relevance: float = 0.5) -> list[core.Hit]:
    """Return hits of lines m0, m1 and so on."""
    said = [a_message(f"话{at}", scene, NOON + timedelta(minutes=at), id=f"m{at}") for at in range(count)]
    return [core.Hit(line.as_event(), relevance, relevance=relevance) for line in said]


async def searched(
    memory: Answering, patch: pytest.MonkeyPatch, asked: core.Message | None = None, **arguments: Any
) -> list[str]:
    """Return the texts in the tool's answer; ``asked`` is the message being answered."""
    from nonebot_plugin_cognitive_memory.injected import MemoryToolbox, TurnEnd
    from nonebot_plugin_cognitive_memory.lifecycle import lifetime

    patch.setattr(lifetime, "memory", memory)
    box = MemoryToolbox(TurnEnd(GROUP, asked))
    answer = json.loads(await box.call("search_events", {"query": "茶", **arguments}))
    assert answer["ok"]
    return [event["text"].removeprefix(f"QQ({GROUP.user_id}) 说：") for event in answer["events"]]


async def test_events_and_lines_are_asked_for_together(group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events and messages of the log are returned in one list ordered by relevance."""
    memory = Answering([*events(0.9, 0.8, 0.7), *lines(2), *events(0.1)])
    assert await searched(memory, monkeypatch) == ["事0", "事1", "事2", "话0", "话1", "事0"]
    assert len(memory.asked) == 1
    assert {"event", "message"} < set(memory.asked[0]["kinds"])


async def test_the_question_is_no_answer_to_itself(group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message that is being answered is neither returned nor counted towards the limit."""
    asked = a_message("话0", GROUP, id="m0")
    assert await searched(Answering(lines(4)), monkeypatch, asked, top_k=3) == ["话1", "话2", "话3"]


async def test_person_group_and_times_hold_for_events_and_lines(group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Person, group and times narrow both events and messages."""
    memory = Answering([])
    narrowed: Any = {"time_from": "2026-03-01", "time_to": "2026-03-02"}
    await searched(memory, monkeypatch, target_user_id="2000002", target_group_id=GROUP.group_id, **narrowed)
    (asked,) = memory.asked
    wanted = {"scene": GROUP, "query": "茶", "user_id": "2000002", "group_id": GROUP.group_id, **narrowed}
    assert {key: asked[key] for key in wanted} == wanted


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
