"""Tests that background operations of the queue let foreground ones go first."""

from __future__ import annotations

import asyncio
import contextlib

from cognitive_memory_core.queue.write_priority import WritePriority

MANY = 1_000_000


async def test_the_background_waits_while_a_write_is_under_way() -> None:
    """A background step waits until a running foreground write has ended."""
    priority = WritePriority(quiet_seconds=0.0, max_checks=MANY)
    with priority.interactive():
        step = asyncio.create_task(priority.background_turn())
        for _ in range(20):
            await asyncio.sleep(0)
        assert not step.done()
    await step


async def test_the_background_never_starves() -> None:
    """A background step continues after a few attempts even if writes never end."""
    priority = WritePriority(quiet_seconds=0.0, max_checks=3)
    with priority.interactive():
        await priority.background_turn()


async def test_a_burst_is_let_through_as_a_whole() -> None:
    """A background step waits until no write has ended recently."""
    priority = WritePriority(quiet_seconds=3600.0, max_checks=MANY)
    with priority.interactive():
        pass
    step = asyncio.create_task(priority.background_turn())
    await asyncio.sleep(0)
    assert not step.done()
    step.cancel()


async def test_nobody_waits_where_nothing_is_under_way() -> None:
    """Without a write before it, a background step continues at once."""
    step = asyncio.create_task(WritePriority(quiet_seconds=3600.0, max_checks=MANY).background_turn())
    await asyncio.sleep(0)
    assert step.done()


async def refused() -> None:
    """Write on a disk that refuses."""
    raise OSError


async def test_a_write_that_fails_gives_the_way_free() -> None:
    """A failed write does not block background steps."""
    priority = WritePriority(quiet_seconds=0.0, max_checks=MANY)
    with contextlib.suppress(OSError), priority.interactive():
        await refused()
    await priority.background_turn()
