"""Asks the bot that owns a data directory, over HTTP, in the protocol that AI agents speak (MCP)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, cast
from urllib.parse import quote

import httpx

from .. import sentences
from ..errors import MistakeError, UnavailableError

PATH = "/memory/mcp"
USER_HEADER, GROUP_HEADER = "x-memory-user", "x-memory-group"
PROTOCOL = "2025-06-18"
PATIENCE = 60.0  # seconds; a model of the bot's may take part in an answer
REFUSALS: Mapping[int, str] = {
    401: sentences.command_line.BOT_REFUSES_US,
    403: sentences.command_line.BOT_REFUSES_US,
    404: sentences.command_line.BOT_SERVES_NO_AGENTS,
}


class BotClient:
    """Forwards MCP requests to a bot; the person and the place are sent as headers with every request."""

    def __init__(self, url: str, token: str, *, user_id: str, group_id: str) -> None:
        """Ask the bot at ``url`` (scheme, host and port) with its token; connects at the first request."""
        place = {USER_HEADER: user_id, **({GROUP_HEADER: group_id} if group_id else {})}
        self._url = url.rstrip("/") + PATH
        self._headers = {
            "authorization": f"Bearer {token}",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": PROTOCOL,
            **{name: quote(value) for name, value in place.items()},
        }
        self._numbers = count(1)

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the result of a request; raises UnavailableError, or MistakeError if the bot rejects the request."""
        request = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params}
        try:
            async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
                answer = await client.post(self._url, json=request, headers=self._headers)
        except (httpx.HTTPError, httpx.InvalidURL) as unreachable:
            raise UnavailableError(sentences.command_line.BOT_IS_SILENT.format(url=self._url)) from unreachable
        return _result(answer)


def _result(answer: httpx.Response) -> Mapping[str, Any]:
    if not answer.is_success:
        refusal = REFUSALS.get(answer.status_code)
        raise UnavailableError(refusal or sentences.command_line.BOT_ANSWERS.format(status=answer.status_code))
    try:
        body = cast("object", answer.json())
    except ValueError as strange:
        raise UnavailableError(sentences.command_line.BOT_SERVES_NO_AGENTS) from strange
    if not isinstance(body, dict):
        raise UnavailableError(sentences.command_line.BOT_SERVES_NO_AGENTS)
    members = cast("dict[str, Any]", body)
    if isinstance(result := members.get("result"), dict):
        return cast("Mapping[str, Any]", result)
    error: object = members.get("error")
    message = cast("dict[str, Any]", error).get("message") if isinstance(error, dict) else None
    raise _Refused(str(message or sentences.command_line.BOT_SERVES_NO_AGENTS))


class _Refused(MistakeError):
    """The bot answered that the request is wrong."""
