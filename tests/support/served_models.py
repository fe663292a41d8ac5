"""A model server that runs in a thread beside a command that blocks, and the lines of .env that name its models."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

from .model_server import ModelServer, Reply


@contextmanager
def served(prepare: Callable[[ModelServer], None]) -> Iterator[str]:
    """Run a scripted model server in a thread; yield its address."""
    ready, over = threading.Event(), asyncio.Event()
    seen = SimpleNamespace(url="", loop=None)

    async def serve() -> None:
        async with ModelServer() as server:
            prepare(server)
            seen.url, seen.loop = server.url, asyncio.get_running_loop()
            ready.set()
            await over.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(30)
    try:
        yield seen.url
    finally:
        assert seen.loop is not None
        seen.loop.call_soon_threadsafe(over.set)
        thread.join(30)


def model(role: str, url: str, **more: object) -> list[str]:
    """Return the lines of .env that set a model."""
    keys = {"api_url": url, "api_key": "sk-canary", "model_name": "some-model", **more}
    return [f"COGNITIVE_MEMORY__MODELS__{role.upper()}__{key.upper()}={value}" for key, value in keys.items()]


def script(kind: str, *answers: Callable[..., Reply]) -> Callable[[ModelServer], None]:
    """Return a preparation that lets one endpoint answer as given."""
    return lambda server: setattr(server, kind, list(answers))


MISSING = b'{"error": {"code": "model_not_found", "message": "The model `some-model` does not exist"}}'
