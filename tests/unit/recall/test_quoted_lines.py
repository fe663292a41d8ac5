"""Tests of ``CognitiveMemory.context``: which lines of the log it quotes, and in which order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from cognitive_memory_core import CognitiveMemory, HistorianSettings, Message, Scene
from tests.support.builders import GROUP, OTHER_GROUP, a_message
from tests.support.clock import NOON, FrozenClock
from tests.support.telling import EXACT, a_memory
from tests.support.waiting import PATIENCE

MAN = Scene.group("10001", "2000002", user_name="小满", group_name="读书会")
SAID = {"nuts": "我对花生过敏，点菜的时候小心", "cat": "我家的猫叫年糕，只吃罐头", "trip": "下个月要去重庆出差"}
ASKED = {"谁对花生过敏": "nuts", "年糕吃什么": "cat", "谁要去重庆": "trip", "猫叫什么名字": "cat"}


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[CognitiveMemory]:
    """Open a memory at noon."""
    async with a_memory(tmp_path, clock=FrozenClock(NOON)) as opened:
        yield opened


async def heard(memory: CognitiveMemory, *lines: Message) -> None:
    """Record lines, and wait until they can be searched."""
    for line in lines:
        await memory.observe(line)
    assert await memory.drain(PATIENCE)


def talk(seconds: int = 60) -> list[Message]:
    """Return the lines, said in the group some seconds before noon."""
    return [a_message(text, GROUP, NOON - timedelta(seconds=seconds), id=name) for name, text in SAID.items()]


@pytest.mark.parametrize("earlier", [0, 50])
@pytest.mark.parametrize("question", ASKED)
async def test_what_was_said_a_minute_ago_is_quoted(tmp_path: Path, question: str, earlier: int) -> None:
    """The newest lines of a place are quoted, except the question; how much the historian sees changes nothing."""
    settings = EXACT.model_copy(update={"historian": HistorianSettings(recent_messages_inject_k=earlier)})
    async with a_memory(tmp_path, settings, clock=FrozenClock(NOON)) as memory:
        await heard(memory, *talk(), a_message(question, MAN, NOON, id="question"))
        text = (await memory.context(MAN, question)).text
        assert SAID[ASKED[question]] in text
        assert question not in text


async def test_an_earlier_question_is_quoted(memory: CognitiveMemory) -> None:
    """Only the message being answered is left out: not the same words of somebody else, nor those of an hour ago."""
    await heard(
        memory,
        a_message("谁对花生过敏", GROUP, NOON - timedelta(hours=1), id="earlier"),
        a_message("谁对花生过敏", MAN, NOON, id="question"),
    )
    assert "阿棠(2000001)：谁对花生过敏" in (await memory.context(MAN, "谁对花生过敏")).text


@pytest.mark.parametrize("question", ["谁对花生过敏", "猫叫什么名字"])
async def test_what_the_caller_shows_is_not_quoted(memory: CognitiveMemory, question: str) -> None:
    """Lines of the place whose ids are given are left out, as a line and as the next line; with none, nothing is."""
    await heard(memory, *talk(), a_message(question, GROUP, NOON, id="question"))
    text = (await memory.context(GROUP, question, shown=[*SAID, "question"])).text
    assert not [line for line in SAID.values() if line in text]
    text = (await memory.context(GROUP, question, shown=[ASKED[question]])).text
    assert SAID[ASKED[question]] not in text
    assert question in (await memory.context(GROUP, question, shown=[])).text


async def test_ids_are_of_the_place(memory: CognitiveMemory) -> None:
    """An id of the place that is shown hides no line of another place that has the same id."""
    await heard(memory, a_message("我对花生过敏", MAN, NOON - timedelta(hours=1), id="same"))
    own = Scene.private(MAN.user_id, user_name="小满")
    assert "我对花生过敏" in (await memory.context(own, "花生", shown=["same"])).text
    assert "我对花生过敏" not in (await memory.context(OTHER_GROUP, "花生")).text
