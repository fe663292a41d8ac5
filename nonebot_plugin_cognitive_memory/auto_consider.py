"""``capture.auto_consider``: what people say to the bot is handed to the historian, also where nobody calls ``end``.

Lines gather by place until there are enough of them, or until it has been quiet for a while. They stay gathered
until the memory has taken them, and leave early when a chat plugin records their turn. A file names what is gathered,
so that a bot that was killed gathers it again.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field

from nonebot import get_driver

import cognitive_memory_core as core

from . import replies
from .config import setup
from .lifecycle import get_memory, lifetime
from .pending_store import FILE, Bookmark, Waiting
from .throttled_log import complain

PLACES = 5_000  # more than any bot has groups; what the one quiet longest gathered leaves first
LINES = 200  # of one dialogue
ROOM = 100_000  # lines of all places together; beyond it a place holds no more than one dialogue
GRACE = 30.0  # seconds that a chat plugin has to record a turn itself
RETRY = 60.0  # seconds after the memory refused
PAUSE = 0.5  # seconds between two writes of the file
OPENING = 2.0  # seconds between two looks whether the memory is open
ECHO = 4  # letters; a shorter line may well be somebody's own


@dataclass(frozen=True)
class Line:
    """What somebody or the bot said, and when it was heard by the considerer's clock."""

    message: core.Message
    heard_at: float


@dataclass
class Stretch:
    """What was said in one place and is not considered yet."""

    lines: OrderedDict[str, Line] = field(default_factory=OrderedDict)
    not_before: float = 0.0

    @property
    def said_at(self) -> list[float]:
        """When people said something; the bot's own lines only give theirs sense."""
        return [line.heard_at for line in self.lines.values() if not line.message.is_bot]

    def add(self, message: core.Message, now: float) -> None:
        """Take a line."""
        self.lines[message.id] = Line(message, now)

    def drop(self, line_ids: Collection[str]) -> None:
        """Leave lines out."""
        for line_id in line_ids:
            self.lines.pop(line_id, None)

    def due_at(self, capture: core.CaptureSettings) -> float:
        """Return when the stretch is due: the grace period starts at the line that completes it."""
        said_at, enough = self.said_at, min(capture.consider_every, LINES)
        if not said_at:
            return math.inf
        due = said_at[enough - 1] + _grace(capture) if len(said_at) >= enough else said_at[-1] + _idle(capture)
        return max(due, self.not_before)

    def ripe(self, now: float, capture: core.CaptureSettings) -> list[core.Message]:
        """Return the lines whose turn no chat plugin is recording just now."""
        latest = now - _grace(capture)
        return [line.message for line in self.lines.values() if line.heard_at <= latest]


