"""What is said to the bot reaches the historian without anybody calling ``end``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

import cognitive_memory_core as core

from .stage import Stage, message, new_id

NOON = datetime(2026, 3, 4, 12, tzinfo=timezone.utc)


class Listener(core.CognitiveMemory):
    """A memory that keeps the dialogues it is given, unless it refuses."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__(core.Settings())
        self.dialogues: list[tuple[core.Scene, list[str]]] = []
        self.refusal: Exception | None = None
        self.running = True

    @property
    def is_running(self) -> bool:
        """Say whether it runs."""
        return self.running

    async def consider(self, scene: core.Scene, messages: Any) -> str | None:
        """Keep a dialogue, or refuse it."""
        if self.refusal:
            raise self.refusal
        self.dialogues.append((scene, [line.text for line in messages]))
        return "job"


class World:
    """A considerer with a clock that is told to go on."""

    def __init__(self, **capture: Any) -> None:
        """Begin at noon."""
        from nonebot_plugin_cognitive_memory.auto_consider import Considerer

        self.memory, self.seconds, self.lines = Listener(), 0.0, 0
        settings = core.Settings.from_mapping({"capture": capture}).capture
        self.considerer = Considerer(lambda: self.memory, settings, lambda: self.seconds)

    def say(self, text: str, scene: core.Scene | None = None, **fields: Any) -> core.Message:
        """Let somebody say something to the bot."""
        self.lines += 1
        scene = scene or core.Scene.group("10001", "2000001")
        fields = {"addressed_to_bot": True, **fields}
        line = core.Message(f"m{self.lines}", scene, text, NOON + timedelta(seconds=self.lines), **fields)
        self.considerer.note(line)
        return line

    async def after(self, seconds: float) -> list[list[str]]:
        """Let time pass and give what was handed over so far."""
        self.seconds += seconds
        await self.considerer.submit_due()
        return [lines for _, lines in self.memory.dialogues]


@pytest.fixture
def world(app: object) -> Callable[..., World]:
    """Make a world with settings of capture."""
    return World


async def test_after_a_pause(world: Callable[..., World]) -> None:
    """When it has been quiet for a while, what was said is considered, once."""
    here = world(consider_idle_minutes=10)
    here.say("我怕猫")
    assert await here.after(599) == []
    here.say("我也怕狗")
    assert await here.after(599) == []
    assert await here.after(2) == [["我怕猫", "我也怕狗"]]
    assert await here.after(10_000) == [["我怕猫", "我也怕狗"]]


async def test_after_enough_lines(world: Callable[..., World]) -> None:
    """Enough lines are considered without waiting for a pause, but for the moment that a chat plugin needs."""
    here = world(consider_every=3)
    for n in range(3):
        here.say(f"第 {n} 句")
    assert await here.after(1) == []
    assert await here.after(30) == [["第 0 句", "第 1 句", "第 2 句"]]


@pytest.mark.parametrize(
    ("mode", "kept"),
    [("mentions", ["对它说的", "私下说的"]), ("all", ["对它说的", "随口说的", "私下说的"]), ("off", [])],
)
async def test_modes(world: Callable[..., World], mode: str, kept: list[str]) -> None:
    """By setting, what is said to the bot is considered, or everything, or nothing."""
    here = world(auto_consider=mode)
    here.say("对它说的")
    here.say("随口说的", addressed_to_bot=False)
    here.say("私下说的", core.Scene.private("2000001"), addressed_to_bot=False)
    considered = await here.after(10_000)
    assert [text for lines in considered for text in lines] == kept


async def test_a_recorded_turn_is_left_out(world: Callable[..., World]) -> None:
    """A line whose turn a chat plugin recorded meanwhile is not considered again, and neither is a withdrawn one."""
    here = world()
    line = here.say("我怕猫")
    here.say("我怕狗")
    here.considerer.learned(line.scene, (line.id,))
    assert await here.after(10_000) == [["我怕狗"]]
    last = here.say("我怕鹅")
    here.say("记住了", is_bot=True)
    here.considerer.learned(last.scene, (last.id,))
    assert await here.after(10_000) == [["我怕狗"]]


