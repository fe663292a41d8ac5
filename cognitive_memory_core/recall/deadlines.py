"""Timeouts for awaitables, and the errors after which a search continues without one of its parts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from ..errors import PermanentError, TransientError, UnavailableError
from ..ports.models import Embedder, Vector
from ..tasks import seen

PATIENCE = 5.0  # seconds that a read waits for a model or for another process
AWAY = (UnavailableError, TransientError, PermanentError, asyncio.TimeoutError)  # a part of an answer is missing
T = TypeVar("T")


async def with_timeout(seconds: float, awaitable: Awaitable[T]) -> T:
    """Return the result, or raise asyncio.TimeoutError after ``seconds``.

    A late awaitable is cancelled without waiting for its cancellation to finish.
    """
    task = asyncio.ensure_future(awaitable)
    if task.done():
        return task.result()
    task.add_done_callback(seen)
    try:
        done, _ = await asyncio.wait((task,), timeout=max(seconds, 0.0))
    finally:
        task.cancel()  # no effect on a finished task
    if not done:
        raise asyncio.TimeoutError
    return task.result()


async def vector_of(embedder: Embedder, said: str) -> Vector | None:
    """Return the vector of a query; None if the embedder is unavailable or late."""
    try:
        return await with_timeout(PATIENCE, embedder.embed_query(said))
    except AWAY:
        return None
