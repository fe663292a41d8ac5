"""Waiting that a cancellation always ends."""

from __future__ import annotations

import asyncio


async def signalled(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, at most so long; tells whether it came, and clears it.

    ``asyncio.wait_for`` loses a cancellation that comes together with the event, before Python 3.12.
    """
    waiter = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({waiter}, timeout=seconds)
    finally:
        waiter.cancel()
    came = event.is_set()
    event.clear()
    return came
