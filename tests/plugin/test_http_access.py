"""Tests of who reaches the HTTP interface: token, Host, content type, rate."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from fastapi import FastAPI
from nonebug import App

from .web import TOKEN, client, served


def a_site(memory: Any = None, **settings: Any) -> Any:
    """Return the interface over a memory, by default the bot's own."""
    import cognitive_memory_core as core
    from nonebot_plugin_cognitive_memory import get_memory
    from nonebot_plugin_cognitive_memory.http.routes import Backing
    from nonebot_plugin_cognitive_memory.http.site import Site

    in_force = core.Settings.from_mapping(settings)
    return Site(TOKEN, in_force.http.hosts, Backing(get_memory if memory is None else lambda: memory, lambda: in_force))


def mounted(site: Any) -> FastAPI:
    """Return an application of a bot with the interface on it."""
    app = FastAPI()
    app.mount("/memory", site.app)
    return app


@pytest.fixture
async def port(app: App) -> AsyncGenerator[int, None]:
    """Serve the interface of the bot."""
    async with served(mounted(a_site(http={"hosts": "memory.example.com"}))) as at:
        yield at


async def raw(port: int, *lines: str | bytes, body: bytes = b"") -> tuple[int, str]:
    """Send a request as it is written; return status and answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = b"".join((line.encode() if isinstance(line, str) else line) + b"\r\n" for line in lines)
    writer.write(head + b"Connection: close\r\n\r\n" + body)
    await writer.drain()
    answer = await reader.read()
    writer.close()
    return int(answer.split(b" ", 2)[1]), answer.decode("utf-8", "replace")


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN} {TOKEN}",
        "Bearer 令牌",
        b"Bearer \xff\xfe",
        f"Bearer {TOKEN.upper()}",
    ],
)
async def test_without_the_token_nothing_is_answered(port: int, header: str | bytes | None) -> None:
    """Without exactly the token in the header every path is answered with 401, also unknown ones and the document."""
    given = [] if header is None else [b"Authorization: " + (header.encode() if isinstance(header, str) else header)]
    for path in ("status", "openapi.json", "nowhere", f"status?token={TOKEN}", ""):
        status, answer = await raw(port, f"GET /memory/{path} HTTP/1.1", "Host: 127.0.0.1", *given)
        assert status == 401, (path, answer)
        assert "令牌" in answer


async def test_with_the_token(port: int) -> None:
    """With the token the status is answered, whatever the case of the scheme's name; answers are never cached."""
    async with client(port) as asking:
        for scheme in ("Bearer", "bearer"):
            answer = await asking.get("/status", headers={"Authorization": f"{scheme} {TOKEN}"})
            assert (answer.status_code, answer.json()["status"]["is_running"]) == (200, True)
            assert answer.headers["cache-control"] == "no-store"


HOSTS = [
    (["localhost"], 200),
    (["localhost:8080"], 200),
    (["LOCALHOST."], 200),
    (["bot.localhost"], 200),
    (["10.0.0.7:8080"], 200),
    (["[::1]:8080"], 200),
    (["memory.example.com"], 200),
    (["Memory.Example.com:443"], 200),
    (["evil.example.com"], 400),
    (["memory.example.com.evil.com"], 400),
    (["xmemory.example.com"], 400),
    (["127.0.0.1.evil.com"], 400),
    (["127.0.0.1/status"], 400),
    (["127.0.0.1?"], 400),
    (["127.0.0.1#"], 400),
    (["127.0.0.1@evil.com"], 400),
    (["evil.com:127.0.0.1"], 400),
    ([""], 400),
    ([], 400),
    (["127.0.0.1", "evil.com"], 400),
]


async def test_hosts(port: int) -> None:
    """Only addresses, localhost and the listed names are answered; a rebound name or a path in its place is refused."""
    for hosts, status in HOSTS:
        lines = [f"Host: {host}" for host in hosts]
        found, answer = await raw(port, "GET /memory/status HTTP/1.1", *lines, f"Authorization: Bearer {TOKEN}")
        assert found == status, (hosts, answer)
