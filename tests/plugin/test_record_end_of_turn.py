"""Tests of turns handed in by chat plugins."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from nonebot.adapters.onebot import v11
from nonebug import App

import cognitive_memory_core as core

from .stage import Stage, message


class Taking(core.CognitiveMemory):
    """A memory that records turns, over the log of the real one."""

    def __init__(self, real: core.CognitiveMemory, refusal: Exception | None = None) -> None:
        """Wrap the real memory."""
        super().__init__(core.Settings())
        self.real, self.refusal, self.turns, self.dialogues = real, refusal, [], []
        self.takes = True

    @property
    def is_running(self) -> bool:
        """Return True."""
        return True

    async def may_record(self, scene: core.Scene, at: datetime) -> bool:
        """Return that everybody may be recorded."""
        return True

    async def observe(self, message: core.Message) -> None:
        """Log a message."""
        await self.real.observe(message)

    async def recent_messages(self, scene: core.Scene, limit: int | None = None, **_: Any) -> list[core.Message]:
        """Return lines of the log."""
        return await self.real.recent_messages(scene, limit)

    async def remember(self, turn: core.Turn) -> str | None:
        """Record a turn, or refuse it."""
        if self.refusal:
            raise self.refusal
        self.turns.append(turn)
        return f"job {len(self.turns)}" if self.takes else None

    async def consider(self, scene: core.Scene, messages: Any) -> str | None:
        """Record a dialogue, or refuse it."""
        if self.refusal:
            raise self.refusal
        self.dialogues.append(tuple(messages))
        return f"dialogue {len(self.dialogues)}"


@pytest.fixture
def taking(app: App, monkeypatch: pytest.MonkeyPatch) -> Taking:
    """Replace the memory by one that records what it is given."""
    from nonebot_plugin_cognitive_memory.lifecycle import lifetime

    memory = Taking(lifetime.memory)
    monkeypatch.setattr(lifetime, "memory", memory)
    return memory


async def ended(stage: Stage, event: Any, *ends: Any) -> str | None:
    """Let a chat plugin end the turn of an event."""
    from .companion import Companion, listening

    with listening(Companion(ends=ends)) as chat:
        await stage.hear(event)
    return chat.ended[0]


async def test_source_and_window_are_filled_in(stage: Stage, group: int, taking: Taking) -> None:
    """A turn has the message that it answers and the lines before it, without that message."""
    await stage.hear(message("周末去爬山吗", 2000002, group))
    await stage.hear(message("好呀", 2000001, group))
    event = message("好呀", 2000001, group)
    assert await ended(stage, event, "约好了", ["阿棠要去爬山"]) == "job 1"
    [turn] = taking.turns
    assert (turn.source_message, turn.message_ids) == ("好呀", (str(event.message_id),))
    assert turn.happened_at.timestamp() == event.time
    assert str(event.message_id) not in [line.id for line in turn.recent_messages]
    assert [line.text for line in turn.recent_messages] == ["周末去爬山吗", "好呀"]


async def test_a_reply_comes_with_what_it_replies_to(stage: Stage, group: int, taking: Taking) -> None:
    """If the answered message is a reply, it is the last recent line, and its original is included."""
    asked = message("谁去爬山", 2000002, group)
    await stage.hear(asked)
    for index in range(15):
        await stage.hear(message(f"第{index}句", 2000003, group))
    reply = {"type": "reply", "data": {"id": str(asked.message_id)}}
    event = message([reply, {"type": "text", "data": {"text": "我去"}}], 2000001, group)
    assert await ended(stage, event, "约好了", ["阿棠要去爬山"])
    lines = taking.turns[0].recent_messages
    assert [line.text for line in lines] == ["谁去爬山", *(f"第{index}句" for index in range(5, 15)), "我去"]
    assert (lines[-1].id, lines[-1].reply_to) == (str(event.message_id), lines[0].id)


async def test_what_came_later_is_no_window(stage: Stage, group: int, taking: Taking) -> None:
    """Lines that others said while the model was thinking are not in the turn."""
    from nonebot_plugin_cognitive_memory.injected import TurnEnd

    event = message("第一句", 2000001, group)
    await stage.hear(event)
    await stage.hear(message("别人后来说的", 2000002, group))
    here = core.Scene.group(str(group), "2000001")
    end = TurnEnd(here, core.Message(str(event.message_id), here, "第一句", datetime.now(timezone.utc)))
    assert await end("答了")
    assert taking.turns[0].recent_messages == ()


async def test_the_plain_form(stage: Stage, group: int, taking: Taking) -> None:
    """Without injection the asker's newest line is the source, unless the plugin gives another."""
    from nonebot_plugin_cognitive_memory import record_end

    await stage.hear(message("我怕猫", 2000001, group))
    await stage.hear(message("我怕狗", 2000002, group))
    here = core.Scene.group(str(group), "2000001")
    assert await record_end(here, "听到了", ["阿棠怕猫"], perspective="sender", force=True)
    assert await record_end(here, "听到了", source_message="我怕猫，真的")
    first, second = taking.turns
    assert (first.source_message, first.perspective, first.force) == ("我怕猫", "sender", True)
    assert (second.source_message, second.message_ids) == ("我怕猫，真的", ())


