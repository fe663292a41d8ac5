"""``cognitive-memory mcp``: serves the memory of one scene to an MCP client over standard input and output.

While a bot owns the data directory, every request goes to the bot over HTTP; otherwise this process opens the
directory itself, and releases it when it is idle.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any
from urllib.parse import urlunsplit

from .. import mcp_server, sentences
from ..domain.ids import checked_id
from ..domain.scope import Scene
from ..errors import CognitiveMemoryError, DirectoryInUse, UnavailableError
from ..mcp_server.bot_exchange import bot_exchange
from ..memory.cognitive_memory import CognitiveMemory
from ..tools import ToolCaller, failure
from .bot_directory import BotDirectory, owning
from .parser import DONE, refuse

PORT = "8080"  # NoneBot's own default
IDLE = 3.0  # seconds without a use; a bot that starts waits for its directory at least 5
SETTLING = 5.0  # seconds that waiting jobs get before the memory is released; the rest stay queued


async def serve(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Answer a client until it closes standard input."""
    if not mcp_server.is_installed():
        return refuse(sentences.command_line.MCP_IS_MISSING)
    agent, user_id = bot.settings.agent, checked_id(arguments.user, "--user")
    if arguments.group:
        scene = Scene.group(checked_id(arguments.group, "--group"), user_id, agent=agent)
    else:
        scene = Scene.private(user_id, agent=agent)
    host = bot.value("host").strip() or "127.0.0.1"
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # is compared, not listened on
    host = f"[{host}]" if ":" in host else host
    here = urlunsplit(("http", f"{host}:{bot.value('port').strip() or PORT}", "", "", ""))
    exchange = DirectoryExchange(bot, scene, arguments.url or here)
    try:
        await mcp_server.serve_stdio(exchange.answer)
    finally:
        await exchange.close()
    return DONE


class DirectoryExchange:
    """Answers an MCP client, over HTTP by the bot that owns the data directory, or by opening the directory itself.

    The memory stays open between uses that follow each other closely; it answers one request at a time.
    """

    def __init__(self, bot: BotDirectory, scene: Scene, url: str) -> None:
        """Answer in ``scene``; ``url`` is where the bot listens."""
        _ = bot.data_dir  # raises BadArgument at once if it is not known
        self._bot, self._scene, self._settings = bot, scene, bot.settings
        token = self._settings.http.token.get_secret_value().strip()
        self._ask_bot = bot_exchange(url, token, scene) if token else None
        self._turn, self._stack = asyncio.Lock(), AsyncExitStack()
        self._memory: CognitiveMemory | None = None
        self._releasing: asyncio.Task[None] | None = None

    async def answer(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer a request; if the memory refuses a tool call, the answer says why.

        For any other request that the memory refuses, CognitiveMemoryError is raised.
        """
        if (described := mcp_server.description(method)) is not None:
            return described
        try:
            with suppress(DirectoryInUse):
                return await self._answer_here(method, params)
            if self._ask_bot is None:
                raise UnavailableError(sentences.command_line.BOT_SERVES_NO_HTTP)
            return await self._ask_bot(method, params)
        except CognitiveMemoryError as refused:
            if method != "tools/call":
                raise
            return mcp_server.called(failure(str(refused)))

    async def close(self) -> None:
        """Release the directory at once."""
        async with self._turn:
            if self._releasing:
                self._releasing.cancel()
            await self._release()

    async def _answer_here(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer from the memory, after opening it if it is closed; raises DirectoryInUse while a bot owns it."""
        async with self._turn:
            if self._releasing:
                self._releasing.cancel()
            if self._memory is None:
                opening = owning(self._bot, creates=self._bot.given_dir is not None, background=True)
                self._memory = await self._stack.enter_async_context(opening)
            try:
                caller = ToolCaller(self._memory, self._scene, self._settings)
                return await mcp_server.memory_exchange(caller)(method, params)
            finally:
                self._releasing = asyncio.create_task(self._release_when_idle())

    async def _release_when_idle(self) -> None:
        await asyncio.sleep(IDLE)
        async with self._turn:
            await self._release()

    async def _release(self) -> None:
        if self._memory is not None:
            await self._memory.drain(SETTLING)
            self._memory = None
            await self._stack.aclose()
