"""Answers one HTTP request of the protocol's streamable transport, without a session and without a stream."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from importlib import import_module
from typing import Any

from .exchange import Exchange
from .sdk import sdk_server

LONGEST = 256 * 1024  # bytes of a request
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


async def answer_http(exchange: Exchange, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one ASGI request by a server of its own, so that no answer can reach another caller.

    Only POST is served: there is no session to end, and nothing to stream. The caller must authenticate the request.
    """
    if scope["method"] != "POST":
        await _refuse(send, 405, (b"allow", b"POST"))
        return
    body = await _body(receive)
    if body is None:
        await _refuse(send, 413)
        return
    transport = import_module("mcp.server.streamable_http_manager")
    manager = transport.StreamableHTTPSessionManager(app=sdk_server(exchange), json_response=True, stateless=True)
    async with manager.run():
        await manager.handle_request(scope, _replayed(body, receive), send)


async def _body(receive: Receive) -> bytes | None:
    """Read the whole body; None if it is longer than ``LONGEST``, or if the client disconnected."""
    body, has_more = b"", True
    while has_more:
        message = await receive()
        body += message.get("body", b"")
        if message["type"] != "http.request" or len(body) > LONGEST:
            return None
        has_more = bool(message.get("more_body", False))
    return body


def _replayed(body: bytes, receive: Receive) -> Receive:
    unread = [body]

    async def replay() -> MutableMapping[str, Any]:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        return await receive()

    return replay


async def _refuse(send: Send, status: int, *headers: tuple[bytes, bytes]) -> None:
    headers = ((b"content-length", b"0"), *headers)
    await send({"type": "http.response.start", "status": status, "headers": list(headers)})
    await send({"type": "http.response.body", "body": b""})
