"""Opens the bot's one memory when the bot starts, and closes it when the bot ends.

While the memory opens, callers get one in which lines and turns wait; if opening failed, one that stores nothing.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import math
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from nonebot import get_driver, logger
from nonebot.log import LoguruHandler

import cognitive_memory_core as core

from . import replies
from .config import Setup, lender_names, lent_model, setup

LINES = 5_000  # that may wait; later ones are refused
CALLS = 2_000  # turns, dialogues and withdrawals that may wait
WAIT = 60.0  # seconds for which a call waits


class OpeningMemory(core.CognitiveMemory):
    """Replaces a memory while it is being opened: reads find nothing; once the memory is open, calls are forwarded.

    :meth:`observe` stores a line without waiting; :meth:`remember`, :meth:`consider` and :meth:`recall_message` return
    when the memory has answered. ``opened`` is that memory, an absent one if it did not open, None until then.
    """

    def __init__(self, reason: str) -> None:
        """Start with nothing waiting; ``reason`` states why there is no memory yet."""
        super().__init__(reason)
        self.opened: core.CognitiveMemory | None = None
        self.lines: deque[core.Message] = deque()  # that wait, oldest first
        self.calls = 0  # that wait
        self._order = asyncio.Lock()
        self._is_over = asyncio.Event()
        self.refused_lines = self.refused_calls = 0

    async def observe(self, message: core.Message) -> None:
        """Keep a line until the memory is open; if there is no room, count it as refused."""
        await super().observe(message)  # rejects anything but a message
        if self.opened is not None:
            await self.opened.observe(message)
        elif len(self.lines) < LINES:
            self.lines.append(message)
        else:
            self.refused_lines += 1

    async def remember(self, turn: core.Turn) -> str | None:
        """Wait for the memory and hand in a turn; return None if the call was refused."""
        async with self.in_order() as memory:
            return await memory.remember(turn)

    async def consider(self, scene: core.Scene, messages: Sequence[core.Message]) -> str | None:
        """Wait for the memory and hand in a dialogue; return None if the call was refused."""
        async with self.in_order() as memory:
            return await memory.consider(scene, messages)

    async def recall_message(self, scene: core.Scene, message_id: str) -> None:
        """Drop a withdrawn line that waits, then wait for the memory and withdraw it there too."""
        kept = (line for line in self.lines if line.id != message_id or line.scene.scope != scene.scope)
        self.lines = deque(kept)
        async with self.in_order() as memory:
            await memory.recall_message(scene, message_id)

    @asynccontextmanager
    async def in_order(self) -> AsyncGenerator[core.CognitiveMemory, None]:
        """Yield the memory once it is open and earlier callers are done; yield an absent one if the call is refused."""
        if self.calls >= CALLS:
            self.refused_calls += 1
            yield core.CognitiveMemory.absent(self.reason)
            return
        self.calls += 1
        loop = asyncio.get_running_loop()
        latest = loop.time() + WAIT
        try:
            async with self._order:
                try:
                    await asyncio.wait_for(self._is_over.wait(), max(latest - loop.time(), 0.0))
                except asyncio.TimeoutError:
                    self.refused_calls += not self._is_over.is_set()
                yield self.opened or core.CognitiveMemory.absent(self.reason)
        finally:
            self.calls -= 1

    async def settled(self) -> None:
        """Return once the memory is open and has accepted all lines and calls that wait now."""
        async with self._order:
            await self._is_over.wait()

    async def hand_over(self, memory: core.CognitiveMemory) -> list[core.Message]:
        """Forward the waiting lines, then the calls, to the opened memory; use it from now on; return those lines."""
        passed_on: list[core.Message] = []
        while self.lines:
            passed_on.append(self.lines.popleft())
            await memory.observe(passed_on[-1])
        self.opened = memory
        self._is_over.set()
        return passed_on

    def close(self) -> bool:
        """Refuse all waiting lines and calls, because the memory did not open; return False if it did."""
        if self.opened is None:
            self.refused_calls += self.calls
            self.refused_lines += len(self.lines)
            self.lines.clear()
            self.opened = core.CognitiveMemory.absent(self.reason)
            self._is_over.set()
            return True
        return False


GRACE = 10.0  # seconds after shutdown_seconds at which the bot ends even if the memory is not closed
FIELDS = "memory_"  # how the fields of a log line begin
PATIENCE = 2.0  # seconds that the bot's start waits for the memory; later arrivals wait until it is open


class Lifetime:
    """Owns the memory from the bot's start to its end."""

    def __init__(self, setup: Setup) -> None:
        """Start with an absent memory."""
        self._setup = setup
        self._is_tried = asyncio.Event()  # the memory was opened, or could not be
        self._loop: core.BackgroundLoop | None = None
        self._opening: OpeningMemory | None = None  # the present or the last one
        self.on_late_line: Callable[[core.Message], None] = lambda _: None
        """Called with each line that waited for the memory, once the memory has got it."""
        self.memory = core.CognitiveMemory.absent(setup.problem)
        self.is_open = False
        """Whether there is an open memory, also one that is switched off by ``enabled=false``."""

    @property
    def is_listening(self) -> bool:
        """Return whether lines are accepted now, either by the memory or until it is open."""
        return self.memory.is_running or (self._opening is not None and self._opening.opened is None)

    @property
    def refused(self) -> str:
        """Return a sentence on lines and calls refused because the memory was not open yet; "" if none were."""
        opening = self._opening
        if opening is None or not (opening.refused_lines or opening.refused_calls):
            return ""
        return replies.log.CAME_TOO_EARLY.format(lines=opening.refused_lines, calls=opening.refused_calls)

    def waiting_lines(self, scene: core.Scene) -> list[core.Message]:
        """Return the lines of a place that wait for the memory to open, oldest first."""
        lines = self._opening.lines if self._opening else ()
        return [line for line in lines if line.scene.scope == scene.scope]

    @asynccontextmanager
    async def in_order(self) -> AsyncGenerator[core.CognitiveMemory, None]:
        """Yield the memory to one caller after another, in order of arrival, and only once it is open."""
        opening = self._opening
        if opening is None or (opening.opened is not None and not opening.calls):
            yield self.memory
        else:
            async with opening.in_order() as memory:
                yield memory

    async def start(self) -> None:
        """Open the memory, and wait for it a limited time; then opening goes on in the background. Never raises."""
        directory = self._setup.data_dir
        if self._loop is not None or directory is None or self._setup.problem:
            return
        log = logging.getLogger(core.__name__)
        if not log.handlers:  # the core's log, which uses the standard library, goes to the bot's
            log.addHandler(_LinesWithKeyword())
            log.setLevel(logging.INFO)
            log.propagate = False
        self._wait_for_opening()
        self._loop = core.BackgroundLoop("memory", partial(self._live, directory))
        self._loop.start()
        try:
            await asyncio.wait_for(self._is_tried.wait(), PATIENCE)
        except asyncio.TimeoutError:
            logger.info(replies.log.logged(replies.log.STILL_OPENING))

    async def settle(self) -> None:
        """Wait at most ``shutdown_seconds`` until the memory has accepted what waited for it to open."""
        opening = self._opening
        if self._loop is not None and opening and (opening.lines or opening.calls):
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(opening.settled(), self._setup.settings.historian.shutdown_seconds)

    async def stop(self) -> None:
        """Close the memory; nothing that it accepted is lost."""
        await self.settle()
        loop, self._loop = self._loop, None
        if loop is not None:
            closing = asyncio.ensure_future(loop.stop())
            await asyncio.wait((closing,), timeout=self._setup.settings.historian.shutdown_seconds + GRACE)

    def _wait_for_opening(self) -> OpeningMemory:
        self._is_tried.clear()
        self.memory = self._opening = opening = OpeningMemory(replies.log.STILL_OPENING)
        return opening

    async def _live(self, directory: Path) -> float:
        """Hold the memory open until this is cancelled; if not by :meth:`stop`, the loop opens it again."""
        opening, reason = self._opening or self._wait_for_opening(), ""
        try:
            settings = self._setup.settings
            lend = lent_model if settings.bridges else None
            async with core.CognitiveMemory.open(settings, directory, lend=lend) as memory:
                await self._begin(memory, opening, directory)
                try:
                    await asyncio.Event().wait()
                finally:
                    if self._loop is not None:  # what comes now waits until the memory is open again
                        self._wait_for_opening()
        except core.CognitiveMemoryError as refused:
            reason = str(refused)
            logger.error(replies.log.logged(replies.log.NOT_OPENED.format(reason=reason)))
        except Exception as unforeseen:  # noqa: BLE001  # a start-up hook that raises would end the bot
            reason = type(unforeseen).__name__
            logger.opt(exception=unforeseen).error(replies.log.logged(replies.log.NOT_OPENED.format(reason=reason)))
        finally:
            self.is_open = False
            if self._opening is opening:
                self.memory = core.CognitiveMemory.absent(reason)
            if opening.close():
                self._tell_refused()
            self._is_tried.set()
        return math.inf

    async def _begin(self, memory: core.CognitiveMemory, opening: OpeningMemory, directory: Path) -> None:
        """Start to use a memory that was opened: first hand it the lines that waited, then release the calls."""
        lent = await lent_model()
        late = await opening.hand_over(memory)
        self.memory = memory
        for line in late:
            self.on_late_line(line)
        self.is_open = True
        self._is_tried.set()
        if not gc.get_freeze_count():  # a full collection of all that lives until the bot's end would block the loop
            gc.collect()
            gc.freeze()
        await memory.configure(self._setup.settings)  # they may have moved while the memory opened
        historian = replies.log.historian(
            self._setup.settings.models.historian, lent, lender_names(), borrows=memory.borrows
        )
        started = replies.log.started(directory, self._setup.settings, historian, memory.embedder, lent)
        logger.info(replies.log.logged(started))
        self._tell_refused()

    def _tell_refused(self) -> None:
        if self.refused:
            logger.warning(replies.log.logged(self.refused))


