"""Tests of the notice that tells a group once that the bot remembers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from nonebot.adapters.onebot.v11 import ActionFailed

import cognitive_memory_core as core

from .stage import Stage, message, new_id

NOTICE = "我会记住"


@pytest.fixture(autouse=True)
def announcing(stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Switch the notice on, with a file for this test."""
    from nonebot_plugin_cognitive_memory import announcing, config

    settings = core.Settings()
    monkeypatch.setattr(announcing, "setup", config.Setup(settings, tmp_path))
    monkeypatch.setattr(announcing, "announced", announcing.Told(tmp_path / "announced.json", list))


async def hear(stage: Stage, text: str, group: int | None) -> list[str]:
    """Send a message; return what the bot said."""
    return await stage.hear(message(text, new_id(), group))


async def test_with_the_first_answer_of_a_chat_plugin(stage: Stage, group: int) -> None:
    """The notice follows a chat plugin's first answer in a group and is not recorded."""
    from nonebot_plugin_cognitive_memory import get_memory

    from .companion import Companion, listening

    with listening(Companion(says="你好呀")):
        first = await hear(stage, "你好", group)
        second = await hear(stage, "你好", group)
    assert (first[0], NOTICE in first[1], second) == ("你好呀", True, ["你好呀"])
    log = await get_memory().recent_messages(core.Scene.group(str(group), "2000001"))
    assert not [line for line in log if NOTICE in line.text]


async def test_nobody_is_written_to_unasked(stage: Stage, group: int) -> None:
    """No notice is sent for silence, in private chats, or after unprompted messages of the bot."""
    assert await hear(stage, "随便说说", group) == []
    await stage.bot.send_group_msg(group_id=group, message="早安")
    assert [api for api, _ in stage.calls] == ["send_group_msg"]
    assert len(await hear(stage, "/记忆 状态", None)) == 1


async def test_switched_off(stage: Stage, group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No notice is sent with announce=off or without a memory."""
    from nonebot_plugin_cognitive_memory import announcing, config
    from nonebot_plugin_cognitive_memory.lifecycle import lifetime

    off = core.Settings.from_mapping({"capture": {"announce": "off"}})
    with monkeypatch.context() as patch:
        patch.setattr(announcing, "setup", config.Setup(off, tmp_path))
        assert len(await hear(stage, "/记忆 状态", group)) == 1
    monkeypatch.setattr(lifetime, "memory", core.CognitiveMemory.absent())
    assert len(await hear(stage, "/记忆 状态", group)) == 1


@dataclass
class Sending:
    """A notice whose delivery the test controls and the platform may refuse."""

    refusals: int = 0
    tried: int = 0
    arrived: int = 0
    may_arrive: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self) -> None:
        """Send it."""
        self.tried += 1
        await self.may_arrive.wait()
        if self.tried <= self.refusals:
            raise ActionFailed
        self.arrived += 1


async def test_once_for_good(tmp_path: Path) -> None:
    """A group is told once, also across a restart and with several answers at once."""
    from nonebot_plugin_cognitive_memory.announcing import Told, tell

    path, scene, send = tmp_path / "announced.json", core.Scene.group("10001", "2000001"), Sending()
    told = Told(path, list)
    answers = asyncio.gather(*(tell(told, scene, send) for _ in range(8)))
    await asyncio.sleep(0)
    send.may_arrive.set()
    await answers
    assert (send.tried, send.arrived) == (1, 1)
    await tell(Told(path, list), scene, send)
    assert send.tried == 1
    assert path.stat().st_mode & 0o777 == 0o600


async def test_what_did_not_arrive_is_made_up_for(tmp_path: Path) -> None:
    """A group whose notice could not be sent gets it with a later answer, also after a restart."""
    from nonebot_plugin_cognitive_memory.announcing import Told, tell

    path, scene, send = tmp_path / "announced.json", core.Scene.group("10001", "2000001"), Sending(refusals=2)
    send.may_arrive.set()
    for told in (first := Told(path, list), Told(path, list)):
        with pytest.raises(ActionFailed):
            await tell(told, scene, send)
    await tell(first, scene, send)
    await tell(first, scene, send)
    assert (send.tried, send.arrived) == (3, 1)


async def test_a_disk_that_refuses(stage: Stage, group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the file cannot be written, the group is told once in this run, and the answer is still sent."""
    from nonebot_plugin_cognitive_memory import announcing

    monkeypatch.setattr(announcing, "announced", announcing.Told(tmp_path / "missing" / "announced.json", list))
    assert [NOTICE in said for said in await hear(stage, "/记忆 状态", group)] == [False, True]
    assert len(await hear(stage, "/记忆 状态", group)) == 1


@pytest.mark.parametrize(
    ("mode", "said"),
    [("all", "大家说的话里有用的整理成"), ("mentions", "对我说的话里有用的整理成"), ("off", "会留着），方便")],
)
def test_the_notice_says_what_is_recorded(stage: Stage, mode: str, said: str) -> None:
    """The notice to a group says how long messages are kept, and whose words become memories."""
    from nonebot_plugin_cognitive_memory import replies

    capture = core.Settings.from_mapping({"capture": {"auto_consider": mode}}).capture
    notice = replies.commands.announcement(capture)
    assert said in notice
    assert "180 天" in notice
    assert NOTICE in notice


async def test_again_when_a_provider_is_asked(tmp_path: Path) -> None:
    """A group that was told before a model was there is told once more when one reads its lines, and not again."""
    from nonebot_plugin_cognitive_memory.announcing import Told, tell
    from nonebot_plugin_cognitive_memory.replies.commands import announcement

    told, scene, send = Told(tmp_path / "announced.json", list), core.Scene.group("1", "2"), Sending()
    send.may_arrive.set()
    for asks_provider in (False, False, True, True, False):
        await tell(told, scene, send, asks_provider=asks_provider)
    assert send.arrived == 2
    capture = core.CaptureSettings()
    assert "服务商" in announcement(capture, asks_provider=True)
    assert "服务商" not in announcement(capture)


@pytest.mark.parametrize(
    ("own", "is_lent", "borrows", "told"),
    [
        ({}, False, True, False),
        ({}, True, True, True),
        ({}, True, False, False),
        ({"merge": {"model_name": "m"}}, False, False, True),
    ],
)
async def test_the_notice_says_whether_a_provider_is_asked(
    stage: Stage,
    group: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    own: object,
    is_lent: bool,
    borrows: bool,
    told: bool,
) -> None:
    """It does with a model of ones own and with a lent one that is used."""
    from nonebot_plugin_cognitive_memory import announcing, config

    async def lent_model() -> core.LentModel | None:
        return core.LentModel("llmchat", "http://127.0.0.1/v1", "k", "m") if is_lent else None

    settings = core.Settings.from_mapping({"models": own})
    monkeypatch.setattr(announcing, "setup", config.Setup(settings, tmp_path))
    monkeypatch.setattr(announcing, "lent_model", lent_model)
    monkeypatch.setattr(core.CognitiveMemory, "borrows", borrows)
    _, notice = await hear(stage, "/记忆 状态", group)
    assert ("服务商" in notice) is told
