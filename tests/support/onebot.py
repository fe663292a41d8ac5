"""A real bot in a separate process, and a OneBot client on a real WebSocket, for the journeys; v11 by default."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from .network_guard import python_path
from .raw_http import free_port
from .sizes import IS_NIGHTLY
from .waiting import PATIENCE, until
from .warm import WarmProgram, started

ROOT = Path(__file__).parents[2]
OPENED = "已启动；数据目录"  # what the bot logs when its memory is open
BOT = 3850617294
GROUP_NAME = "山脚读书会"
GROUP, OTHER_GROUP = 618203471, 930417652
AHE, MILI = 2156083317, 2680914375
PICTURE, SHOWN = "[图片]", ("text", "image")
# plugins of a bot: the memory alone, and one that tells and asks it
ONLY = 'from nonebot import require\n\nrequire("nonebot_plugin_cognitive_memory")\n'
COMPANION = f"""{ONLY}
from nonebot import on_message
from nonebot_plugin_cognitive_memory import MemoryContext, RecordEnd

chat = on_message(priority=50)


@chat.handle()
async def turn(context: MemoryContext, record_end: RecordEnd):
    await chat.finish(f"{{await record_end('备忘', ['阿禾(2156083317) 喜欢乌龙茶'])}} {{context.text}}")
"""
PAUSE = 0.2  # seconds between two repetitions of a question
Version = Literal["v11", "v12"]
VERSIONS: tuple[Version, ...] = ("v11", "v12")


def version_of(usual: Version) -> tuple[Version, ...]:
    """Return this version of the protocol for a test that starts bots, at the nightly size both."""
    return VERSIONS if IS_NIGHTLY else (usual,)


ENV = (
    "DRIVER=~fastapi",
    "HOST=127.0.0.1",
    "LOCALSTORE_USE_CWD=true",
    "LOG_LEVEL=INFO",
    "COGNITIVE_MEMORY__CAPTURE__ANNOUNCE=off",  # one answer per line
)
BOT_SCRIPT = """
import nonebot
from nonebot.adapters.onebot.v11 import Adapter

nonebot.init()
nonebot.get_driver().register_adapter(Adapter)
nonebot.load_plugins("plugins")
nonebot.run()
"""


class BotDied(AssertionError):
    """The bot's process ended before it could be reached."""


