"""The bot of the demo, a real NoneBot on loopback with FastAPI and the OneBot v11 adapter, and the client of it."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import nonebot
import uvicorn
from nonebot.adapters.onebot.v11 import Adapter, Event, MessageEvent
from transcript import Place, Transcript, TranscriptLine
from typing_extensions import Self
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

STARTING = 30.0  # seconds for a bot to start
PATIENCE = 90.0  # seconds per line; the first turns wait while the memory opens
FIRST_OWN_NUMBER = 1_000_000  # above the numbers of a transcript's lines


class OneBotClient:
    """A OneBot v11 client over a reverse WebSocket: sends events and answers the bot's API calls."""

    def __init__(self, url: str, transcript: Transcript) -> None:
        """Create without connecting; the client sends the lines of every person of ``transcript``."""
        self._url = url
        self._transcript = transcript
        self._known = {line.number: line for line in (*transcript.lines, *transcript.by_bot)}
        self._own_numbers = count(FIRST_OWN_NUMBER)
        self._listening: asyncio.Task[None] | None = None
        self._handled: dict[int, asyncio.Event] = {}
        self._said: list[tuple[Any, str]] = []  # kind and number of a place, and what the bot said there

    async def __aenter__(self) -> Self:
        """Connect and report that the account is online."""
        headers = {"X-Self-ID": str(self._transcript.bot), "X-Client-Role": "Universal"}
        there = urlsplit(self._url)
        wire = socket.create_connection((there.hostname, there.port or 80))  # our own socket, so that no proxy is used
        self._wire: ClientConnection = await connect(
            self._url, additional_headers=headers, max_size=None, open_timeout=STARTING, sock=wire
        )
        self._listening = asyncio.create_task(self._listen())
        await self._push(post_type="meta_event", meta_event_type="lifecycle", sub_type="connect", time=0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Disconnect."""
        if self._listening is not None:
            self._listening.cancel()
        with suppress(ConnectionClosed):
            await self._wire.close()

    async def say(self, line: TranscriptLine) -> bool:
        """Send a line as a person's message, with the line's own time; return whether the bot handles it in time."""
        handled = self._handled[line.number] = asyncio.Event()
        self._known[line.number] = line
        group = {"group_id": line.place.number, "group_name": line.place.name} if line.place.kind == "group" else {}
        await self._push(
            post_type="message",
            sub_type="normal" if line.place.kind == "group" else "friend",
            message_type=line.place.kind,
            time=int(line.at.timestamp()),
            user_id=line.user,
            raw_message=line.text,
            font=0,
            **group,
            **self._content(line),
        )
        try:
            await asyncio.wait_for(handled.wait(), PATIENCE)
        except asyncio.TimeoutError:  # a different class on Python 3.10
            return False
        finally:
            del self._handled[line.number]
        return True

    async def note_handled(self, event: Event) -> None:
        """Record that every plugin has handled an event, so that the next line may follow."""
        if isinstance(event, MessageEvent) and (waiting := self._handled.get(event.message_id)):
            waiting.set()

    def replies_in(self, place: Place) -> list[str]:
        """Return what the bot said in a place so far."""
        return [text for said_in, text in self._said if said_in == (place.kind, place.number)]

    async def _push(self, **event: Any) -> None:
        await self._wire.send(json.dumps({"self_id": self._transcript.bot, **event}, ensure_ascii=False))

    async def _listen(self) -> None:
        async for frame in self._wire:
            call = json.loads(frame)
            answer = self._answer(call["action"], call["params"])
            await self._wire.send(json.dumps({"status": "ok", "retcode": 0, "data": answer, "echo": call["echo"]}))

    def _answer(self, action: str, params: Mapping[str, Any]) -> Any:
        if action == "get_msg":
            line = self._known[int(params["message_id"])]
            told = {"time": int(line.at.timestamp()), "message_type": line.place.kind, "real_id": line.number}
            return {**told, **self._content(line)}
        if action.startswith("send_"):
            kind = "group" if params.get("group_id") else "private"
            text = "".join(part["data"]["text"] for part in params["message"] if part["type"] == "text")
            self._said.append(((kind, int(params.get("group_id") or params["user_id"])), text))
            return {"message_id": next(self._own_numbers)}
        return {}

    def _content(self, line: TranscriptLine) -> Mapping[str, Any]:
        card, calling = line.name if line.place.kind == "group" else "", f"@{self._transcript.bot_name}"
        sender = {"user_id": line.user, "nickname": line.name, "card": card, "role": "member"}
        reply = [{"type": "reply", "data": {"id": str(line.reply_to)}}] if line.reply_to is not None else []
        mention = [{"type": "at", "data": {"qq": str(self._transcript.bot)}}] if line.text.startswith(calling) else []
        text = {"type": "text", "data": {"text": line.text.removeprefix(calling)}}
        return {"message_id": line.number, "message": [*reply, *mention, text], "sender": sender}


HOST = "127.0.0.1"
KEEP_OLD_DATES = 36_500  # days: a replayed conversation keeps its dates, and its log must not be pruned


class Stage:
    """A bot prepared in this process, and its port."""

    def __init__(self, home: Path) -> None:
        """Set up NoneBot with all its files under ``home``, and load this plugin and the demo's chat plugin."""
        os.chdir(home)  # so that no .env of the current directory is read
        self._listener = socket.create_server((HOST, 0))
        self.port: int = self._listener.getsockname()[1]
        hush("WARNING")
        nonebot.init(
            driver="~fastapi",
            host=HOST,
            port=self.port,
            log_level="WARNING",
            localstore_data_dir=home / "data",
            localstore_cache_dir=home / "cache",
            localstore_config_dir=home / "config",
            cognitive_memory={"capture": {"log_days": KEEP_OLD_DATES}},
        )
        nonebot.get_driver().register_adapter(Adapter)
        for plugin in ("nonebot_plugin_cognitive_memory", "companion"):
            if nonebot.load_plugin(plugin) is None:
                raise SystemExit(f"插件 {plugin} 没能加载，原因见上面的日志")

    @property
    def url(self) -> str:
        """Return the URL to which a OneBot client connects."""
        return f"ws://{HOST}:{self.port}/onebot/v11/ws"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve during the ``with`` block."""
        config = uvicorn.Config(nonebot.get_asgi(), log_config=None, log_level="warning", lifespan="on")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[self._listener]))
        try:
            yield  # clients that connect earlier wait in the listener's backlog
        finally:
            server.should_exit = True
            await serving


def hush(level: str) -> None:
    """Log nothing below this level."""
    nonebot.logger.configure(extra={"nonebot_log_level": level})
