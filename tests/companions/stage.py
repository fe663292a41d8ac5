"""A bot that runs a real chat plugin beside the memory, and the scripted model that the plugin asks."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import Asked, ModelServer, Reply, message
from tests.support.onebot import AHE, GROUP, MILI, PAUSE, ROOT, BotProcess, OneBotClient, prepare, start
from tests.support.puppet import answering
from tests.support.waiting import PATIENCE, until

from .environments import ENVIRONMENTS

HOUR = 3600
STARTED = re.compile("已启动；数据目录|已按 .* 停用")
SOON = "COGNITIVE_MEMORY__CAPTURE__CONSIDER_IDLE_MINUTES=0.01"
NOT_SOON = "COGNITIVE_MEMORY__CAPTURE__CONSIDER_IDLE_MINUTES=10"  # the default: lines stay lines meanwhile
ALONE = "COGNITIVE_MEMORY__MODELS__HISTORIAN__BORROW=off"
KEY = "sk-CANARY-KEY"  # in the companion's settings, where it borrows
OPERATOR = 3417085926  # whose commands no rate limit counts
NAMES = ("米粒", "阿禾", "阿衡")
FACT, QUESTION, KNOWN, UNKNOWN = "我家的猫叫年糕，只吃罐头不吃猫粮", "年糕吃什么来着？", "年糕只吃罐头。", "我不知道。"
SEARCH, END, REPLY = "cm_search_events", "cm_end", "reply_user"


@dataclass(frozen=True)
class Chat:
    """How a companion is loaded and addressed; its settings are the published ones."""

    name: str
    module: str
    calls_tools: bool = True
    question: str = QUESTION
    files: tuple[tuple[str, str], ...] = ()  # where it reads a file, and the published one
    bridge: str = ""  # what stands in the setting, if it is not the name
    tried: str = ""  # the distribution whose version the bridge checks, if it is not the companion's

    @property
    def distribution(self) -> str:
        """Return the distribution whose version the bridge checks."""
        return self.tried or self.module.replace("_", "-")

    @property
    def attached(self) -> str:
        """Return the name of its bridge in the setting."""
        return self.bridge or self.name


@dataclass
class Scene:
    """A running bot with a companion, the client of its account, and the model server."""

    bot: BotProcess
    client: OneBotClient
    server: ModelServer

    async def told_before(self) -> None:
        """Let somebody say the fact in the group, an hour ago and not to the bot."""
        await self.client.say(FACT, **_line(FACT), user=MILI, name="米粒", group=GROUP, time=int(time.time()) - HOUR)

    async def told(self, lines: Mapping[int, str]) -> None:
        """Let people say a line each in the group, not to the bot."""
        for (user, said), name in zip(lines.items(), NAMES, strict=True):
            await self.client.say(said, **_line(said), user=user, name=name, group=GROUP)

    async def is_remembered(self) -> None:
        """Wait until the fact is a memory of the group."""
        command = "/记忆 列表"
        while True:
            await self.client.say(command, **_line(command), user=OPERATOR, group=GROUP)
            if "罐头" in await self.next_words():
                return
            await asyncio.sleep(PAUSE)

    async def status(self) -> str:
        """Return the memory's own words about its state."""
        command = "/记忆 状态 -t"
        await self.client.say(command, **_line(command), user=AHE, group=GROUP)
        while "记忆正在工作" not in (said := await self.next_words()):
            pass
        return said

    async def answer(self, question: str = QUESTION) -> str:
        """Ask the bot in the group; return the message in which it answers."""
        await self.client.say(question, user=AHE, group=GROUP)
        while True:
            said = await self.next_words()
            if KNOWN in said or UNKNOWN in said:
                return said

    async def place_of(self, line: str, question: str) -> str:
        """Ask the bot in the group; return where the first prompt for it has a line: "quoted", "own" or nowhere, ""."""
        before = len(self.server.asked)
        await self.answer(question)
        asked = self.server.asked[before]
        quoted = _system(asked).partition("【相关原话】")[2]
        own = [str(one["content"]) for one in asked.body["messages"] if one["role"] == "user"]
        return "quoted" if f"：{line}" in quoted else "own" if line in "".join(own) else ""

    async def next_words(self) -> str:
        """Return the bot's next message in the group."""
        return await asyncio.wait_for(self.client.sent[GROUP].get(), PATIENCE)

    @property
    def prompts(self) -> list[str]:
        """Return the system messages of each request, joined."""
        return [_system(asked) for asked in self.server.asked]

    @property
    def called(self) -> list[str]:
        """Return the names of the tools whose answers the model got."""
        last = self.server.asked[-1].body["messages"]
        return [call["function"]["name"] for one in last for call in one.get("tool_calls") or ()]


def remembering(asked: Asked) -> Reply:
    """Answer as a model that looks up, answers from what it was given, and ends the turn; in a stream if asked to."""
    reply = _remembering(asked)
    options = asked.body.get("stream_options") or {}
    return _streamed(reply, with_usage=bool(options.get("include_usage"))) if asked.body.get("stream") else reply


def writing_down(asked: Asked) -> Reply:
    """Answer the historian as a careful model, and anything else as :func:`remembering`."""
    return answering()(asked) if is_the_historians(asked) else remembering(asked)


