"""``capture.auto_consider``: what people say to the bot is handed to the historian, also where nobody calls ``end``.

Lines gather by place until there are enough of them, or until it has been quiet for a while. They stay gathered
until the memory has taken them, and leave early when a chat plugin records their turn.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field

from nonebot import get_driver, logger

import cognitive_memory_core as core

from . import replies
from .config import setup
from .lifecycle import get_memory

PLACES = 500
LINES = 200  # of one place
GRACE = 30.0  # seconds that a chat plugin has to record the newest turn itself
RETRY = 60.0  # seconds after the memory refused


@dataclass
class Stretch:
    """What was said in one place since it was last considered; times are of the considerer's clock."""

    scene: core.Scene
    lines: OrderedDict[str, core.Message] = field(default_factory=OrderedDict)
    touched_at: float = 0.0
    not_before: float = 0.0

    @property
    def said(self) -> int:
        """How many lines people said; the bot's own only give them sense."""
        return sum(not line.is_bot for line in self.lines.values())

    def add(self, line: core.Message) -> None:
        """Take a line, dropping the oldest over the bound."""
        self.lines[line.id] = line
        if len(self.lines) > LINES:
            self.lines.popitem(last=False)

    def drop(self, line_ids: Collection[str]) -> None:
        """Leave lines out."""
        for line_id in line_ids:
            self.lines.pop(line_id, None)


class Considerer:
    """Gathers lines and hands them over. ``clock`` counts seconds from anywhere."""

    def __init__(
        self,
        memory: Callable[[], core.CognitiveMemory],
        capture: core.CaptureSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing gathered."""
        self._memory = memory
        self._capture = capture
        self._clock = clock
        self._stretches: OrderedDict[Hashable, Stretch] = OrderedDict()
        self._changed = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    def note(self, line: core.Message) -> None:
        """Gather a line, where the settings want it."""
        if not self._is_wanted(line):
            return
        stretch = self._stretches.setdefault(line.scene.scope, Stretch(line.scene))
        stretch.add(line)
        if not line.is_bot:
            stretch.scene, stretch.touched_at = line.scene, self._clock()
        self._stretches.move_to_end(line.scene.scope)
        if len(self._stretches) > PLACES:
            self._stretches.popitem(last=False)
        self._changed.set()

    def learned(self, scene: core.Scene, line_ids: Collection[str]) -> None:
        """Leave out lines whose turn is recorded, or that were withdrawn."""
        stretch = self._stretches.get(scene.scope)
        if stretch is None:
            return
        stretch.drop(line_ids)
        if not stretch.said:
            del self._stretches[scene.scope]
