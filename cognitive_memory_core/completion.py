"""Work that a cancellation must not cut in two: releasing what is held, above all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


async def completed(work: Coroutine[Any, Any, T]) -> T:
    """Run work to its end in a task of its own; a cancellation, however often it comes, goes on only after that."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as asked:
            cancelled = asked
    if cancelled is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # retrieved: the cancellation is what the caller hears of
    raise cancelled


@asynccontextmanager
async def released_on_failure() -> AsyncGenerator[AsyncExitStack, None]:
    """Collect what is opened in the block; where it fails or is cancelled, all of it is released before that goes on.

    Where the block succeeds, the stack is the caller's to close.
    """
    stack = AsyncExitStack()
    try:
        yield stack
    except BaseException:
        await completed(stack.aclose())
        raise