async def test_nothing_is_lost_to_a_refusal(world: Callable[..., World]) -> None:
    """While the memory refuses, the lines wait, and are tried again after a pause and not sooner."""
    here = world()
    here.say("我怕猫")
    here.memory.refusal = core.QueueFull("满了")
    assert await here.after(601) == []
    here.memory.refusal = None
    here.say("我怕狗")
    assert await here.after(30) == []
    assert await here.after(601) == [["我怕猫", "我怕狗"]]


async def test_places_are_apart(world: Callable[..., World]) -> None:
    """Each place is considered by itself, in the scene of whoever spoke there last."""
    here = world()
    one, other = core.Scene.group("10001", "2000001"), core.Scene.group("10002", "2000001")
    here.say("在一处", one)
    here.say("在另一处", other)
    here.say("我也在", core.Scene.group("10001", "2000002"))
    await here.after(10_000)
    dialogues = sorted((scene.group_id, scene.user_id, lines) for scene, lines in here.memory.dialogues)
    assert dialogues == [("10001", "2000002", ["在一处", "我也在"]), ("10002", "2000001", ["在另一处"])]


async def test_the_bots_words_give_sense_only(world: Callable[..., World]) -> None:
    """What the bot says stands in the dialogue, and never makes one."""
    here = world(consider_every=2)
    here.say("早安", is_bot=True)
    assert await here.after(10_000) == []
    here.say("我对什么过敏来着")
    here.say("花生", is_bot=True)
    assert await here.after(40) == []
    here.say("对，花生")
    assert await here.after(40) == [["我对什么过敏来着", "花生", "对，花生"]]


async def test_bounds(world: Callable[..., World]) -> None:
    """A flood in one place, and a flood of places, are held to a bound."""
    from nonebot_plugin_cognitive_memory.auto_consider import LINES, PLACES

    here = world(consider_every=100_000)
    for n in range(LINES + 50):
        here.say(str(n))
    assert [len(lines) for lines in await here.after(60)] == [LINES]
    for n in range(PLACES + 50):
        here.say("x", core.Scene.group(str(20_000 + n), "2000001"))
    here.memory.dialogues.clear()
    assert len(await here.after(10_000)) == PLACES


async def test_without_a_memory(world: Callable[..., World]) -> None:
    """While there is no memory nothing gathers."""
    here = world()
    here.memory.running = False
    here.say("我怕猫")
    here.memory.running = True
    assert await here.after(10_000) == []


async def test_stopping_hands_over_the_rest(world: Callable[..., World]) -> None:
    """When the bot stops, what has gathered is handed over before the memory closes."""
    here = world()
    await here.considerer.start()
    here.say("我怕猫")
    await here.considerer.stop()
    assert [lines for _, lines in here.memory.dialogues] == [["我怕猫"]]
    await here.considerer.stop()


async def test_the_clock_is_watched(app: object) -> None:
    """Once started, due lines are handed over without anybody asking, and trouble in one round ends nothing."""
    from nonebot_plugin_cognitive_memory.auto_consider import Considerer

    memory = Listener()
    memory.refusal = RuntimeError("broken")
    settings = core.Settings.from_mapping({"capture": {"consider_idle_minutes": 0.0001}}).capture
    considerer = Considerer(lambda: memory, settings)
    for number, group in enumerate(("10001", "10002")):
        await considerer.start()
        scene = core.Scene.group(group, "2000001")
        considerer.note(core.Message(f"m{number}", scene, f"在 {group}", NOON, addressed_to_bot=True))
        await asyncio.sleep(0.1)
        memory.refusal = None
    for _ in range(500):
        if memory.dialogues:
            break
        await asyncio.sleep(0.01)
    assert [lines for _, lines in memory.dialogues] == [["在 10002"]]
    await considerer.stop()


async def test_from_message_to_event(stage: Stage, group: int) -> None:
    """What somebody says to the bot becomes an event though no chat plugin is there, once it is considered."""
    from nonebot_plugin_cognitive_memory import consider, get_memory

    user = new_id()
    here = core.Scene.group(str(group), str(user))
    segments = [
        {"type": "at", "data": {"qq": stage.bot.self_id}},
        {"type": "text", "data": {"text": " 记住，我对花生过敏"}},
    ]
    await stage.hear(message(segments, user, group))
    assert await consider(here)
    assert await get_memory().drain(20)
    assert any("花生" in event.text for event in await get_memory().events(here))
