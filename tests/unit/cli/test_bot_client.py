"""Tests of requests to the bot that owns a directory: every refusal and failure becomes a sentence."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import MistakeError, UnavailableError
from cognitive_memory_core.mcp_server.bot_exchange import bot_exchange

TOKEN = "canary-token"


@contextmanager
def answering(status: int, body: bytes) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve one answer to every request; yield the address and what was asked."""
    asked: list[dict[str, Any]] = []

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append({**said, "path": self.path, "headers": dict(self.headers)})
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            serving.join()


async def test_the_place_is_sent_with_every_request() -> None:
    """A request carries the token, the person and the group in its headers, and the method in its body."""
    with answering(200, b'{"jsonrpc": "2.0", "id": 1, "result": {"content": []}}') as (url, asked):
        ask = bot_exchange(f"{url}/", TOKEN, Scene.group("10001", "u 1\u4e00"))
        assert await ask("tools/call", {"name": "memory_list"}) == {"content": []}
    headers = {name.lower(): value for name, value in asked[0]["headers"].items()}
    assert (asked[0]["path"], asked[0]["method"]) == ("/memory/mcp", "tools/call")
    assert headers["authorization"] == f"Bearer {TOKEN}"
    assert (headers["x-memory-user"], headers["x-memory-group"]) == ("u%201%E4%B8%80", "10001")


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [(401, b"", "令牌"), (404, b"", "MCP"), (500, b"", "500"), (200, b"<html>", "MCP"), (200, b"[]", "MCP")],
)
async def test_what_a_bot_refuses(status: int, body: bytes, said: str) -> None:
    """Any other answer is one sentence on what to do, without the token."""
    with answering(status, body) as (url, _), pytest.raises(UnavailableError, match=said) as refused:
        await bot_exchange(url, TOKEN, Scene.private("1"))("tools/call", {})
    assert TOKEN not in str(refused.value)


async def test_an_error_of_the_protocol() -> None:
    """An error of the protocol is the caller's mistake, with the bot's own words."""
    body = '{"error": {"code": -32002, "message": "没有这份侧写"}}'.encode()
    with answering(200, body) as (url, _), pytest.raises(MistakeError, match="没有这份侧写"):
        await bot_exchange(url, TOKEN, Scene.private("1"))("resources/read", {})


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "ftp://127.0.0.1", "no address"])
async def test_a_bot_that_cannot_be_reached(url: str) -> None:
    """An address where nobody answers, or that is none, is named."""
    with pytest.raises(UnavailableError, match="连不上"):
        await bot_exchange(url, TOKEN, Scene.private("1"))("tools/call", {})
