"""Reads the bodies of requests, which may be neither large nor slow."""

from __future__ import annotations

import asyncio

from starlette.types import Receive

LARGEST = 256 * 1024  # bytes
READ = 4 * LARGEST  # bytes read before a refusal: a connection closed upon unread bytes may lose the answer
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
    body, size, more = b"", 0, True
    while more and size <= READ:
        message = await receive()
        if message["type"] != "http.request":
            return 408
        part = message.get("body", b"")
        size += len(part)
        body = body + part if size <= LARGEST else b""
        more = message.get("more_body", False)
    return body if size <= LARGEST else 413
