"""The loop of whoever works in the background when there is something to do, and rests when it fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from ..errors import BadAnswer, UnavailableError
from .retry import described
from .signals import signalled

log = logging.getLogger(__name__)
GATHERED = 0.1  # seconds in which what is new comes together: a call and a commit cost the same for one and for many
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0


class Rounds:
    """Does one round after another, and the next when nudged; ``last_error`` is why the last one failed, or ""."""

    def __init__(self, name: str, work: Callable[[], Awaitable[float]], *, first_pause: float = FIRST_PAUSE) -> None:
        """Let ``work`` do a round; it answers how many seconds to rest unless nudged, 0 to go on at once."""
        self._first_pause = first_pause
        self._name = name
        self._work = work
        self._wake = asyncio.Event()
        self._hurry = asyncio.Event()
        self.last_error = ""

    def nudge(self) -> None:
        """Do a round soon."""
        self._wake.set()

    def hurry(self) -> None:
        """Do a round now."""
        self._hurry.set()
        self._wake.set()

    async def run(self) -> None:
        """Work until cancelled; only cancellation escapes. What fails is tried again after a growing pause."""
        pause = self._first_pause
        while True:
            try:
                rest = await self._work()
                pause, self.last_error = self._first_pause, ""
                await self._rest(rest)
            except Exception as error:  # noqa: BLE001  # the loop runner: one bad round must not end the work
                self._complain(error)
                await asyncio.sleep(min(max(pause, _wished(error)), LONGEST_PAUSE))
                pause = min(pause * 2, LONGEST_PAUSE)

    async def _rest(self, seconds: float) -> None:
        if seconds:
            await signalled(self._wake, seconds)
            await signalled(self._hurry, GATHERED)
            self._wake.clear()  # what came meanwhile is seen by the next round

    def _complain(self, error: Exception) -> None:
        if (said := described(error)) != self.last_error:
            log.warning("%s: %s", self._name, said)
        self.last_error = said


def _wished(error: Exception) -> float:
    return (error.retry_after if isinstance(error, UnavailableError | BadAnswer) else None) or 0.0
