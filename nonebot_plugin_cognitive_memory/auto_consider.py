"""``capture.auto_consider``: hands what people say to the bot to the historian, even if no plugin calls ``end``.

Lines are collected per place until there are enough of them or the place has been quiet for a while. A line stays
collected until the memory has accepted it, and is dropped if a chat plugin records its turn. A file lists the
collected lines, so that a bot that was killed can collect them again.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Hashable, Sequence
from contextlib import suppress

from nonebot import get_driver

import cognitive_memory_core as core

from . import replies
from .config import setup
from .lifecycle import get_memory, lifetime
from .lines_kept_over_restarts import FILE, WaitingLinesFile, WaitingPlace
from .pending_lines import LINES, PendingLines
from .throttled_log import complain

PLACES = 5_000  # more than any bot has groups; beyond it the place quiet longest is dropped
ROOM = 100_000  # lines of all places together; beyond it a place keeps no more than one dialogue
IDLE = 3600.0  # seconds of rest for a loop that has work only after a nudge
RETRY = 60.0  # seconds after a refusal by the memory
PAUSE = 0.5  # seconds between two writes of the file
PARTING = 2.0  # seconds that a stop spends on handing lines over; the next start hands over the others
OPENING = 2.0  # seconds between two checks whether the memory is open
ECHO = 4  # letters; a shorter line may be a person's own words


class Considerer:
    """Collects lines and hands them to the memory; ``clock`` returns seconds of a monotonic clock."""

    def __init__(
        self,
        memory: Callable[[], core.CognitiveMemory],
        capture: core.CaptureSettings,
        clock: Callable[[], float] = time.monotonic,
        waiting_file: WaitingLinesFile | None = None,
    ) -> None:
        """Start without lines; ``waiting_file`` lists those collected before the restart and not handed over."""
        self._memory = memory
        self._capture = capture
        self._clock = clock
        self._waiting_file = waiting_file
        self._pending: OrderedDict[Hashable, PendingLines] = OrderedDict()
        self._learned: OrderedDict[Hashable, deque[str]] = OrderedDict()
        self._left: list[WaitingPlace] | None = None  # from before the start; None until the file was read
        self._next = math.inf
        self._handing_over = core.BackgroundLoop("auto_consider", self._round, debounce=0.0, longest_pause=RETRY)
        self._keeping = core.BackgroundLoop(FILE, self._keep, debounce=0.0, spacing=PAUSE)

    def follow(self, capture: core.CaptureSettings) -> None:
        """Apply changed settings; lines that are due by them are handed over in the background."""
        self._capture = capture
        self._handing_over.nudge()

    def note(self, line: core.Message) -> None:
        """Collect a line if the settings include it."""
        if not self._is_wanted(line):
            return
        scope = line.scene.scope
        pending = self._pending.setdefault(scope, PendingLines())
        pending.add(line, self._clock())
        if len(pending.lines) > LINES and sum(len(other.lines) for other in self._pending.values()) > ROOM:
            pending.lines.popitem(last=False)
        _bounded(self._pending, scope)
        self._keeping.nudge()
        if pending.due_at(self._capture) < self._next:
            self._handing_over.nudge()

    def learned(self, scene: core.Scene, line_ids: Collection[str]) -> None:
        """Drop lines that a recorded turn or a dialogue covers, or that were withdrawn; :meth:`fresh` omits them."""
        self._learned.setdefault(scene.scope, deque(maxlen=LINES)).extend(line_ids)
        _bounded(self._learned, scene.scope)
        pending = self._pending.get(scene.scope)
        if pending is not None:
            pending.drop(line_ids)
            if not pending.said_at:
                del self._pending[scene.scope]
            self._keeping.nudge()

    async def forget(self, is_erased: Callable[[core.Scene], bool]) -> None:
        """Drop the lines of each scene for which ``is_erased`` is true, and write the file without them.

        Other people's lines stay collected. Their texts are read from the log when they are handed over, without what
        was erased.
        """
        for scope, pending in list(self._pending.items()):
            pending.drop([key for key, line in pending.lines.items() if is_erased(line.message.scene)])
            if not pending.said_at:
                del self._pending[scope]
        self._left = None if self._left is None else [one for one in self._left if not one.is_of(is_erased)]
        await self._save()

    def fresh(self, scene: core.Scene, lines: Sequence[core.Message]) -> list[core.Message]:
        """Return the lines that :meth:`learned` did not get and that do not echo the bot; [] if no person said any."""
        known = frozenset(self._learned.get(scene.scope, ()))
        new = [line for line in _without_echoes(lines) if line.id not in known]
        return new if _last_speaker(new) else []

    def waiting_count(self, scene: core.Scene) -> tuple[int, float]:
        """Return how many lines of people are collected in a place, and in how many seconds they are due."""
        pending = self._pending.get(scene.scope)
        if pending is None or not pending.said_at:
            return 0, 0.0
        return len(pending.said_at), max(pending.due_at(self._capture) - self._clock(), 0.0)

    async def start(self) -> None:
        """Start the background loops."""
        self._handing_over.start()
        self._keeping.start()

    async def stop(self) -> None:
        """Hand over collected lines; those that the memory does not accept in time stay listed in the file."""
        if not (await self._handing_over.stop() and await self._keeping.stop()):
            return
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._submit_all(), PARTING)
        await self._save()

    async def _submit_all(self) -> None:
        for pending in list(self._pending.values()):
            await self._submit(pending, [line.message for line in pending.lines.values()])

    async def submit_due(self) -> None:
        """Hand the lines of every place that is due to the memory."""
        now = self._clock()
        for pending in list(self._pending.values()):
            if pending.due_at(self._capture) <= now:
                await self._submit(pending, pending.due_lines(now, self._capture))

    async def submit_listed(self) -> None:
        """Hand over the lines that the file lists from before the restart; do nothing while the memory is not open.

        Lines that a turn, dialogue or event already covers are omitted.
        """
        if self._left is None:
            self._left = await self._waiting_file.read() if self._waiting_file else []
        if not self._memory().is_running:
            return
        for waiting in list(self._left):
            if await self._has_submitted(waiting):
                self._left.remove(waiting)
                self._keeping.nudge()

    async def _has_submitted(self, waiting: WaitingPlace) -> bool:
        """Hand over the lines that the file lists for one place; return False if the caller must try again later."""
        if self._capture.auto_consider == "off":
            return True
        try:
            lines = await waiting.lines(self._memory())
        except core.BadArgument:  # ids that no log could hold: the file is not ours
            return True
        except core.CognitiveMemoryError as refused:
            complain(replies.log.not_considered(refused))
            return False
        return await self._submit(PendingLines(), lines)

    async def _submit(self, pending: PendingLines, lines: Sequence[core.Message]) -> bool:
        """Hand lines over, one dialogue at a time; return False if the memory refused one, so that all are retried."""
        pending.not_before = self._clock() + RETRY
        for first in range(0, len(lines), LINES):
            if not await self._is_taken(lines[first : first + LINES]):
                return False
        pending.not_before = 0.0
        return True

    async def _is_taken(self, lines: Sequence[core.Message]) -> bool:
        scene, memory = _last_speaker(lines), self._memory()
        if scene is None:
            return True
        if not memory.is_running:  # it would accept and drop them
            return False
        try:
            logged = await memory.find_messages(scene, [line.id for line in lines])
            if new := self.fresh(scene, logged):  # as the log has them now: without what was withdrawn or erased
                await memory.consider(scene, new)
        except core.CognitiveMemoryError as refused:
            complain(replies.log.not_considered(refused))
            return False
        self.learned(scene, [line.id for line in lines])
        return True

    async def _round(self) -> float:
        """Hand over the lines that are due; return the seconds until others will be."""
        await self.submit_due()
        await self.submit_listed()
        due = min((pending.due_at(self._capture) for pending in self._pending.values()), default=math.inf)
        self._next = min(due, self._clock() + self._again_in())
        return min(max(self._next - self._clock(), 0.0), IDLE)

    def _again_in(self) -> float:
        """Return the seconds until lines from before the restart are handed over again; infinity if there are none."""
        if not self._left:
            return math.inf
        return RETRY if self._memory().is_running else OPENING

    async def _keep(self) -> float:
        """Write the file; return the seconds until the next time, unless a change comes before."""
        await self._save()
        return IDLE

    async def _save(self) -> None:
        if self._waiting_file is None or self._left is None:
            return
        now = [_waiting(pending) for pending in self._pending.values() if pending.lines]
        try:
            await self._waiting_file.write([*self._left, *now])
        except OSError as refused:
            complain(replies.log.NOT_KEPT.format(reason=type(refused).__name__))

    def _is_wanted(self, line: core.Message) -> bool:
        if self._capture.auto_consider == "off" or not self._memory().is_running:
            return False
        if line.is_bot:
            return line.scene.scope in self._pending
        is_to_bot = line.addressed_to_bot or line.scene.kind == "private"
        return bool(line.text) and (is_to_bot or self._capture.auto_consider == "all")


def _last_speaker(lines: Sequence[core.Message]) -> core.Scene | None:
    """Return the scene of the newest line by a person; None if all lines are the bot's."""
    return next((line.scene for line in reversed(lines) if not line.is_bot), None)


