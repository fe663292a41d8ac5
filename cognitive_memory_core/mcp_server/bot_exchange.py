"""Passes the protocol's methods on to a running bot, whose answer is returned."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import cast
from urllib.parse import quote

import httpx

from .. import sentences
from ..domain.scope import Scene
from ..errors import MistakeError, UnavailableError
from ..models.client import member
from .exchange import Exchange, Json

PATH = "/memory/mcp"
USER_HEADER, GROUP_HEADER = "x-memory-user", "x-memory-group"
PROTOCOL = "2025-06-18"
PATIENCE = 60.0  # seconds; a model of the bot's may take part in an answer
REFUSALS: Mapping[int, str] = {
    401: sentences.command_line.BOT_REFUSES_US,
    403: sentences.command_line.BOT_REFUSES_US,
    404: sentences.command_line.BOT_SERVES_NO_AGENTS,
}


def bot_exchange(url: str, token: str, scene: Scene) -> Exchange:
    """Return a function that forwards requests to the bot at ``url`` (scheme, host and port), always in one scene.

    Person and place are sent as headers. The function raises UnavailableError, or MistakeError if the bot rejects the
    request.
    """
    address, numbers = url.rstrip("/") + PATH, count(1)
    headers = {
        "authorization": f"Bearer {token}",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": PROTOCOL,
        USER_HEADER: quote(scene.user_id),
        **({GROUP_HEADER: quote(scene.group_id)} if scene.group_id else {}),
    }

    async def ask(method: str, params: Json) -> Json:
        request = {"jsonrpc": "2.0", "id": next(numbers), "method": method, "params": params}
        try:
            async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
                answer = await client.post(address, json=request, headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL) as unreachable:
            raise UnavailableError(sentences.command_line.BOT_IS_SILENT.format(url=address)) from unreachable
        if not answer.is_success:
            refusal = REFUSALS.get(answer.status_code)
            raise UnavailableError(refusal or sentences.command_line.BOT_ANSWERS.format(status=answer.status_code))
        try:
            body = cast("object", answer.json())
        except ValueError:
            body = None
        if isinstance(result := member(body, "result"), dict):
            return cast("Json", result)
        if message := member(member(body, "error"), "message"):
            raise MistakeError(str(message))
        raise UnavailableError(sentences.command_line.BOT_SERVES_NO_AGENTS)

    return ask