class _LinesWithKeyword(LoguruHandler):
    """Forwards log records to NoneBot's log, beginning with the plugin's keyword, for which people search.

    The fields that the core adds to a record (kind, job, place, part) go into ``extra``, for programs.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Forward one record."""
        keyword = replies.log.KEYWORD
        said = record.getMessage().removeprefix(keyword).strip()
        line = logging.makeLogRecord({**record.__dict__, "msg": f"{keyword} {said}", "args": ()})
        given = {name: value for name, value in vars(record).items() if name.startswith(FIELDS) and value}
        room = record.name.removeprefix(f"{core.__name__}.").partition(".")[0]
        with logger.contextualize(**{f"{FIELDS}kind": room, **given}):
            super().emit(line)


lifetime = Lifetime(setup)
driver = get_driver()
driver.on_startup(lifetime.start)
driver.on_shutdown(lifetime.stop)


def get_memory() -> core.CognitiveMemory:
    """Return the running memory.

    While it opens this is an :class:`OpeningMemory`; before the start, after the end and after a failure it is a memory
    that stores nothing.
    """
    return lifetime.memory


def run_with_bot(loop: core.BackgroundLoop) -> None:
    """Run a background loop from the bot's start to its end."""

    async def start() -> None:
        loop.start()

    driver.on_startup(start)
    driver.on_shutdown(loop.stop)
