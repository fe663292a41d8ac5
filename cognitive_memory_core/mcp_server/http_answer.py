"""Answers one HTTP request of the protocol's streamable transport, without a session and without a stream."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from importlib import import_module
from typing import Any

from .exchange import Exchange
from .sdk import sdk_server

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


async def answer_http(exchange: Exchange, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one ASGI request by a server of its own, so that no answer can reach another caller.

    Only POST is served: there is no session to end, and nothing to stream. The caller must authenticate the request and
    bound its body.
    """
    if scope["method"] != "POST":
        headers = [(b"content-length", b"0"), (b"allow", b"POST")]
        await send({"type": "http.response.start", "status": 405, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    transport = import_module("mcp.server.streamable_http_manager")
    manager = transport.StreamableHTTPSessionManager(app=sdk_server(exchange), json_response=True, stateless=True)
    async with manager.run():
        await manager.handle_request(scope, receive, send)