async def test_a_line_that_is_known_by_its_words(stage: Stage, group: int, taking: Taking) -> None:
    """A source given as text alone is matched to its line, which then counts as learned."""
    from nonebot_plugin_cognitive_memory import consider, record_end

    asked = message("我怕猫", 2000001, group)
    for event in (message("我怕猫", 2000002, group), asked):
        await stage.hear(event)
    here = core.Scene.group(str(group), "2000001")
    assert await record_end(here, "听到了", ["阿棠怕猫"], source_message=" 我怕猫 ")
    assert taking.turns[0].message_ids == (str(asked.message_id),)
    assert [line.scene.user_id for line in taking.turns[0].recent_messages] == ["2000002"]
    assert await consider(here)
    assert [[line.scene.user_id for line in lines] for lines in taking.dialogues] == [["2000002"]]


async def test_a_message_that_a_plugin_filled_up(stage: Stage, group: int, taking: Taking) -> None:
    """Memories that a chat plugin adds to the event's message are not part of the source."""
    event = message("好呀", 2000001, group)
    event.message.insert(0, v11.MessageSegment.text("【相关回忆】\n- 阿棠怕鹅"))
    assert await ended(stage, event, "约好了")
    assert taking.turns[0].source_message == "好呀"
    log = await taking.recent_messages(core.Scene.group(str(group), "2000001"), 5)
    assert [line.text for line in log] == ["好呀"]


async def test_recalled_text_is_not_handed_in(group: int, taking: Taking) -> None:
    """A context block left in memo, observations or source is removed."""
    from nonebot_plugin_cognitive_memory import record_end

    block = "【记忆开始】\n阿棠怕鹅\n【记忆结束】"
    here = core.Scene.group(str(group), "2000001")
    assert await record_end(here, f"答了{block}", [block, f"{block}阿棠怕猫"], source_message=f"{block}我怕猫")
    [turn] = taking.turns
    assert (turn.memo, turn.observations, turn.source_message) == ("答了", ("阿棠怕猫",), "我怕猫")


@pytest.mark.parametrize("observations", [5, {"a": 1}, [1, 2], [{"text": "canary"}], [["canary"]]])
async def test_nonsense_is_no_error(group: int, taking: Taking, observations: Any, log: list[str]) -> None:
    """Invalid observations return None without an exception, and the log does not repeat them."""
    from nonebot_plugin_cognitive_memory import record_end

    assert await record_end(core.Scene.group(str(group), "2000001"), "做了", observations) is None
    assert not taking.turns
    assert "canary" not in "".join(log)


@pytest.mark.parametrize("refusal", [core.QueueFull("满了"), core.StorageRefused("盘坏了"), core.BadArgument("不对")])
async def test_refusals_are_no_errors(group: int, taking: Taking, refusal: Exception) -> None:
    """A full queue or a failing disk returns None to the chat plugin."""
    from nonebot_plugin_cognitive_memory import consider, record_end

    here = core.Scene.group(str(group), "2000001")
    await taking.observe(core.Message("x", here, "我怕猫", _now()))
    taking.refusal = refusal
    assert await record_end(here, "做了") is None
    assert await consider(here) is None


async def test_consider_hands_in_what_is_new(stage: Stage, group: int, taking: Taking) -> None:
    """``consider()`` hands in the recent dialogue once, later only new lines, and nothing without a person's line."""
    from nonebot_plugin_cognitive_memory import consider

    here = core.Scene.group(str(group), "2000001")
    await stage.hear(message("我怕猫", 2000001, group))
    await stage.hear(message("我也是", 2000002, group))
    assert await consider(here)
    assert await consider(here) is None
    await taking.observe(core.Message("bot-1", here, "记住了", _now(), is_bot=True))
    assert await consider(here) is None
    await stage.hear(message("我还怕狗", 2000001, group))
    assert await consider(here)
    assert [[line.text for line in lines] for lines in taking.dialogues] == [
        ["我怕猫", "我也是"],
        ["记住了", "我还怕狗"],
    ]


@pytest.mark.parametrize("observations", [[], ["", "  "]])
async def test_a_turn_without_observations_leaves_its_line_to_be_considered(
    stage: Stage, group: int, taking: Taking, observations: list[str]
) -> None:
    """A turn without observations does not mark its line as learned, so it is still considered."""
    from nonebot_plugin_cognitive_memory import consider

    event = message("我怕猫", 2000001, group)
    assert await ended(stage, event, "听到了", observations)
    assert await consider(core.Scene.group(str(group), "2000001"))
    assert [[line.text for line in lines] for lines in taking.dialogues] == [["我怕猫"]]


def _now() -> datetime:
    return datetime.now(timezone.utc).replace(microsecond=0)