@dataclass
class OneBotClient:
    """One account's connection: says lines, answers the bot's API calls, records the bot's messages by place.

    A place is the number of a group or, in private, of a person.
    """

    wire: ClientConnection
    everything: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    sent: defaultdict[int | str, asyncio.Queue[str]] = field(default_factory=lambda: defaultdict(asyncio.Queue))
    calls: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    answering: asyncio.Task[None] | None = None
    said: dict[int, Mapping[str, Any]] = field(default_factory=dict[int, Mapping[str, Any]])
    roles: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    unanswered: set[str] = field(default_factory=set[str])  # calls that get no answer
    answers: dict[str, Callable[[Mapping[str, Any]], Mapping[str, Any] | None]] = field(default_factory=dict)

    async def begin(self) -> None:
        """Tell the bot what the version of the protocol demands: nothing, as the header names the account."""

    async def say(self, text: str, *, user: Any = AHE, name: str = "阿禾", group: Any = None, **more: Any) -> int:
        """Send a person's line to the bot; return the message's number. Ids are numbers, in v12 texts too."""
        number = next(_numbers)
        kind = "private" if group is None else "group"
        parts = [] if group is None else [{"type": "at", "data": {"qq": str(BOT)}}]
        event = {
            "self_id": BOT,
            "post_type": "message",
            "message_type": kind,
            "sub_type": "friend" if group is None else "normal",
            "time": int(time.time()),
            "message_id": number,
            "user_id": user,
            "message": [*parts, {"type": "text", "data": {"text": text}}],
            "raw_message": text,
            "font": 0,
            "sender": {"user_id": user, "nickname": name, "card": "" if group is None else name, "role": "member"},
            **({} if group is None else {"group_id": group}),
            **more,
        }
        self.said[number] = event
        await self.wire.send(json.dumps(event))
        return number

    async def ask(self, text: str, *, user: Any = AHE, group: Any = None, **more: Any) -> str:
        """Say a line and return the bot's next message in that place."""
        await self.say(text, user=user, group=group, **more)
        return await asyncio.wait_for(self.sent[user if group is None else group].get(), PATIENCE)

    async def reply(self) -> str:
        """Return the bot's next message, wherever it was sent."""
        return await asyncio.wait_for(self.everything.get(), PATIENCE)

    async def ask_until(self, text: str, wanted: str, **who: Any) -> str:
        """Repeat a question until the answer contains ``wanted``; return that answer."""
        answer, ends = "", time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            if wanted in (answer := await self.ask(text, **who)):
                return answer
            await asyncio.sleep(PAUSE)
        raise AssertionError(answer)

    async def until_listed(self, wanted: str, group: int) -> None:
        """Let ever other people, because of the limit per person, list their memories until one list contains it."""
        people = count(AHE)

        async def is_listed() -> bool:
            return wanted in await self.ask("/记忆 列表", group=group, user=next(people))

        await until(is_listed, pause=0.5)  # as often as people ask

    async def serve(self) -> None:
        """Answer every API call with success, except a question for a message that nobody said."""
        numbers = count(1_000_000)
        with suppress(ConnectionClosed):
            async for frame in self.wire:
                call = json.loads(frame)
                self.calls.append((call["action"], call["params"]))
                if call["action"] in self.unanswered:
                    continue
                data = self._known(call["action"], call["params"], next(numbers))
                status = {"status": "ok", "retcode": 0} if data else {"status": "failed", "retcode": 1200}
                await self.wire.send(json.dumps({**self._answered(status), "data": data, "echo": call["echo"]}))
                if "message" in call["params"]:
                    self._keep(call["params"])

    def _known(self, action: str, params: Mapping[str, Any], number: int) -> Mapping[str, Any] | None:
        if action in self.answers:
            return self.answers[action](params)
        if action == "get_msg":
            return self.said.get(int(params["message_id"]))
        if action == "get_group_member_info":
            return {
                **params,
                "nickname": "群友",
                "role": self.roles.get((params["group_id"], params["user_id"]), "member"),
            }
        if action == "get_group_info":
            return {**params, "group_name": GROUP_NAME}
        if action == "get_version_info":
            return {"app_name": "NapCat.Onebot", "app_version": "4.8.0", "protocol_version": "v11"}
        return {"message_id": number}

    def _keep(self, params: Mapping[str, Any]) -> None:
        text = "".join(_texts(params["message"]))
        self.everything.put_nowait(text)
        self.sent[self._place(params)].put_nowait(text)

    def _answered(self, status: Mapping[str, Any]) -> Mapping[str, Any]:
        return status

    def _place(self, params: Mapping[str, Any]) -> int | str:
        return params.get("group_id") or params["user_id"]


