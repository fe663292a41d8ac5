"""Fault row A31: a chat plugin that answers messages of several places from one handler is given nothing of another."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from .one_queue import MODULE, PLUGIN, prompts_of
from .stage import ANON, Stage, loaded_plugin, message, new_id

FACT = "周五在老地方聚餐"
WHOLE = "晚上一起吃火锅吗"


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """Load a chat plugin whose first handler answers all messages, and give it the memory."""
    from nonebot_plugin_cognitive_memory.bridges import openai_calls

    with loaded_plugin(tmp_path_factory.mktemp("queue"), MODULE, PLUGIN) as module:
        openai_calls.allow(MODULE)
        yield module  # it stays allowed: the SDK is patched once a process, and workers share out a module's tests


@pytest.fixture(autouse=True)
def _nothing_heard() -> None:
    from nonebot_plugin_cognitive_memory.bridges import openai_calls

    openai_calls._last_heard.clear()


def parts(*texts: str) -> list[dict[str, Any]]:
    """Return a message with a mention between two texts."""
    mention = {"type": "at", "data": {"qq": "2000009"}}
    first, second = ({"type": "text", "data": {"text": text}} for text in texts)
    return [first, mention, second]


@pytest.mark.parametrize("form", ["{}", "阿棠：{}", '{{"user": "阿棠", "text": "{}"}}'])
@pytest.mark.parametrize(
    ("own", "other", "fields"),
    [
        ("好", "今天过得好吗", {}),
        ("在吗", "在吗", {}),
        (WHOLE, WHOLE, {}),
        (WHOLE, f"你们{WHOLE}？", {}),
        (f"那{WHOLE}，我请", WHOLE, {}),
        (WHOLE, parts("你们说", f"{WHOLE}，去哪家"), {}),
        (WHOLE, WHOLE, {"anonymous": {"id": 1, "name": "匿名", "flag": "x"}, "user_id": ANON}),
    ],
    ids=["part", "short", "equal", "longer", "shorter", "mention", "anonymous"],
)
async def test_one_queue_for_two_places_brings_nothing_of_the_first(
    chat: ModuleType, stage: Stage, *, form: str, own: str, other: object, fields: dict[str, Any]
) -> None:
    """A group's request holds nothing of the private chat whose handler, still running, makes the request."""
    person = new_id()
    await stage.hear(message(f"/记忆 记住 {FACT}", person))
    _, theirs = await prompts_of(
        chat, stage, message(own, person), message(other, new_id(), new_id(), **fields), form=form
    )
    assert FACT not in theirs


@pytest.mark.parametrize(("said", "form"), [("那天几点出门", "{}"), ("那天几点出门", "阿棠：{}"), ("啥", "{}")])
async def test_a_request_for_its_own_event_has_the_memory(
    chat: ModuleType, stage: Stage, group: int, said: str, form: str
) -> None:
    """The bridge gives the memory of the place where the line was said; a short line must be the whole request."""
    await stage.hear(message(f"/记忆 记住 {FACT}", 2000001, group))
    [prompt] = await prompts_of(chat, stage, message(said, 2000001, group), form=form)
    assert FACT in prompt
