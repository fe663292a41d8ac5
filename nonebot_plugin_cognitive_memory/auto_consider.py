"""``capture.auto_consider``: what people say to the bot is handed to the historian, also where nobody calls ``end``.

Lines gather by place until there are enough of them, or until it has been quiet for a while. They stay gathered
until the memory has taken them, and leave early when a chat plugin records their turn.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Hashable, Sequence
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
    """What was said in one place and is not considered yet; times are of the considerer's clock."""

    scene: core.Scene
    lines: OrderedDict[str, core.Message] = field(default_factory=OrderedDict)
    touched_at: float = 0.0
    not_before: float = 0.0

    @property
    def said(self) -> int:
        """How many lines people said; the bot's own only give them sense."""
        return sum(not line.is_bot for line in self.lines.values())

    def add(self, line: core.Message, now: float) -> None:
        """Take a line; over the bound the oldest leaves."""
        self.lines[line.id] = line
        if not line.is_bot:
            self.scene, self.touched_at = line.scene, now
        if len(self.lines) > LINES:
            self.lines.popitem(last=False)

    def drop(self, line_ids: Collection[str]) -> None:
        """Leave lines out."""
        for line_id in line_ids:
            self.lines.pop(line_id, None)

    def due_at(self, capture: core.CaptureSettings) -> float:
        """Tell when the stretch is to be considered."""
        idle = capture.consider_idle_minutes * 60
        is_enough = self.said >= min(capture.consider_every, LINES)
        return max(self.touched_at + (min(GRACE, idle) if is_enough else idle), self.not_before)


class Considerer:
    """Gathers lines and hands them over. ``clock`` counts seconds from anywhere."""

    def __init__(
        self,
        memory: Callable[[], core.CognitiveMemory],
        capture: core.CaptureSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing gathered."""
        self._memory = memory
        self._capture = capture
        self._clock = clock
        self._stretches: OrderedDict[Hashable, Stretch] = OrderedDict()
        self._learned: OrderedDict[Hashable, deque[str]] = OrderedDict()
        self._changed = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    def note(self, line: core.Message) -> None:
        """Gather a line, where the settings want it."""
        if not self._is_wanted(line):
            return
        scope = line.scene.scope
        self._stretches.setdefault(scope, Stretch(line.scene)).add(line, self._clock())
        _bounded(self._stretches, scope)
        self._changed.set()

    def learned(self, scene: core.Scene, line_ids: Collection[str]) -> None:
        """Leave out lines whose turn is recorded, that were considered, or that were withdrawn."""
        self._learned.setdefault(scene.scope, deque(maxlen=LINES)).extend(line_ids)
        _bounded(self._learned, scene.scope)
        stretch = self._stretches.get(scene.scope)
        if stretch is not None:
            stretch.drop(line_ids)
            if not stretch.said:
                del self._stretches[scene.scope]

    def fresh(self, scene: core.Scene, lines: Sequence[core.Message]) -> list[core.Message]:
        """Give the lines that are not learned yet; none where only the bot's own are left."""
        known = frozenset(self._learned.get(scene.scope, ()))
        new = [line for line in lines if line.id not in known]
        return new if any(not line.is_bot for line in new) else []

    async def start(self) -> None:
        """Begin to watch the clock."""
        if self._loop is None:
            self._changed = asyncio.Event()
            self._loop = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Hand over everything that is gathered."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        loop.cancel()
        await asyncio.wait((loop,))
        for stretch in list(self._stretches.values()):
            await self._submit(stretch)

    async def submit_due(self) -> None:
        """Hand over what is due."""
        now = self._clock()
        for stretch in list(self._stretches.values()):
            if stretch.due_at(self._capture) <= now:
                await self._submit(stretch)

    async def _submit(self, stretch: Stretch) -> None:
        """Hand a stretch over; it stays gathered, for another try later, unless the memory takes it."""
        stretch.not_before = self._clock() + RETRY
        lines = tuple(stretch.lines.values())
        try:
            await self._memory().consider(stretch.scene, lines)
        except core.CognitiveMemoryError as refused:
            logger.warning(replies.logged(replies.not_considered(refused)))
            return
        stretch.not_before = 0.0
        self.learned(stretch.scene, [line.id for line in lines])

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            try:
                await self.submit_due()
            except Exception as unforeseen:  # noqa: BLE001  # the loop outlives whatever happens in one round
                logger.error(replies.logged(replies.not_considered(unforeseen)))
            await self._until_next()

    async def _until_next(self) -> None:
        due = min((stretch.due_at(self._capture) for stretch in self._stretches.values()), default=None)
        seconds = None if due is None else max(due - self._clock(), 0.0)
        waiting = asyncio.ensure_future(self._changed.wait())
        try:
            await asyncio.wait((waiting,), timeout=seconds)
        finally:
            waiting.cancel()

    def _is_wanted(self, line: core.Message) -> bool:
        if self._capture.auto_consider == "off" or not self._memory().is_running:
            return False
        if line.is_bot:
            return line.scene.scope in self._stretches
        is_to_bot = line.addressed_to_bot or line.scene.kind == "private"
        return bool(line.text) and (is_to_bot or self._capture.auto_consider == "all")


def _bounded(places: OrderedDict[Hashable, Stretch] | OrderedDict[Hashable, deque[str]], place: Hashable) -> None:
    """Keep the places that were touched last."""
    places.move_to_end(place)
    if len(places) > PLACES:
        places.popitem(last=False)


considerer = Considerer(get_memory, setup.settings.capture)
get_driver().on_startup(considerer.start)
get_driver().on_shutdown(considerer.stop)
