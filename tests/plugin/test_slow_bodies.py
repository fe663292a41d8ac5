"""Tests of clients that send a request's body slowly or never: they are given up, and shut out nobody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from nonebug import App

from .console_stage import Console, console
from .web import TOKEN, client

FORM = "Sec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded"
LOGIN = f"POST /memory/console/login HTTP/1.1\r\n{FORM}"
PINS = "POST /memory/pins HTTP/1.1\r\nContent-Type: application/json"
WRONG = f"{PINS}\r\nAuthorization: Bearer wrong"
OPERATORS = f"{PINS}\r\nAuthorization: Bearer {TOKEN}"


@dataclass
class SlowClients:
    """Connections that sent half of a request's body."""

    console: Console
    opened: list[asyncio.StreamWriter] = field(default_factory=list)

    async def send(self, request: str) -> asyncio.StreamReader:
        """Send half of a request; return what reads the answer."""
        reading, writing = await asyncio.open_connection("127.0.0.1", _port(self.console))
        self.opened.append(writing)
        writing.write(f"{request}\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nhalf".encode())
        return reading


@asynccontextmanager
async def slow_clients(folder: Path) -> AsyncGenerator[SlowClients, None]:
    """Serve a console for slow clients, which leave at the end."""
    async with console(folder / "data") as shown:
        clients = SlowClients(shown)
        yield clients
        for writing in clients.opened:
            writing.close()


async def ended(reading: asyncio.StreamReader) -> int:
    """Return the status of an answer after which the connection was closed, although the body is unfinished."""
    return int((await asyncio.wait_for(reading.read(), 60)).split(b" ", 2)[1])


@pytest.mark.parametrize(("request_line", "status"), [(LOGIN, 408), (OPERATORS, 408), (WRONG, 401)])
async def test_a_body_that_does_not_come_is_given_up(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request_line: str, status: int
) -> None:
    """A half-sent request is answered after the deadline, or at once if its body is not wanted, and disconnected."""
    from nonebot_plugin_cognitive_memory.http import gates

    monkeypatch.setattr(gates, "SECONDS", 0.05)
    async with slow_clients(tmp_path) as clients:
        assert await ended(await clients.send(request_line)) == status


async def test_slow_clients_shut_out_nobody(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more half-sent log-ins than the bound the oldest are given up; log-ins and the operator's requests go on."""
    from nonebot_plugin_cognitive_memory.http import gates

    monkeypatch.setattr(gates, "MOST", 3)
    monkeypatch.setattr(gates, "SECONDS", 3_600.0)
    async with slow_clients(tmp_path) as clients:
        slow, shown = [await clients.send(LOGIN) for _ in range(9)], clients.console
        assert [await ended(one) for one in slow[:6]] == [408] * 6
        async with shown.visited() as visitor, client(_port(shown)) as asking:
            assert "<h1" in await visitor.look("/memories")
            for _ in range(9):
                pin = {"text": "记得带伞", "user_id": "2000001"}
                assert (await asking.post("/pins", json=pin)).status_code == 200
        assert not slow[-1].at_eof()


def _port(shown: Console) -> int:
    return int(shown.address.split(":")[2].split("/")[0])


async def test_a_body_that_came_with_its_head_is_never_given_up(app: App) -> None:
    """A whole body is read though more slow clients than a reader waits for come in the same turn of the loop."""
    from nonebot_plugin_cognitive_memory.http import gates

    read = gates.body_reader()

    async def came() -> dict[str, Any]:
        return {"type": "http.request", "body": b"secret=x"}

    async def waiting() -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    operator = asyncio.create_task(read(came))
    others = [asyncio.create_task(read(waiting)) for _ in range(gates.MOST + 1)]
    assert await operator == b"secret=x"
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
