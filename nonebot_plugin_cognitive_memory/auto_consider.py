"""``capture.auto_consider``: hands what people say to the bot to the historian, even if no plugin calls ``end``.

Lines are collected per place until there are enough of them or the place has been quiet for a while. A line stays
collected until the memory has accepted it, and is dropped if a chat plugin records its turn. A file lists the ids of
the collected lines, so that a bot that was stopped or killed finds them in its log: texts that were withdrawn, erased
or opted out of meanwhile are not there any more.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from nonebot import get_driver

import cognitive_memory_core as core

from . import replies
from .config import setup
from .json_file import JsonFile
from .lifecycle import get_memory, lifetime
from .limits import Newest, warn_once
from .scene import scene_at

FILE = "considering.json"
LINES = 200  # per dialogue
PLACES = 5_000  # more than any bot has groups; beyond it the place quiet longest is dropped
ROOM = 100_000  # lines of all places together; beyond it a place keeps no more than one dialogue
GRACE = 30.0  # seconds that a chat plugin has to record a turn itself
IDLE = 3600.0  # seconds of rest for a loop that has work only after a nudge
RETRY = 60.0  # seconds after a refusal by the memory
PAUSE = 2.0  # seconds between two writes of the file, each of which costs as much as ten lines
OPENING = 2.0  # seconds between two checks whether the memory is open
ECHO = 4  # letters; a shorter line may be a person's own words


class Heard(NamedTuple):
    """Where and by whom a line was said, and when it was heard, by the considerer's clock."""

    scene: core.Scene
    at: float
    is_bot: bool


@dataclass
class PendingLines:
    """The lines of one place by id; not due before ``not_before``. Lines of the bot are context only."""

    lines: OrderedDict[str, Heard] = field(default_factory=OrderedDict)
    not_before: float = 0.0

    def said_at(self, *, latest_first: bool = False) -> Iterator[float]:
        """Yield when each line by a person was heard."""
        lines = reversed(self.lines.values()) if latest_first else self.lines.values()
        return (heard.at for heard in lines if not heard.is_bot)

    def due_at(self, capture: core.CaptureSettings) -> float:
        """Return when the lines are due: some time after enough have come, else once the place has been quiet.

        Infinity if no person said any of them.
        """
        most = min(capture.consider_every, LINES)
        is_enough = len(self.lines) >= most  # else there is nothing to count, at each line that is heard
        enough = next(islice(self.said_at(), most - 1, None), None) if is_enough else None
        last, idle = next(self.said_at(latest_first=True), math.inf), capture.consider_idle_minutes * 60
        return max(last + idle if enough is None else enough + min(GRACE, idle), self.not_before)


