"""The lines of one place that wait to be handed to the memory as a dialogue, and the time when they are due."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import cognitive_memory_core as core

LINES = 200  # per dialogue
GRACE = 30.0  # seconds that a chat plugin has to record a turn itself


@dataclass(frozen=True)
class PendingLine:
    """A line by a person or the bot, and when it was heard, in seconds of the monotonic clock of the Considerer."""

    message: core.Message
    heard_at: float


@dataclass
class PendingLines:
    """The lines of one place that were not handed to the memory yet; they are not due before ``not_before``."""

    lines: OrderedDict[str, PendingLine] = field(default_factory=OrderedDict)
    not_before: float = 0.0

    @property
    def said_at(self) -> list[float]:
        """Return when each line by a person was heard; lines of the bot are omitted, because they are context only."""
        return list(_said_at(self.lines.values()))

    def add(self, message: core.Message, now: float) -> None:
        """Add a line."""
        self.lines[message.id] = PendingLine(message, now)

    def drop(self, line_ids: Collection[str]) -> None:
        """Remove lines."""
        for line_id in line_ids:
            self.lines.pop(line_id, None)

    def due_at(self, capture: core.CaptureSettings) -> float:
        """Return when the lines are due: some time after enough have come, else once the place has been quiet.

        Infinity if no person said any of them.
        """
        enough = min(capture.consider_every, LINES)
        is_enough = len(self.lines) >= enough  # else there is nothing to count, at each line that is heard
        is_enough_at = next(islice(_said_at(self.lines.values()), enough - 1, None), None) if is_enough else None
        last = next(_said_at(reversed(self.lines.values())), math.inf)
        due = last + _idle(capture) if is_enough_at is None else is_enough_at + _grace(capture)
        return max(due, self.not_before)

    def due_lines(self, now: float, capture: core.CaptureSettings) -> list[core.Message]:
        """Return the lines that are old enough to be handed to the memory.

        Younger lines wait, because a chat plugin may still record a turn that contains them.
        """
        latest = now - _grace(capture)
        return [line.message for line in self.lines.values() if line.heard_at <= latest]


def _said_at(lines: Iterable[PendingLine]) -> Iterator[float]:
    return (line.heard_at for line in lines if not line.message.is_bot)


def _grace(capture: core.CaptureSettings) -> float:
    return min(GRACE, _idle(capture))


def _idle(capture: core.CaptureSettings) -> float:
    return capture.consider_idle_minutes * 60
