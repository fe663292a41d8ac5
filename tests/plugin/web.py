"""A web server on a real socket for the HTTP interface."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn

TOKEN = "a-token-for-this-test-alone"


@asynccontextmanager
async def served(app: Any, **options: Any) -> AsyncGenerator[int, None]:
    """Serve an application on loopback; yield the port."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", **options))
        task = asyncio.create_task(server.serve([listening]))
        while not server.started and not task.done():  # noqa: ASYNC110  # uvicorn offers no event
            await asyncio.sleep(0.01)
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            await task


def client(port: int, token: str | None = TOKEN, prefix: str = "/memory") -> httpx.AsyncClient:
    """Return a client of the interface on loopback."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}{prefix}", headers=headers, trust_env=False, timeout=60.0
    )
