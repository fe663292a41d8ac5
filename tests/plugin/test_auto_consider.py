"""Tests of auto_consider: what is said to the bot reaches the historian without a call of ``end``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core
from tests.support.waiting import until

NOON = datetime(2026, 3, 4, 12, tzinfo=timezone.utc)
SPEAKER = core.Scene.group("10001", "2000001", user_name="阿棠")


class Listener(core.CognitiveMemory):
    """A memory that records the dialogues it is given, or refuses them."""

    def __init__(self) -> None:
        """Start empty."""
        super().__init__(core.Settings())
        self.dialogues: list[tuple[core.Scene, list[str]]] = []
        self.ids: list[list[str]] = []
        self.refusal: Exception | None = None
        self.running = True
        self.log: list[core.Message] = []

    @property
    def is_running(self) -> bool:
        """Return whether it runs."""
        return self.running

    async def consider(self, scene: core.Scene, messages: Any) -> str | None:
        """Record a dialogue, or refuse it."""
        if self.refusal:
            raise self.refusal
        self.dialogues.append((scene, [line.text for line in messages]))
        self.ids.append([line.id for line in messages])
        return "job"

    async def recent_messages(
        self, scene: core.Scene, limit: int | None = None, *, until: datetime | None = None
    ) -> list[core.Message]:
        """Return lines of the log."""
        found = [line for line in self.log if line.scene.scope == scene.scope and (not until or line.sent_at < until)]
        return found[-(limit or 0) :]

    async def find_messages(self, scene: core.Scene, message_ids: Sequence[str]) -> list[core.Message]:
        """Return lines of the log by id."""
        return [line for line in self.log if line.id in message_ids and line.scene.scope == scene.scope]


class World:
    """A considerer with a manual clock."""

    def __init__(self, folder: Path | None = None, **capture: Any) -> None:
        """Start at noon; with a ``folder`` the pending lines are stored there."""
        self.memory, self.seconds, self.lines = Listener(), 0.0, 0
        self.settings = core.Settings.from_mapping({"capture": capture}).capture
        self.path = folder / "considering.json" if folder else None
        self.considerer = self.reborn()

    def reborn(self) -> Any:
        """Return the considerer of a new process, which knows only the file and the memory."""
        from nonebot_plugin_cognitive_memory.auto_consider import Considerer

        self.considerer = Considerer(lambda: self.memory, self.settings, lambda: self.seconds, self.path)
        return self.considerer

    def say(self, text: str, scene: core.Scene | None = None, **fields: Any) -> core.Message:
        """Return a person's line to the bot, after the considerer received it."""
        self.lines += 1
        scene = scene or core.Scene.group("10001", "2000001")
        fields = {"addressed_to_bot": True, **fields}
        line = core.Message(f"m{self.lines}", scene, text, NOON + timedelta(seconds=self.lines), **fields)
        self.memory.log.append(line)
        self.considerer.note(line)
        return line

    async def kept(self) -> str:
        """Store the pending lines and return the file's content."""
        await self.considerer._read()
        await self.considerer._save()
        return self.path.read_text("utf-8") if self.path and self.path.exists() else ""

    async def after(self, seconds: float) -> list[list[str]]:
        """Advance the clock; return everything handed over so far."""
        self.seconds += seconds
        await self.considerer.submit_due()
        return [lines for _, lines in self.memory.dialogues]


@pytest.fixture
def world(app: object) -> Callable[..., World]:
    """Return the class of worlds with given capture settings."""
    return World


async def test_after_a_pause(world: Callable[..., World]) -> None:
    """After a pause the collected lines are considered once."""
    here = world(consider_idle_minutes=10)
    here.say("我怕猫")
    assert await here.after(599) == []
    here.say("我也怕狗")
    assert await here.after(599) == []
    assert await here.after(2) == [["我怕猫", "我也怕狗"]]
    assert await here.after(10_000) == [["我怕猫", "我也怕狗"]]


@pytest.mark.parametrize(
    ("mode", "kept"),
    [("mentions", ["对它说的", "私下说的"]), ("all", ["对它说的", "随口说的", "私下说的"]), ("off", [])],
)
async def test_modes(world: Callable[..., World], mode: str, kept: list[str]) -> None:
    """Depending on the setting, lines to the bot, all lines or no lines are considered."""
    here = world(auto_consider=mode)
    here.say("对它说的")
    here.say("随口说的", addressed_to_bot=False)
    here.say("私下说的", core.Scene.private("2000001"), addressed_to_bot=False)
    considered = await here.after(10_000)
    assert [text for lines in considered for text in lines] == kept


async def test_places_are_apart(world: Callable[..., World]) -> None:
    """Each place is considered separately, in the scene of its last speaker."""
    here = world()
    one, other = core.Scene.group("10001", "2000001"), core.Scene.group("10002", "2000001")
    here.say("在一处", one)
    here.say("在另一处", other)
    here.say("我也在", core.Scene.group("10001", "2000002"))
    await here.after(10_000)
    dialogues = sorted((scene.group_id, scene.user_id, lines) for scene, lines in here.memory.dialogues)
    assert dialogues == [("10001", "2000002", ["在一处", "我也在"]), ("10002", "2000001", ["在另一处"])]


