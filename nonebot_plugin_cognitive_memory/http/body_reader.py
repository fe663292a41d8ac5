"""Reads the bodies of requests, which may be neither large nor slow."""

from __future__ import annotations

import asyncio

from starlette.types import Receive

LARGEST = 256 * 1024  # bytes
SECONDS = 10.0  # within which a body must have arrived
MOST = 64  # unfinished bodies of one reader


class BodyReader:
    """Reads bodies; beyond :data:`MOST` unfinished ones the oldest is given up, so that slow clients block no other."""

    def __init__(self) -> None:
        """Start without an unfinished body."""
        self._unfinished: dict[asyncio.Task[bytes | int], None] = {}

    async def read(self, receive: Receive) -> bytes | int:
        """Return a whole body, or the status of the refusal: 413 if it is too large, 408 if it did not arrive."""
        task = asyncio.create_task(_whole(receive))
        self._unfinished[task] = None
        if len(self._unfinished) > MOST:
            oldest = next(iter(self._unfinished))
            del self._unfinished[oldest]
            oldest.cancel()
        try:
            await asyncio.wait({task}, timeout=SECONDS)
            return task.result() if task.done() and not task.cancelled() else 408
        finally:
            task.cancel()
            self._unfinished.pop(task, None)


async def _whole(receive: Receive) -> bytes | int:
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return 408
        body += message.get("body", b"")
        if len(body) > LARGEST:
            return 413
        more = message.get("more_body", False)
    return body
