"""README: a person who opted out is neither recorded nor recalled."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import pytest

from cognitive_memory_core import CognitiveMemory, Message, Scene, Settings, Turn
from cognitive_memory_core.ports import Ask
from tests.support.chats import triaged
from tests.support.clock import NOON, FrozenClock
from tests.support.telling import READING, READING_MILI, a_memory, recalled, say
from tests.support.waiting import PATIENCE

T = TypeVar("T")


async def test_neither_old_nor_new_words_come_back(tmp_path: Path) -> None:
    """After an opt-out earlier words of the person are not recalled and new ones are not recorded."""
    async with a_memory(tmp_path) as memory:
        await say(memory, READING, "我养了一只鹦鹉")
        assert "鹦鹉" in await recalled(memory, READING_MILI, "鹦鹉")
        await memory.opt_out(READING.user_id)
        assert "鹦鹉" not in await recalled(memory, READING_MILI, "鹦鹉")
        assert await memory.remember(Turn(READING, observations=("阿禾(2156083317) 又养了一只刺猬",))) is None
        await memory.observe(Message("m1", READING, "刺猬好可爱", NOON))
        assert "刺猬" not in await recalled(memory, READING_MILI, "刺猬")


class ListeningChat:
    """A model that finds nothing worth remembering, and keeps the prompts."""

    def __init__(self) -> None:
        """Start without prompts."""
        self.prompts: list[str] = []

    async def ask(self, ask: Ask[T]) -> T:
        """Note the prompt."""
        self.prompts.append(ask.prompt)
        return ask.parse(json.dumps(triaged(remember=False), ensure_ascii=False))


@pytest.mark.parametrize("chat", [None, ListeningChat()], ids=["rules", "model"])
async def test_who_opts_out_in_mid_conversation_is_left_out(tmp_path: Path, chat: ListeningChat | None) -> None:
    """Lines of a person who opts out between a dialogue and its job are in no prompt, window, context or event."""
    settings = Settings.from_mapping({"vector_store": {"backend": "exact"}})
    clock = FrozenClock()
    lines = [
        Message("m1", READING_MILI, "我对花生过敏，聚餐别点带花生的菜", NOON),
        Message("m2", READING, "我养了一只刺猬，叫毛栗", NOON + timedelta(minutes=1)),
        Message("m3", READING_MILI, "我喜欢下雨天", NOON + timedelta(minutes=2)),
    ]
    async with CognitiveMemory.open(settings, tmp_path, background=False, chat=chat, clock=clock) as memory:
        for line in lines:
            await memory.observe(line)
        assert await memory.consider(READING_MILI, lines)
        await memory.opt_out(READING.user_id)
        await memory.observe(Message("m4", READING, "刺猬今天不吃饭", NOON + timedelta(minutes=3)))
        assert await memory.drain(PATIENCE)
        shown = [line.text for line in await memory.recent_messages(READING_MILI)]
        shown += [event.text for event in await memory.events(READING_MILI)]
        shown.append((await memory.context(READING_MILI, "刺猬和花生")).text)
    told = "\n".join([*shown, *(chat.prompts if chat else ())])
    assert "花生" in told
    assert "刺猬" not in told
    assert not chat or any("花生" in prompt for prompt in chat.prompts)
    assert chat or any("花生" in text for text in shown)


async def test_every_name_of_theirs_is_hidden_and_no_word_of_others(tmp_path: Path) -> None:
    """Fault row A32: card, former card and nickname are hidden in what others said; a word that they took is not."""
    settings = Settings.from_mapping({"vector_store": {"backend": "exact"}})
    clock = FrozenClock(NOON + timedelta(hours=2))
    first, then = (Scene.group("10001", "2000001", user_name=card, nickname="明明") for card in ("小明", "花生过敏"))
    other = Scene.group("10001", "2000002", user_name="阿禾")
    told = ["明明下周去冰岛", "小明也会滑雪", "花生过敏(2000001)会滑雪", "聚餐别点花生，阿禾对花生过敏"]
    said = [(other, "我对花生过敏"), *((scene, f"第{n}句") for scene in (first, then) for n in range(10))]
    said += [(other, text) for text in told]
    lines = [Message(f"m{n}", scene, text, NOON + timedelta(minutes=n)) for n, (scene, text) in enumerate(said)]
    async with CognitiveMemory.open(settings, tmp_path, background=False, clock=clock) as memory:
        for line in lines:
            await memory.observe(line)
        assert await memory.drain(PATIENCE)
        await memory.opt_out("2000001")
        hidden = [
            "我对花生过敏",
            "某位成员下周去冰岛",
            "某位成员也会滑雪",
            "某位成员会滑雪",
            "聚餐别点花生，阿禾对花生过敏",
        ]
        assert [line.text for line in await memory.recent_messages(other)] == hidden
        context = (await memory.context(other, "明明和小明下周去哪里，谁会滑雪")).text
        found = [hit.event.text for hit in await memory.search_events(other, "冰岛 花生过敏", kinds=["message"])]
    assert not [text for text in [context, *found] if "明明" in text or "小明" in text]
    assert "某位成员下周去冰岛" in found
    assert "聚餐别点花生，阿禾对花生过敏" in found