async def test_bounds(world: Callable[..., World], monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of one place, and the number of places, are bounded."""
    from nonebot_plugin_cognitive_memory import auto_consider
    from nonebot_plugin_cognitive_memory.auto_consider import LINES, PLACES

    monkeypatch.setattr(auto_consider, "ROOM", LINES)
    here = world(consider_every=100_000)
    for n in range(LINES + 50):
        here.say(str(n))
    assert [len(lines) for lines in await here.after(60)] == [LINES]
    for n in range(PLACES + 50):
        here.say("x", core.Scene.group(str(20_000 + n), "2000001"))
    here.memory.dialogues.clear()
    assert len(await here.after(10_000)) == PLACES


async def test_the_newest_turn_is_left_to_the_chat_plugin(world: Callable[..., World]) -> None:
    """A line said just now is not considered yet, since a chat plugin may still record its turn."""
    here = world(consider_every=2)
    here.say("我怕猫")
    here.say("我怕狗")
    await here.after(20)
    line = here.say("我怕鹅")
    assert await here.after(15) == [["我怕猫", "我怕狗"]]
    here.considerer.drop_learned(line.scene, (line.id,))
    assert await here.after(10_000) == [["我怕猫", "我怕狗"]]


async def test_echoes_are_nobodys_words(world: Callable[..., World]) -> None:
    """A line that only repeats the bot is not considered; short answers and other lines are."""
    here = world()
    here.say("你会什么")
    here.say("我喜欢唱歌。", is_bot=True)
    here.say("我喜欢唱歌")
    here.say("你呢", is_bot=True)
    here.say("你呢？")
    here.say("我喜欢唱歌和跳舞")
    assert await here.after(10_000) == [["你会什么", "我喜欢唱歌。", "你呢", "你呢？", "我喜欢唱歌和跳舞"]]
    here.say("记得", core.Scene.private("2000009"))
    here.say("我记得：阿棠怕猫", core.Scene.private("2000009"), is_bot=True)
    asked = await here.considerer.unlearned(here.memory, core.Scene.private("2000009"), here.memory.log[-1:])
    assert asked == []


async def test_the_same_stretch_is_handed_over_again_as_it_was(world: Callable[..., World], tmp_path: Path) -> None:
    """A bot killed between handing over and storing hands over the same lines again, which are one job."""
    here = world(tmp_path)
    here.say("我怕猫")
    here.say("我怕狗")
    await here.kept()
    await here.after(10_000)
    await here.reborn().hand_over()
    assert here.memory.ids[0] == here.memory.ids[1]
    here.say("新的一句")
    assert (await here.after(10_000))[2] == ["新的一句"]


async def test_the_file_holds_nobodys_words(world: Callable[..., World], tmp_path: Path) -> None:
    """The file holds ids of lines and no text, and only its owner can read it."""
    here = world(tmp_path)
    here.say("我怕猫", core.Scene.group("10001", "2000001", user_name="阿棠"))
    written = json.loads(await here.kept())
    assert written == [{"agent": "default", "group_id": "10001", "user_id": "", "line_ids": ["m1"]}]
    assert (tmp_path / "considering.json").stat().st_mode & 0o777 == 0o600


async def test_what_is_gone_from_the_log_is_not_gathered(world: Callable[..., World], tmp_path: Path) -> None:
    """Lines withdrawn, erased or opted out of between two processes are not considered."""
    here = world(tmp_path)
    for text in ("留下的", "撤回的"):
        here.say(text)
    here.say("忘掉的", core.Scene.private("2000001"))
    await here.kept()
    del here.memory.log[1:]
    await here.reborn().hand_over()
    assert [lines for _, lines in here.memory.dialogues] == [["留下的"]]


async def test_gathering_again_waits_for_the_memory(world: Callable[..., World], tmp_path: Path) -> None:
    """While the memory is missing or refuses, pending lines stay in the file beside new ones."""
    here = world(tmp_path)
    here.say("我怕猫")
    await here.kept()
    considerer = here.reborn()
    here.memory.running = False
    await considerer.hand_over()
    here.memory.running, here.memory.refusal = True, core.QueueFull("满了")
    await considerer.hand_over()
    here.say("我怕狗", core.Scene.private("2000001"))
    assert [place["line_ids"] for place in json.loads(await here.kept())] == [["m1"], ["m2"]]
    here.memory.refusal = None
    here.seconds += 61
    await considerer.hand_over()
    assert [lines for _, lines in here.memory.dialogues] == [["我怕猫"]]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[1]",
        '{"a": 1}',
        '[{"agent": "default"}]',
        "[" * 100_000,
        '[{"agent":1,"group_id":2,"user_id":3,"line_ids":4}]',
        '[{"agent":"","group_id":"\\u0000","user_id":[],"line_ids":[[]]}]',
    ],
)
async def test_a_file_that_makes_no_sense(world: Callable[..., World], tmp_path: Path, content: str) -> None:
    """An invalid file loses only the lines that it listed."""
    (tmp_path / "considering.json").write_text(content)
    here = world(tmp_path)
    await here.considerer.hand_over()
    here.say("我怕猫")
    assert "m1" in await here.kept()


async def test_what_waits_at_the_end_is_handed_over_after_the_next_start(
    world: Callable[..., World], tmp_path: Path
) -> None:
    """Lines that wait when the bot stops, which the memory does not hold up, are handed over after the next start."""
    here = world(tmp_path)
    await here.considerer.start()
    await asyncio.sleep(0.05)
    here.say("我怕猫")
    await here.considerer.stop()
    await here.considerer.stop()
    assert not here.memory.dialogues
    considerer = here.reborn()
    await considerer.start()
    await until(lambda: bool(here.memory.dialogues))
    await considerer.stop()
    assert [lines for _, lines in here.memory.dialogues] == [["我怕猫"]]
    assert (tmp_path / "considering.json").read_text() == "[]"


async def test_a_disk_that_refuses_the_file(world: Callable[..., World], tmp_path: Path, log: list[str]) -> None:
    """If the file cannot be written, everything else works, and a log line states the consequence."""
    (tmp_path / "considering.tmp").mkdir()
    here = world(tmp_path)
    here.say("我怕猫")
    await here.kept()
    assert [line for line in log if "没能写下" in line]
    assert await here.after(10_000) == [["我怕猫"]]


@dataclass
class Killed:
    """A real memory and a considerer whose process was killed; :meth:`reborn` is the next process."""

    memory: core.CognitiveMemory
    file: Path
    began: datetime

    async def say(self, number: int, text: str, scene: core.Scene = SPEAKER) -> core.Message:
        """Log a line; ten lines share each second."""
        at = self.began + timedelta(seconds=number // 10)
        line = core.Message(f"m{number}", scene, text, at, addressed_to_bot=True)
        await self.memory.observe(line)
        return line

    async def leaves(self, *lines: core.Message) -> None:
        """Store these lines as pending."""
        row = {"agent": "default", "group_id": lines[0].scene.group_id, "user_id": ""}
        self.file.write_text(json.dumps([{**row, "line_ids": [line.id for line in lines]}]), "utf-8")

    async def reborn(self) -> list[str]:
        """Consider what the killed process left; return the texts of all events."""
        from nonebot_plugin_cognitive_memory.auto_consider import Considerer

        settings = core.Settings()
        born = Considerer(lambda: self.memory, settings.capture, file=self.file)
        await born.hand_over()
        assert await self.memory.drain(20)
        return [event.text for event in await self.memory.events(core.Scene.operator(), limit=200)]


@pytest.fixture
async def killed(app: object, tmp_path: Path) -> AsyncIterator[Killed]:
    """Open a separate memory."""
    settings = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"))
    async with core.CognitiveMemory.open(settings, tmp_path / "data") as memory:
        began = datetime.now(timezone.utc).replace(microsecond=0)
        yield Killed(memory, tmp_path / "considering.json", began)


@pytest.mark.parametrize("is_worked_off", [False, True])
async def test_a_line_of_a_recorded_turn_is_stored_once(killed: Killed, is_worked_off: bool) -> None:
    """A line whose turn was recorded just before a kill is not considered as well."""
    line = await killed.say(1, "记住，我对花生过敏")
    other = await killed.say(2, "我喜欢吹长笛")
    await killed.leaves(line, other)
    await killed.memory.remember(core.Turn(SPEAKER, observations=["阿棠吃花生会过敏"], message_ids=[line.id]))
    if is_worked_off:
        assert await killed.memory.drain(20)
    stored = await killed.reborn()
    assert sum("花生" in text for text in stored) == 1
    assert sum("长笛" in text for text in stored) == 1


async def test_the_clock_is_watched(app: object) -> None:
    """After the start due lines are handed over automatically, and an error in one round ends nothing."""
    from nonebot_plugin_cognitive_memory import auto_consider

    memory = Listener()
    memory.refusal = RuntimeError("broken")
    settings = core.Settings.from_mapping({"capture": {"consider_idle_minutes": 0.0001}}).capture
    considerer = auto_consider.Considerer(lambda: memory, settings)
    for number, group in enumerate(("10001", "10002")):
        await considerer.start()
        scene = core.Scene.group(group, "2000001")
        memory.log.append(core.Message(f"m{number}", scene, f"在 {group}", NOON, addressed_to_bot=True))
        considerer.note(memory.log[-1])
        await asyncio.sleep(2 * auto_consider.PAUSE)
        memory.refusal = None
    for _ in range(500):
        if memory.dialogues:
            break
        await asyncio.sleep(0.01)
    assert [lines for _, lines in memory.dialogues] == [["在 10002"]]
    await considerer.stop()