class Considerer:
    """Collects lines and hands them to the memory; ``clock`` returns seconds of a monotonic clock."""

    def __init__(
        self,
        memory: Callable[[], core.CognitiveMemory],
        capture: core.CaptureSettings,
        clock: Callable[[], float] = time.monotonic,
        file: Path | None = None,
    ) -> None:
        """Start without lines; ``file`` lists those collected before the restart and not handed over."""
        self._memory = memory
        self._capture = capture
        self._clock = clock
        self._file = JsonFile[list[Any]](file, list)
        self._is_read = False
        self._pending: Newest[core.Scope, PendingLines] = Newest(PLACES)
        self._learned: Newest[core.Scope, deque[str]] = Newest(PLACES)
        self._loop = core.BackgroundLoop(
            "auto_consider", self.hand_over, debounce=0.0, spacing=PAUSE, longest_pause=RETRY
        )

    def follow(self, capture: core.CaptureSettings) -> None:
        """Apply changed settings; lines that are due by them are handed over in the background."""
        self._capture = capture
        self._loop.nudge()

    def note(self, line: core.Message) -> None:
        """Collect a line if the settings include it; one of the bot only beside lines of people."""
        mode, scope = self._capture.auto_consider, line.scene.scope
        if mode == "off" or not self._memory().is_running:
            return
        is_to_bot = line.addressed_to_bot or line.scene.kind == "private"
        if scope not in self._pending if line.is_bot else not (line.text and (is_to_bot or mode == "all")):
            return
        pending = self._pending.get(scope) or PendingLines()
        self._pending[scope] = pending  # the newest place now
        pending.lines[line.id] = Heard(line.scene, self._clock(), line.is_bot)
        if len(pending.lines) > LINES and sum(len(other.lines) for other in self._pending.values()) > ROOM:
            pending.lines.popitem(last=False)
        self._loop.nudge()

    def drop_learned(self, scene: core.Scene, line_ids: Collection[str]) -> None:
        """Drop lines that a turn or a dialogue covers, or that were withdrawn; :meth:`unlearned` omits them."""
        known = self._learned[scene.scope] = self._learned.get(scene.scope) or deque(maxlen=LINES)
        known.extend(line_ids)
        self._drop(scene.scope, line_ids)
        self._loop.nudge()

    async def forget(self, is_erased: Callable[[core.Scene], bool]) -> None:
        """Drop the lines of each scene for which ``is_erased`` is true, and write the file without them.

        Other people's lines stay collected. Their texts are read from the log when they are handed over, without what
        was erased.
        """
        await self._read()
        for scope, pending in list(self._pending.items()):
            self._drop(scope, [key for key, heard in pending.lines.items() if is_erased(heard.scene)])
        await self._save()

    def _drop(self, scope: core.Scope, line_ids: Collection[str]) -> None:
        pending = self._pending.get(scope)
        if pending is None:
            return
        for line_id in line_ids:
            pending.lines.pop(line_id, None)
        if next(pending.said_at(), None) is None:
            del self._pending[scope]

    async def unlearned(
        self, memory: core.CognitiveMemory, scene: core.Scene, lines: Sequence[core.Message]
    ) -> list[core.Message]:
        """Return the lines that no turn, dialogue or event covers yet; [] if no person said any.

        The bot's lines stay, as context. People's lines that only repeat the bot are left out, so that its words are
        not attributed to them.
        """
        known, own, kept = frozenset(self._learned.get(scene.scope, ())), set[str](), list[core.Message]()
        for line in lines:
            letters = "".join(filter(str.isalnum, line.text.casefold()))
            if line.is_bot:
                own.add(letters)
            if line.id not in known and (line.is_bot or letters not in own or len(letters) < ECHO):
                kept.append(line)
        covered = await memory.learned_messages(scene, [line.id for line in kept if not line.is_bot])
        new = [line for line in kept if line.is_bot or line.id not in covered]
        return new if _last_speaker(new) else []

    def waiting(self, scene: core.Scene) -> tuple[int, float]:
        """Return how many lines of people are collected in a place, and in how many seconds they are due."""
        pending = self._pending.get(scene.scope)
        if pending is None:
            return 0, 0.0
        return len(list(pending.said_at())), max(pending.due_at(self._capture) - self._clock(), 0.0)

    async def start(self) -> None:
        """Start to hand lines over in the background."""
        self._loop.start()

    async def stop(self) -> None:
        """List what is collected in the file, for the next start."""
        if await self._loop.stop():
            await self._save()

    async def hand_over(self) -> float:
        """Hand over the lines that are due, and write the file; return the seconds until others will be."""
        await self._read()
        if not self._memory().is_running:
            return OPENING
        await self.submit_due()
        await self._save()
        due = min((pending.due_at(self._capture) for pending in self._pending.values()), default=math.inf)
        return min(max(due - self._clock(), 0.0), IDLE)

    async def submit_due(self) -> None:
        """Hand the lines of every place that is due to an open memory, without those heard within the grace."""
        now, latest = self._clock(), self._clock() - min(GRACE, self._capture.consider_idle_minutes * 60)
        for pending in list(self._pending.values()) if self._memory().is_running else ():
            if pending.due_at(self._capture) <= now:
                pending.not_before = now + RETRY
                if await self._submit([one for one in pending.lines.items() if one[1].at <= latest]):
                    pending.not_before = 0.0

    async def _submit(self, lines: Sequence[tuple[str, Heard]]) -> bool:
        """Hand lines over, one dialogue at a time; return whether the memory took all: if not, all are tried again.

        Lines that a turn, dialogue or event already covers are omitted.
        """
        memory = self._memory()
        for part in (lines[first : first + LINES] for first in range(0, len(lines), LINES)):
            scene, line_ids = part[-1][1].scene, [line_id for line_id, _ in part]
            try:  # as the log has them now: without what was withdrawn or erased
                logged = await memory.find_messages(scene, line_ids)
                new = await self.unlearned(memory, scene, logged)
                if speaker := _last_speaker(new):
                    await memory.consider(speaker, new)
            except core.CognitiveMemoryError as refused:
                if not isinstance(refused, core.BadArgument):  # ids that no log could hold: the file is not ours
                    warn_once(replies.log.NOT_CONSIDERED.format(reason=replies.log.reason_of(refused)))
                    return False
            self.drop_learned(scene, line_ids)
        return True

    async def _read(self) -> None:
        """Collect, once, what the file lists from before the start; it is due at once, and what cannot be read is not.

        Their speakers do not matter: they are read from the log.
        """
        if self._is_read:
            return
        listed = await self._file.read()
        self._is_read = True
        for place in listed if self._capture.auto_consider != "off" else ():
            try:
                agent, group_id, user_id = (str(place[key]) for key in ("agent", "group_id", "user_id"))
                scene, line_ids = scene_at(agent, group_id, user_id or "0"), list(map(str, place["line_ids"]))
            except (TypeError, KeyError):
                continue
            if scene is not None and line_ids:
                later = self._pending.get(scene.scope) or PendingLines()
                earlier = {line_id: Heard(scene, -math.inf, is_bot=False) for line_id in filter(None, line_ids)}
                self._pending[scene.scope] = PendingLines(OrderedDict({**earlier, **later.lines}))

    async def _save(self) -> None:
        """Write the file; log a failure."""
        if not self._is_read:
            return
        rows: list[Any] = []
        for pending in self._pending.values():
            scene = next(iter(pending.lines.values())).scene
            user_id = "" if scene.group_id else scene.user_id
            place = {"agent": scene.agent, "group_id": scene.group_id, "user_id": user_id}
            rows.append({**place, "line_ids": list(pending.lines)})
        try:
            await self._file.change(lambda _: rows)
        except OSError as refused:
            warn_once(replies.log.NOT_KEPT.format(reason=type(refused).__name__))


def _last_speaker(lines: Sequence[core.Message]) -> core.Scene | None:
    """Return the scene of the newest line by a person; None if all lines are the bot's."""
    return next((line.scene for line in reversed(lines) if not line.is_bot), None)


considerer = Considerer(get_memory, setup.settings.capture, file=setup.path(FILE))
get_driver().on_startup(considerer.start)
get_driver().on_shutdown(considerer.stop)
get_driver().on_shutdown(lifetime.settle)  # the last hook runs first: waiting lines are collected before the rest stops
