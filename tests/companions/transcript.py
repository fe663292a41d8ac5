"""Write docs/bridges/transcripts.md: a chat with each companion, and what its model was asked.

``python -m tests.companions.transcript``, after ``python -m tests companions`` has installed them.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from tests.support.model_server import Asked
from tests.support.onebot import ROOT

from .stage import FACT, Chat, Scene, companion
from .test_bridges import ANY, CHATS

PAGE = ROOT / "docs" / "bridges" / "transcripts.md"
HEAD = """\
# 对话记录

由 `python -m tests.companions.transcript` 写成：真的聊天插件、真的 OneBot WebSocket，模型照剧本回答。

每一节先是群里的话，再是模型收到的每一次请求：系统提示词里有没有我们的一段，给了哪些工具，模型调用了什么，工具回了什么。
"""


async def section(chat: Chat) -> str:
    """Return the section of one companion."""
    with tempfile.TemporaryDirectory() as home:
        async with companion(Path(home), chat) as scene:
            await scene.told_before()
            await scene.is_remembered()
            answer = await scene.answer(chat.question)
            attached = next(line for line in scene.bot.log().splitlines() if "接上记忆" in line)
            return "\n".join([f"## `{chat.attached}`\n", *_chat(scene, chat, attached, answer), *_model(scene)])


def _chat(scene: Scene, chat: Chat, attached: str, answer: str) -> Iterator[str]:
    said = [event for event in scene.client.said.values() if event["raw_message"] in (FACT, chat.question)]
    yield "```text"
    yield attached.partition("| ")[2]
    for event in said:
        at = datetime.fromtimestamp(event["time"]).astimezone()
        yield f"{at:%H:%M} {event['sender']['nickname']}：{event['raw_message']}"
    yield f"{datetime.now().astimezone():%H:%M} 机器人：{answer}"
    yield "```\n"


def _model(scene: Scene) -> Iterator[str]:
    for number, (asked, prompt) in enumerate(zip(scene.server.asked, scene.prompts, strict=True), 1):
        yield f"{number}. 系统提示词{'有' if FACT in prompt else '没有'}我们的一段；{_offered(asked)}"
        for one in asked.body["messages"]:
            for call in one.get("tool_calls") or ():
                yield f"   - 模型调用 `{call['function']['name']}({call['function']['arguments']})`"
            if one["role"] == "tool":
                yield f"   - 工具回 `{str(one['content'])[:160]}`"
    yield ""


def _offered(asked: Asked) -> str:
    ours = [tool["function"]["name"] for tool in asked.body.get("tools", ()) if tool["function"]["name"][:3] == "cm_"]
    others = len(asked.body.get("tools", ())) - len(ours)
    return f"我们的工具 {len(ours)} 个，它自己的 {others} 个；{json.dumps(asked.body['model'])}"


async def main() -> None:
    """Write the page."""
    PAGE.write_text("\n".join([HEAD, *[await section(chat) for chat in (*CHATS, *ANY)]]), "utf-8")


if __name__ == "__main__":
    asyncio.run(main())
