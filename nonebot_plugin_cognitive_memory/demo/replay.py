"""Plays a conversation line by line, each after the bot has handled the one before."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable

from client import OneBotClient
from nonebot.adapters.onebot.v11 import Event, MessageEvent
from transcript import TranscriptLine

PATIENCE = 90.0  # seconds per line; the first turns wait while the memory opens


class Replay:
    """Sends lines through a client and waits until the bot has handled each."""

    def __init__(self, client: OneBotClient) -> None:
        """Replay through a client."""
        self._client = client
        self._handled: dict[int, asyncio.Event] = {}

    def note_handled(self, event: Event) -> None:
        """Record that the bot has handled an event, so that the next line may follow."""
        if isinstance(event, MessageEvent) and (waiting := self._handled.get(event.message_id)):
            waiting.set()

    async def play(self, lines: Iterable[TranscriptLine], progress: ReplayProgress) -> int:
        """Send all lines; return how many the bot handled in time."""
        done = 0
        for line in lines:
            done += await self.say(line)
            progress.step()
        return done

    async def say(self, line: TranscriptLine) -> bool:
        """Send one line and wait until the bot has handled it; return False after the time limit."""
        handled = self._handled[line.number] = asyncio.Event()
        await self._client.send(line)
        try:
            await asyncio.wait_for(handled.wait(), PATIENCE)
        except asyncio.TimeoutError:  # a different class on Python 3.10
            return False
        finally:
            del self._handled[line.number]
        return True


class ReplayProgress:
    """A progress bar on a terminal; elsewhere one printed line per quarter."""

    WIDTH = 32

    def __init__(self, total: int) -> None:
        """Start at zero."""
        self._total = total
        self._done = 0
        self._live = sys.stdout.isatty()

    def step(self) -> None:
        """Advance by one."""
        self._done += 1
        if self._live:
            filled = self.WIDTH * self._done // self._total
            bar = "█" * filled + "░" * (self.WIDTH - filled)
            print(f"\r   {bar} {self._done}/{self._total}", end="" if self._done < self._total else "\n", flush=True)
        elif self._done * 4 // self._total > (self._done - 1) * 4 // self._total:
            print(f"   {self._done}/{self._total}", flush=True)
