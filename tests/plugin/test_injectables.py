"""Tests of every type that a chat plugin can inject."""

from __future__ import annotations

import pytest
from nonebot import on_message

import cognitive_memory_core as core

from .stage import ANON, Stage, message, notice, said

NOUNS = [
    core.CognitiveMemory,
    core.Scene,
    core.Message,
    core.Turn,
    core.Event,
    core.Hit,
    core.Context,
    core.Section,
    core.Profile,
    core.ProfileKey,
    core.ProfileHit,
    core.Memo,
    core.Pin,
    core.Status,
    core.FailedJob,
    core.Interval,
    core.Offence,
    core.Settings,
]


async def test_every_name_resolves(stage: Stage, group: int) -> None:
    """One handler can inject all types, and each works."""
    from .companion import Companion, listening

    with listening(Companion()) as chat:
        await stage.hear(message("我喜欢乌龙茶", 2000001, group))
    met = chat.met
    assert isinstance(met["memory"], core.CognitiveMemory)
    assert met["scene"] == core.Scene.group(str(group), "2000001")
    assert isinstance(met["context"], core.Context)
    assert await met["record_end"]("记下了口味", ["阿棠(2000001) 喜欢乌龙茶"])
    assert await met["memory"].drain(20)
    assert [hit.event.text for hit in await met["search_events"]("乌龙茶")] == ["机器人记：阿棠(2000001) 喜欢乌龙茶"]
    await said(met["scene"], "我喜欢乌龙茶")
    profile = await met["get_profile"]("user", "2000001")
    assert isinstance(profile, core.Profile)
    assert "乌龙茶" in profile.summary
    assert [hit.profile.key for hit in await met["search_profiles"]("乌龙茶")] == [profile.key]
    assert '"ok": true' in await met["tools"].call("memory_list", {})
    assert len(met["tools"].schemas) == 9
    assert await met["consider"]() is None


async def test_the_context_quotes_what_was_just_said_but_not_the_question(stage: Stage, group: int) -> None:
    """A line said a moment ago is in MemoryContext, and the message being answered is not."""
    from nonebot_plugin_cognitive_memory import get_memory

    from .companion import Companion, listening

    await stage.hear(message("我对花生过敏", 2000002, group))
    assert await get_memory().drain(20)
    with listening(Companion()) as chat:
        await stage.hear(message([{"type": "face", "data": {"id": "1"}}, _text("谁对花生过敏")], 2000001, group))
        assert await get_memory().drain(20)
        await stage.hear(stage.heard)
    assert "：我对花生过敏" in chat.met["context"].text
    assert "谁对花生过敏" not in chat.met["context"].text


def _text(said: str) -> dict[str, object]:
    return {"type": "text", "data": {"text": said}}


@pytest.mark.parametrize("kind", NOUNS, ids=lambda kind: kind.__name__)
async def test_nouns_are_understood(stage: Stage, group: int, kind: type) -> None:
    """Every public class can be used as a validated type in a plugin's handler."""
    from .companion import handler_of

    seen: list[object] = []
    blank = kind() if kind is core.Settings else object.__new__(kind)
    matcher = on_message(priority=50)
    matcher.handle()(handler_of(kind, blank, seen))
    await stage.hear(message("早", 2000001, group))
    matcher.destroy()
    assert len(seen) == 1
    assert seen[0] is blank


async def test_notices_resolve_too(stage: Stage, group: int) -> None:
    """An event with a person but without a message has a context and can end a turn."""
    from .companion import Companion, listening

    poke = notice("notify", sub_type="poke", user_id=2000001, target_id=2000002, group_id=group)
    with listening(Companion(ends=("回戳了一下",))) as chat:
        await stage.hear(poke)
    assert chat.met["scene"] == core.Scene.group(str(group), "2000001")
    assert all(chat.ended)
    assert chat.ended


@pytest.mark.only_v11
async def test_events_without_a_person_skip(stage: Stage, group: int, log: list[str]) -> None:
    """A handler with an injected type is skipped for events without a person, without a logged error."""
    from .companion import Companion, listening

    event = message("早", ANON, group, anonymous={"id": 1, "name": "匿名", "flag": "x"})
    with listening(Companion()) as chat:
        await stage.hear(event)
    assert not chat.met
    assert not [line for line in log if line.startswith(("ERROR", "WARNING"))]


@pytest.mark.only_v11
async def test_the_context_mutes_no_handler(stage: Stage, group: int) -> None:
    """For an event without a person MemoryContext is empty and the handler runs; PersonalContext skips its handler."""
    from nonebot_plugin_cognitive_memory import MemoryContext, PersonalContext

    seen: list[tuple[str, core.Context]] = []
    matchers = [on_message(priority=at, block=False) for at in (50, 51)]

    async def always(context: MemoryContext) -> None:
        seen.append(("always", context))

    async def personal(context: PersonalContext) -> None:
        seen.append(("personal", context))

    for matcher, handler in zip(matchers, (always, personal), strict=True):
        handler.__annotations__ = {"context": MemoryContext if handler is always else PersonalContext, "return": None}
        matcher.handle()(handler)
    await stage.hear(message("早", ANON, group, anonymous={"id": 1, "name": "匿名", "flag": "x"}))
    assert seen == [("always", core.Context("", (), 0, ()))]
    await stage.hear(message("早", 2000001, group))
    assert [name for name, _ in seen] == ["always", "always", "personal"]
    for matcher in matchers:
        matcher.destroy()