@dataclass
class BotProcess:
    """A bot in its own directory, started as an operator would."""

    home: Path
    port: int
    process: subprocess.Popen[bytes] | WarmProgram
    before: int = 0  # characters logged by earlier processes in the same directory

    @property
    def data(self) -> Path:
        """Return the directory of the memory's files."""
        return data_of(self.home)

    def log(self) -> str:
        """Return everything that the bot has printed."""
        return (self.home / "bot.log").read_text("utf-8", "replace")

    @asynccontextmanager
    async def client(self, token: str = "", version: Version = "v11") -> AsyncIterator[OneBotClient]:
        """Connect as the account once the bot listens, with an access token if there is one."""
        client = _clients()[version](await self._connected(token, version))
        client.answering = asyncio.create_task(client.serve())
        await client.begin()
        try:
            yield client
        finally:
            client.answering.cancel()
            with suppress(ConnectionClosed, OSError):
                await client.wire.close()

    async def opened(self) -> None:
        """Wait until the bot has logged that its memory is open."""
        await until(lambda: OPENED in self.log()[self.before :])

    def kill(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def stop(self) -> int:
        """Stop the process as an operator would; return its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(PATIENCE)
            self.kill()
        return self.process.wait()

    async def _connected(self, token: str, version: Version) -> ClientConnection:
        url = f"ws://127.0.0.1:{self.port}/onebot/{version}/ws"
        headers = {"X-Self-ID": str(BOT)} | ({"Authorization": f"Bearer {token}"} if token else {})
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise BotDied(self.log())
            with suppress(OSError, InvalidHandshake):
                wire = socket.create_connection(("127.0.0.1", self.port))  # our own, so that no proxy is asked
                return await connect(url, additional_headers=headers, max_size=None, sock=wire)
            await asyncio.sleep(0.05)
        raise BotDied(self.log())


def data_of(home: Path) -> Path:
    """Return the directory of the memory's files under a bot's directory."""
    return home / "data" / "nonebot_plugin_cognitive_memory"


def prepare(home: Path, plugins: Mapping[str, str], env: Sequence[str] = (), version: Version = "v11") -> None:
    """Create a bot's directory: its script, its plugins by name, its .env."""
    (home / "plugins").mkdir(parents=True, exist_ok=True)
    (home / "bot.py").write_text(BOT_SCRIPT.replace("v11", version), "utf-8")
    for name, source in plugins.items():
        (home / "plugins" / f"{name}.py").write_text(source, "utf-8")
    lines = (*ENV, *env)  # of two lines for one key the last one counts
    (home / ".env").write_text("\n".join(lines) + "\n", "utf-8")


def start(home: Path, environ: Mapping[str, str] | None = None, python: str = sys.executable) -> BotProcess:
    """Start the bot prepared in a directory; with additional environment variables, as a wholly new process."""
    port = free_port()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("COGNITIVE_MEMORY__")},
        "PORT": str(port),
        "PYTHONPATH": python_path(ROOT) if python == sys.executable else str(ROOT),
        "PYTHONIOENCODING": "utf-8",
        **(environ or {}),
    }
    log = home / "bot.log"
    log.touch()
    before = len(log.read_text("utf-8", "replace"))
    if python == sys.executable and environ is None:
        return BotProcess(home, port, started("bot.py", home, environment, log), before)
    with log.open("ab") as output:
        process = subprocess.Popen(
            [python, "bot.py"], cwd=home, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    return BotProcess(home, port, process, before)


@asynccontextmanager
async def running_bot(
    home: Path, plugins: Mapping[str, str], env: Sequence[str] = (), version: Version = "v11"
) -> AsyncIterator[tuple[BotProcess, OneBotClient]]:
    """Run a bot and stay connected to it while the block runs."""
    prepare(home, plugins, env, version)
    bot = start(home)
    try:
        async with bot.client(version=version) as client:
            yield bot, client
    finally:
        bot.stop()


@asynccontextmanager
async def open_bot(
    home: Path, plugins: Mapping[str, str], env: Sequence[str] = (), version: Version = "v11"
) -> AsyncIterator[tuple[BotProcess, OneBotClient]]:
    """Run a bot, as :func:`running_bot` does, and wait until its memory is open."""
    async with running_bot(home, plugins, env, version) as (bot, client):
        await bot.opened()
        yield bot, client


_numbers = count(1)


def _clients() -> Mapping[Version, type[OneBotClient]]:
    from .onebot_v12 import TwelveClient  # it is built on this module

    return {"v11": OneBotClient, "v12": TwelveClient}


def _texts(message: Any) -> list[str]:
    parts = [{"type": "text", "data": {"text": message}}] if isinstance(message, str) else message
    return [part["data"]["text"] if part["type"] == "text" else PICTURE for part in parts if part["type"] in SHOWN]
