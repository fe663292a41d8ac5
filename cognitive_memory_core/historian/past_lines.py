"""Past lines, handed in window by window."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from ..domain.job import QueueCounts
from ..errors import QueueFull, UnavailableError
from ..settings.schema import CaptureSettings, Live, Settings
from ..store.messages import MessageLog
from ..tasks import UNTIL_NUDGED, BackgroundLoop
from .intake import DIALOGUE_LINES, Intake

APART = timedelta(hours=1)  # silence after which another window begins
QUIET = 60.0  # seconds after the last past line: pages come newest first, and windows are considered oldest first
POLL = 2.0  # seconds between two looks whether the queue has room
SPENT = 600.0  # seconds between two looks whether the day's calls allow another window


@dataclass(eq=False)
class PastLines:
    """Submits past lines in windows as large as live ones, while no job waits and ``may_call`` allows it."""

    message_log: MessageLog
    intake: Intake
    settings: Live[Settings]
    counts: Callable[[], QueueCounts]
    may_call: Callable[[], bool]
    is_idle: bool = field(default=False, init=False)  # no line waits, or none may be considered now
    _quiet_at: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        """Prepare the loop."""
        self.loop = BackgroundLoop("past lines", self._round, debounce=0.0)

    def note_lines(self) -> None:
        """Wait until no more past lines come, then submit them."""
        self.is_idle = False
        self._quiet_at = time.monotonic() + QUIET
        self.loop.nudge()

    def wake_now(self) -> None:
        """Submit the next window now, if the queue is empty."""
        self._quiet_at = 0.0
        self.loop.wake_now()

    async def _round(self) -> float:
        capture = self.settings.current.capture
        if capture.auto_consider == "off" or not self.may_call():
            self.is_idle = True
            return SPENT
        counts, wait = self.counts(), self._quiet_at - time.monotonic()
        if wait > 0 or counts.pending + counts.processing:
            return max(wait, POLL)
        try:
            self.is_idle = not await self._submit_window(capture)
        except (QueueFull, UnavailableError):
            return QUIET
        return UNTIL_NUDGED if self.is_idle else POLL

    async def _submit_window(self, capture: CaptureSettings) -> bool:
        """Submit the oldest window, which ends at the first long silence; return False if no line waits."""
        waiting = await self.message_log.unconsidered(min(capture.consider_every, DIALOGUE_LINES))
        if not waiting:
            return False
        window = waiting[:1]
        for seq, line in waiting[1:]:
            if line.sent_at - window[-1][1].sent_at >= APART:
                break
            window.append((seq, line))
        lines = [line for _, line in window]
        scene = lines[-1].scene
        known = await self.intake.learned(scene, [line.id for line in lines])
        is_wanted = capture.auto_consider == "all" or scene.kind == "private"
        fresh = [line for line in lines if line.id not in known and (is_wanted or line.addressed_to_bot)]
        if shown := await self.message_log.shown(fresh):
            await self.intake.consider(shown[-1].scene, shown, is_past=True)
        await self.message_log.note_considered([seq for seq, _ in window])
        return True