def is_the_historians(asked: Asked) -> bool:
    """Return whether a request is the memory's own."""
    return any(tool["function"]["name"].startswith("historian_") for tool in asked.body.get("tools", ()))


def _remembering(asked: Asked) -> Reply:
    messages = asked.body["messages"]
    offered = {tool["function"]["name"] for tool in asked.body.get("tools", ())}
    given = " ".join(json.dumps(one.get("content"), ensure_ascii=False) for one in messages if one["role"] != "user")
    answer = KNOWN if "罐头" in given else UNKNOWN
    done = {call["function"]["name"] for one in messages for call in one.get("tool_calls") or ()}
    if SEARCH in offered - done:
        return calling(SEARCH, {"query": "年糕吃什么"})(asked)
    if REPLY in offered:
        return calling(REPLY, {"content": answer, "next_step": "end"})(asked)
    if END in offered - done:
        return calling(END, {"memo": "说了年糕吃什么", "observations": []}, says=answer)(asked)
    return message({"content": answer})(asked)


def _streamed(reply: Reply, *, with_usage: bool) -> Reply:
    """Return an answer as a stream of events: the message in one piece, then how it ended."""
    whole = json.loads(reply.body)
    [choice] = whole["choices"]
    calls = [{"index": at, **call} for at, call in enumerate(choice["message"].pop("tool_calls", ()))]
    delta = {**choice["message"], **({"tool_calls": calls} if calls else {})}
    head = {**whole, "object": "chat.completion.chunk", "usage": None}
    pieces = ((delta, None), ({}, choice["finish_reason"]))
    events = [{**head, "choices": [{"index": 0, "delta": made, "finish_reason": ends}]} for made, ends in pieces]
    events += [{**head, "choices": [], "usage": whole["usage"]}] if with_usage else []
    lines = [*map(json.dumps, events), "[DONE]"]
    return Reply("".join(f"data: {line}\n\n" for line in lines).encode(), headers={"Content-Type": "text/event-stream"})


def calling(name: str, arguments: object, says: str | None = None) -> Any:
    """Answer with one call of a tool, beside words or without."""
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    call = {"id": f"call-{name}", "type": "function", "function": function}
    return message({"content": says, "tool_calls": [call]}, finish_reason="tool_calls")


@asynccontextmanager
async def companion(
    home: Path, chat: Chat, env: Sequence[str] = (), *, bridged: bool = True, version: str = "", borrows: bool = False
) -> AsyncIterator[Scene]:
    """Run a bot with a companion; ``version`` pretends that another version of it is installed.

    With ``borrows`` nothing is set but the companion's model and key, and the model answers the historian, too.
    """
    python = ENVIRONMENTS[chat.name].python
    if not python.exists():
        pytest.skip(f"python -m tests companions installs {chat.distribution}")
    loading = f'from nonebot import require\nrequire("{chat.module}")\nrequire("nonebot_plugin_cognitive_memory")\n'
    async with ModelServer() as server:
        server.chat = writing_down if borrows else remembering
        chosen = f'COGNITIVE_MEMORY__BRIDGES=["{chat.attached}"]' if bridged else "COGNITIVE_MEMORY__BRIDGES=[]"
        published = _published(f"{chat.name}.env", server).splitlines()
        prepare(
            home,
            {"loaded": loading},
            [*published, chosen, SOON, f'SUPERUSERS=["{OPERATOR}"]', *([] if borrows else [ALONE]), *env],
        )
        for place, name in chat.files:
            (home / place).parent.mkdir(parents=True, exist_ok=True)
            (home / place).write_text(_published(name, server), "utf-8")
        bot = start(home, _pretending(home, chat, version), str(python))
        try:
            async with bot.client() as client:
                await until(lambda: STARTED.search(bot.log()) is not None)
                yield Scene(bot, client, server)
        finally:
            bot.stop()


def _published(name: str, server: ModelServer) -> str:
    """Return a file of examples/bridges with the address of a server."""
    text = (ROOT / "examples" / "bridges" / name).read_text("utf-8")
    return text.replace("https://api.example.com/v1", server.url).replace("sk-xxx", KEY)


def _pretending(home: Path, chat: Chat, version: str) -> dict[str, str]:
    """Return an environment in which a companion's metadata has another version."""
    if not version:
        return {}
    name = chat.distribution.replace("-", "_")
    [true] = ENVIRONMENTS[chat.name].python.parents[1].glob(f"**/site-packages/{name}-*.dist-info/METADATA")
    folder = home / "pretended" / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    metadata = re.sub(r"^Version: .*$", f"Version: {version}", true.read_text("utf-8"), count=1, flags=re.MULTILINE)
    (folder / "METADATA").write_text(metadata, "utf-8")
    return {"PYTHONPATH": os.pathsep.join((str(folder.parent), str(ROOT)))}


def everything_in(folder: Path) -> bytes:
    """Return the bytes of every file of a folder."""
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def _system(asked: Asked) -> str:
    return "\n".join(str(one["content"]) for one in asked.body["messages"] if one["role"] in ("system", "developer"))


def _line(text: str) -> dict[str, Any]:
    """Return the message of a line that is not addressed to the bot."""
    return {"message": [{"type": "text", "data": {"text": text}}]}
