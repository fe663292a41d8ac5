"""Plays a conversation, line after line, each when the bot is through with the one before."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable

from client import OneBotClient
from nonebot.adapters.onebot.v11 import Event, MessageEvent
from transcript import Line

PATIENCE = 90.0  # seconds for one line; the first turns wait while the memory opens


class Replay:
    """Lets a client say lines, and knows when the bot has handled each."""

    def __init__(self, client: OneBotClient) -> None:
        """Speak through a client."""
        self._client = client
        self._handled: dict[int, asyncio.Event] = {}

    def note_handled(self, event: Event) -> None:
        """Take note that the bot is through with an event."""
        if isinstance(event, MessageEvent) and (waiting := self._handled.get(event.message_id)):
            waiting.set()

    async def play(self, lines: Iterable[Line], progress: Progress) -> int:
        """Say all lines; return how many the bot was through with in time."""
        done = 0
        for line in lines:
            done += await self.say(line)
            progress.step()
        return done

    async def say(self, line: Line) -> bool:
        """Say one line and wait until the bot is through with it."""
        handled = self._handled[line.number] = asyncio.Event()
        await self._client.send(line)
        try:
            await asyncio.wait_for(handled.wait(), PATIENCE)
        except asyncio.TimeoutError:  # another class on Python 3.10
            return False
        finally:
            del self._handled[line.number]
        return True


class Progress:
    """A bar on a terminal; a line at each quarter where there is none."""

    WIDTH = 32

    def __init__(self, total: int) -> None:
        """Begin at nothing."""
        self._total = total
        self._done = 0
        self._live = sys.stdout.isatty()

    def step(self) -> None:
        """Go on by one."""
        self._done += 1
        if self._live:
            filled = self.WIDTH * self._done // self._total
            bar = "█" * filled + "░" * (self.WIDTH - filled)
            print(f"\r   {bar} {self._done}/{self._total}", end="" if self._done < self._total else "\n", flush=True)
        elif self._done * 4 // self._total > (self._done - 1) * 4 // self._total:
            print(f"   {self._done}/{self._total}", flush=True)
