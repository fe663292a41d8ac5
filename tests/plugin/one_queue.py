"""A chat plugin that answers messages of all places from the handler of the first one, as some real ones do."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from types import ModuleType
from typing import Any

import httpx
import openai

from tests.support.waiting import PATIENCE

from .stage import Stage

MODULE = "fake_chat_with_one_queue"
PLUGIN = """
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
        with suppress(openai.BadRequestError):
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
