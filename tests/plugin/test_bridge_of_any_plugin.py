"""Fault row A31: a chat plugin that answers messages of several places from one handler is given nothing of another."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import httpx
import openai
import pytest

from tests.support.waiting import PATIENCE

from .stage import ANON, Stage, loaded_plugin, message, new_id

MODULE = "fake_chat_with_one_queue"
FAKE = """
import asyncio
from nonebot import on_message

heard, is_running, asked = asyncio.Queue(), False, None

async def collect(event):
    await heard.put(event)
    return not is_running

@on_message(rule=collect, priority=40, block=False).handle()
async def answer_all():
    global is_running
    is_running = True
    while event := await heard.get():
        await asked(event)
    is_running = False
"""
FACT = "周五在老地方聚餐"
WHOLE = "晚上一起吃火锅吗"


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """Load a chat plugin whose first handler answers all messages, and give it the memory."""
    from nonebot_plugin_cognitive_memory.bridges import openai_calls

    with loaded_plugin(tmp_path_factory.mktemp("queue"), MODULE, FAKE) as module:
        openai_calls.allow(MODULE)
        yield module
        openai_calls._allowed.discard(MODULE)


@pytest.fixture(autouse=True)
def _nothing_heard() -> None:
    from nonebot_plugin_cognitive_memory.bridges import openai_calls

    openai_calls._last_heard.clear()


async def prompts_of(chat: ModuleType, stage: Stage, *heard: Any, form: str) -> list[str]:
    """Let the plugin hear messages; return its request for each, made by the handler of the first one.

    ``form`` is how the plugin writes a line for its model.
    """
    prompts: asyncio.Queue[str] = asyncio.Queue()

    async def answered(request: httpx.Request) -> httpx.Response:
        prompts.put_nowait(json.dumps(json.loads(request.content)["messages"], ensure_ascii=False))
        return httpx.Response(400, json={})

    client = openai.AsyncOpenAI(
        api_key="x",
        base_url="http://127.0.0.1:9/v1",
        max_retries=0,
        http_client=httpx.AsyncClient(transport=httpx.MockTransport(answered)),
    )

    async def ask(event: Any) -> None:
        said: Any = [{"role": "user", "content": form.format(worded(event))}]
        with pytest.raises(openai.BadRequestError):
            await client.chat.completions.create(model="m", messages=said)

    chat.asked = ask
    first = asyncio.create_task(stage.hear(heard[0]))
    found = [await asyncio.wait_for(prompts.get(), PATIENCE)]
    for event in heard[1:]:
        await stage.hear(event)
        found.append(await asyncio.wait_for(prompts.get(), PATIENCE))
    chat.heard.put_nowait(None)
    await first
    return found


def worded(event: Any) -> str:
    """Return a message as chat plugins write it, with mentions."""
    return "".join(part.data["text"] if part.is_text() else "@小禾 " for part in event.get_message())


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