class Considerer:
    """Gathers lines and hands them over. ``clock`` counts seconds from anywhere."""

    def __init__(
        self,
        memory: Callable[[], core.CognitiveMemory],
        capture: core.CaptureSettings,
        clock: Callable[[], float] = time.monotonic,
        bookmark: Bookmark | None = None,
    ) -> None:
        """Begin with nothing gathered but what a ``bookmark`` names."""
        self._memory = memory
        self._capture = capture
        self._clock = clock
        self._bookmark = bookmark
        self._stretches: OrderedDict[Hashable, Stretch] = OrderedDict()
        self._learned: OrderedDict[Hashable, deque[str]] = OrderedDict()
        self._left: list[Waiting] | None = None  # from before the start; None as long as nobody has looked
        self._next = math.inf
        self._changed = asyncio.Event()
        self._touched = asyncio.Event()
        self._loops: list[asyncio.Task[None]] = []

    def note(self, line: core.Message) -> None:
        """Gather a line, where the settings want it."""
        if not self._is_wanted(line):
            return
        scope = line.scene.scope
        stretch = self._stretches.setdefault(scope, Stretch())
        stretch.add(line, self._clock())
        if len(stretch.lines) > LINES and sum(len(other.lines) for other in self._stretches.values()) > ROOM:
            stretch.lines.popitem(last=False)
        _bounded(self._stretches, scope)
        self._touched.set()
        if stretch.due_at(self._capture) < self._next:
            self._changed.set()

    def learned(self, scene: core.Scene, line_ids: Collection[str]) -> None:
        """Leave out lines whose turn is recorded, that were considered, or that were withdrawn."""
        self._learned.setdefault(scene.scope, deque(maxlen=LINES)).extend(line_ids)
        _bounded(self._learned, scene.scope)
        stretch = self._stretches.get(scene.scope)
        if stretch is not None:
            stretch.drop(line_ids)
            if not stretch.said_at:
                del self._stretches[scene.scope]
            self._touched.set()

    def fresh(self, scene: core.Scene, lines: Sequence[core.Message]) -> list[core.Message]:
        """Return the lines that are not learned yet and echo nothing of the bot's; none where nobody else says any."""
        known = frozenset(self._learned.get(scene.scope, ()))
        new = [line for line in _without_echoes(lines) if line.id not in known]
        return new if _last_speaker(new) else []

    async def start(self) -> None:
        """Begin to watch the clock."""
        if not self._loops:
            self._changed, self._touched = asyncio.Event(), asyncio.Event()
            self._loops = [asyncio.create_task(self._run()), asyncio.create_task(self._keep())]

    async def stop(self) -> None:
        """Hand over everything that is gathered; what the memory does not take waits in the file."""
        loops, self._loops = self._loops, []
        if not loops:
            return
        for loop in loops:
            loop.cancel()
        await asyncio.wait(loops)
        for stretch in list(self._stretches.values()):
            await self._submit(stretch, [line.message for line in stretch.lines.values()])
        await self._save()

    async def submit_due(self) -> None:
        """Hand over what is due."""
        now = self._clock()
        for stretch in list(self._stretches.values()):
            if stretch.due_at(self._capture) <= now:
                await self._submit(stretch, stretch.ripe(now, self._capture))

    async def gather_again(self) -> None:
        """Hand over what was gathered before the start, place by place, as soon as there is a memory to take it.

        A stretch is handed over as it was, but for lines that turns and dialogues have covered since it was noted.
        """
        if self._left is None:
            self._left = await self._bookmark.read() if self._bookmark else []
        if not self._memory().is_running:
            return
        for waiting in list(self._left):
            if await self._has_gathered(waiting):
                self._left.remove(waiting)
                self._touched.set()

    async def _has_gathered(self, waiting: Waiting) -> bool:
        """Hand over what was left in one place; False when it is to be tried again."""
        if self._capture.auto_consider == "off":
            return True
        try:
            lines = await waiting.lines(self._memory())
        except core.BadArgument:  # ids that no log could hold: the file was written by somebody else
            return True
        except core.CognitiveMemoryError as refused:
            complain(replies.not_considered(refused))
            return False
        return await self._submit(Stretch(), lines)

    async def _submit(self, stretch: Stretch, lines: Sequence[core.Message]) -> bool:
        """Hand lines over, one dialogue's worth at a time; what the memory does not take waits for another try."""
        stretch.not_before = self._clock() + RETRY
        for first in range(0, len(lines), LINES):
            if not await self._is_taken(lines[first : first + LINES]):
                return False
        stretch.not_before = 0.0
        return True

    async def _is_taken(self, lines: Sequence[core.Message]) -> bool:
        scene, memory = _last_speaker(lines), self._memory()
        if scene is None:
            return True
        if not memory.is_running:  # it would answer as if there were nothing to consider
            return False
        try:
            if new := self.fresh(scene, lines):
                await memory.consider(scene, new)
        except core.CognitiveMemoryError as refused:
            complain(replies.not_considered(refused))
            return False
        self.learned(scene, [line.id for line in lines])
        return True

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            try:
                await self.submit_due()
                await self.gather_again()
            except Exception as unforeseen:  # noqa: BLE001  # the loop outlives whatever happens in one round
                complain(replies.not_considered(unforeseen))
            await self._until_next()

    async def _until_next(self) -> None:
        due = min((stretch.due_at(self._capture) for stretch in self._stretches.values()), default=math.inf)
        self._next = due = min(due, self._clock() + self._again_in())
        seconds = None if math.isinf(due) else max(due - self._clock(), 0.0)
        waiting = asyncio.ensure_future(self._changed.wait())
        try:
            await asyncio.wait((waiting,), timeout=seconds)
        finally:
            waiting.cancel()

    def _again_in(self) -> float:
        """Return the seconds until lines left from before the start are retried."""
        if not self._left:
            return math.inf
        return RETRY if self._memory().is_running else OPENING

    async def _keep(self) -> None:
        """Keep the file, until cancelled."""
        while True:
            await self._touched.wait()
            self._touched.clear()
            await self._save()
            await asyncio.sleep(PAUSE)

    async def _save(self) -> None:
        if self._bookmark is None or self._left is None:
            return
        now = [_waiting(stretch) for stretch in self._stretches.values() if stretch.lines]
        try:
            await self._bookmark.write([*self._left, *now])
        except OSError as refused:
            complain(replies.not_kept(type(refused).__name__))

    def _is_wanted(self, line: core.Message) -> bool:
        if self._capture.auto_consider == "off" or not self._memory().is_running:
            return False
        if line.is_bot:
            return line.scene.scope in self._stretches
        is_to_bot = line.addressed_to_bot or line.scene.kind == "private"
        return bool(line.text) and (is_to_bot or self._capture.auto_consider == "all")


def _idle(capture: core.CaptureSettings) -> float:
    return capture.consider_idle_minutes * 60


def _grace(capture: core.CaptureSettings) -> float:
    return min(GRACE, _idle(capture))


def _last_speaker(lines: Sequence[core.Message]) -> core.Scene | None:
    """Return the scene of whoever spoke last; None where only the bot did."""
    return next((line.scene for line in reversed(lines) if not line.is_bot), None)


def _waiting(stretch: Stretch) -> Waiting:
    lines = stretch.lines
    return Waiting.of(next(iter(lines.values())).message.scene, tuple(lines))


def _without_echoes(lines: Sequence[core.Message]) -> list[core.Message]:
    """Leave out where people only repeat what the bot said: its words do not become anybody's own."""
    own: set[str] = set()
    kept: list[core.Message] = []
    for line in lines:
        letters = "".join(filter(str.isalnum, line.text.casefold()))
        if line.is_bot:
            own.add(letters)
        if line.is_bot or letters not in own or len(letters) < ECHO:
            kept.append(line)
    return kept


def _bounded(places: OrderedDict[Hashable, Stretch] | OrderedDict[Hashable, deque[str]], place: Hashable) -> None:
    """Keep the places that were touched last."""
    places.move_to_end(place)
    if len(places) > PLACES:
        places.popitem(last=False)


considerer = Considerer(
    get_memory, setup.settings.capture, bookmark=Bookmark(setup.data_dir / FILE) if setup.data_dir else None
)
lifetime.on_late_line(considerer.note)
get_driver().on_startup(considerer.start)
get_driver().on_shutdown(considerer.stop)
get_driver().on_shutdown(lifetime.settle)  # the last hook runs first: late lines are gathered before the rest goes