def _waiting(pending: PendingLines) -> WaitingPlace:
    lines = pending.lines
    return WaitingPlace.of(next(iter(lines.values())).message.scene, tuple(lines))


def _without_echoes(lines: Sequence[core.Message]) -> list[core.Message]:
    """Drop people's lines that only repeat the bot, so that its words are not attributed to them."""
    own: set[str] = set()
    kept: list[core.Message] = []
    for line in lines:
        letters = "".join(filter(str.isalnum, line.text.casefold()))
        if line.is_bot:
            own.add(letters)
        if line.is_bot or letters not in own or len(letters) < ECHO:
            kept.append(line)
    return kept


def _bounded(places: OrderedDict[Hashable, PendingLines] | OrderedDict[Hashable, deque[str]], place: Hashable) -> None:
    """Mark a place as used last, and evict the one used longest ago."""
    places.move_to_end(place)
    if len(places) > PLACES:
        places.popitem(last=False)


considerer = Considerer(
    get_memory, setup.settings.capture, waiting_file=WaitingLinesFile(setup.data_dir / FILE) if setup.data_dir else None
)
lifetime.on_late_line(considerer.note)
get_driver().on_startup(considerer.start)
get_driver().on_shutdown(considerer.stop)
get_driver().on_shutdown(lifetime.settle)  # the last hook runs first: waiting lines are collected before the rest stops
