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
from typing import Any

import nonebot
import uvicorn
from nonebot.adapters.onebot.v11 import Adapter, Event, MessageEvent
from transcript import Place, Transcript, TranscriptLine
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

HOST = "127.0.0.1"
STARTING = 30.0  # seconds for a bot to start
PATIENCE = 90.0  # seconds per line; the first turns wait while the memory opens
FIRST_OWN_NUMBER = 1_000_000  # above the numbers of a transcript's lines
KEEP_OLD_DATES = 36_500  # days: a replayed conversation keeps its dates, and its log must not be pruned


class OneBotClient:
    """A OneBot v11 client over a reverse WebSocket: sends the lines of every person and answers the bot's calls."""

    def __init__(self, wire: ClientConnection, transcript: Transcript) -> None:
        """Use an open connection; the lines of the transcript are numbered in their order, later ones after them."""
        self._wire = wire
        self._transcript = transcript
        self._numbers = {line.id: number for number, line in enumerate(transcript.messages, 1)}
        self._known = dict(zip(self._numbers.values(), transcript.messages, strict=True))
        self._own_numbers = count(FIRST_OWN_NUMBER)
        self._handled: dict[int, asyncio.Event] = {}
        self._said: list[tuple[int, str]] = []  # the number of a place, and what the bot said there

    async def say(self, line: TranscriptLine) -> bool:
        """Send a line as a person's message, with the line's own time; return whether the bot handles it in time."""
        number, place = self._numbers.setdefault(line.id, len(self._numbers) + 1), self._transcript.place_of(line)
        handled = self._handled[number] = asyncio.Event()
        self._known[number] = line
        group = {"group_id": place.number, "group_name": place.name} if place.kind == "group" else {}
        await self.push(
            post_type="message",
            sub_type="normal" if group else "friend",
            user_id=line.user_id,
            raw_message=line.text,
            font=0,
            **group,
            **self._content(line),
        )
        try:
            await asyncio.wait_for(handled.wait(), PATIENCE)
        except asyncio.TimeoutError:  # a different class on Python 3.10
            return False
        return True

    async def note_handled(self, event: Event) -> None:
        """Record that every plugin has handled an event, so that the next line may follow."""
        if isinstance(event, MessageEvent) and (waiting := self._handled.pop(event.message_id, None)):
            waiting.set()

    def replies_in(self, place: Place) -> list[str]:
        """Return what the bot said in a place so far."""
        return [text for number, text in self._said if number == place.number]

    async def push(self, **event: Any) -> None:
        """Send an event to the bot."""
        await self._wire.send(json.dumps({"self_id": self._transcript.bot.user_id, **event}, ensure_ascii=False))

    async def listen(self) -> None:
        """Answer the bot's calls until the connection ends."""
        async for frame in self._wire:
            call = json.loads(frame)
            answer = self._answer(call["action"], call["params"])
            await self._wire.send(json.dumps({"status": "ok", "retcode": 0, "data": answer, "echo": call["echo"]}))

    def _answer(self, action: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if action == "get_msg":
            return self._content(self._known[int(params["message_id"])])
        if not action.startswith("send_"):
            return {}
        text = "".join(part["data"]["text"] for part in params["message"] if part["type"] == "text")
        self._said.append((int(params.get("group_id") or params["user_id"]), text))
        return {"message_id": next(self._own_numbers)}

    def _content(self, line: TranscriptLine) -> Mapping[str, Any]:
        """Return what both an event and the answer about its message say."""
        number, kind = self._numbers[line.id], self._transcript.place_of(line).kind
        calling = f"@{self._transcript.bot.name}"
        replied = self._numbers.get(line.reply_to or "")
        reply = [{"type": "reply", "data": {"id": str(replied)}}] if replied else []
        mention = {"type": "at", "data": {"qq": str(self._transcript.bot.user_id)}}
        text = {"type": "text", "data": {"text": line.text.removeprefix(calling)}}
        return {
            "message_id": number,
            "real_id": number,
            "message_type": kind,
            "time": int(line.time.timestamp()),
            "message": [*reply, *([mention] if line.text.startswith(calling) else []), text],
            "sender": {"user_id": line.user_id, "nickname": line.name, "card": line.name * (kind == "group")},
        }


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

    @asynccontextmanager
    async def connected(self, transcript: Transcript) -> AsyncIterator[OneBotClient]:
        """Serve during the ``with`` block, with a client for the people of a transcript."""
        config = uvicorn.Config(nonebot.get_asgi(), log_config=None, log_level="warning", lifespan="on")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[self._listener]))
        url, headers = f"ws://{HOST}:{self.port}/onebot/v11/ws", {"X-Self-ID": str(transcript.bot.user_id)}
        own = socket.create_connection((HOST, self.port))  # our own socket, so that no proxy is used
        wire = await connect(url, additional_headers=headers, max_size=None, open_timeout=STARTING, sock=own)
        client = OneBotClient(wire, transcript)
        listening = asyncio.create_task(client.listen())
        await client.push(post_type="meta_event", meta_event_type="lifecycle", sub_type="connect", time=0)
        try:
            yield client
        finally:
            listening.cancel()
            with suppress(ConnectionClosed):
                await wire.close()
            server.should_exit = True
            await serving


def hush(level: str) -> None:
    """Log nothing below this level."""
    nonebot.logger.configure(extra={"nonebot_log_level": level})
