"""Opens the bot's one memory when the bot starts, and closes it when the bot ends.

Until it is open, and if opening failed, callers get a memory that stores nothing.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from nonebot import get_driver, logger
from nonebot.log import LoguruHandler

import cognitive_memory_core as core

from . import replies
from .config import Setup, setup
from .lending import lender_names, lent_model

WAITING = 5_000  # lines and calls that may wait; later ones are refused
WAIT, LONG_WAIT = 60.0, 3_600.0  # seconds for which a call waits, and what nobody waits for
GRACE = 10.0  # seconds after shutdown_seconds at which the bot ends even if the memory is not closed
FIELDS = "memory_"  # how the fields of a log line begin
PATIENCE = 2.0  # seconds that the bot's start waits for the memory; later arrivals wait until it is open


class Lifetime:
    """Owns the memory from the bot's start to its end.

    What arrives while the memory opens waits in order of arrival: calls by :meth:`in_order`, lines by :meth:`hand_in`.
    """

    def __init__(self, setup: Setup) -> None:
        """Start with an absent memory."""
        self._setup = setup
        self._loop: core.BackgroundLoop | None = None
        self._is_opening = False
        self._opening_ended = asyncio.Event()  # the memory was opened, or could not be
        self._order = asyncio.Lock()
        self._waiting = self._refused = 0
        self._handing_in = set[asyncio.Task[None]]()
        self.memory = core.CognitiveMemory.absent(setup.problem)
        self.is_open = False
        """Whether there is an open memory, also one that is switched off by ``enabled=false``."""

    @property
    def is_listening(self) -> bool:
        """Return whether lines are accepted now, either by the memory or until it is open."""
        return self.memory.is_running or self._is_opening

    @property
    def refused(self) -> str:
        """Return a sentence on what was refused because the memory was not open yet; "" if nothing was."""
        return replies.log.CAME_TOO_EARLY.format(count=self._refused) if self._refused else ""

    @asynccontextmanager
    async def in_order(self, *, is_patient: bool = False) -> AsyncGenerator[core.CognitiveMemory, None]:
        """Yield the memory once it is open and earlier callers are done; an absent one if that takes too long."""
        if not (self._is_opening or self._waiting):
            yield self.memory
        elif self._waiting >= WAITING:
            self._refused += 1
            yield core.CognitiveMemory.absent(replies.log.STILL_OPENING)
        else:
            self._waiting += 1
            try:
                try:
                    await asyncio.wait_for(self._opening_ended.wait(), LONG_WAIT if is_patient else WAIT)
                except asyncio.TimeoutError:
                    self._refused += 1
                async with self._order:
                    yield self.memory
            finally:
                self._waiting -= 1

    async def hand_in(self, work: Callable[[core.CognitiveMemory], Awaitable[object]]) -> None:
        """Do something with the memory: now if it is open, else once it is, without holding up the caller."""

        async def later() -> None:
            with suppress(core.CognitiveMemoryError):
                async with self.in_order(is_patient=True) as memory:
                    await work(memory)

        if not (self._is_opening or self._waiting):
            await work(self.memory)
        else:
            task = asyncio.create_task(later())
            self._handing_in.add(task)
            task.add_done_callback(self._handing_in.discard)

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
        self._hold_back()
        self._loop = core.BackgroundLoop("memory", partial(self._hold_open, directory))
        self._loop.start()
        try:
            await asyncio.wait_for(self._opening_ended.wait(), PATIENCE)
        except asyncio.TimeoutError:
            logger.info(replies.log.logged(replies.log.STILL_OPENING))

    async def settle(self) -> None:
        """Wait at most ``shutdown_seconds`` until the memory has accepted what waited for it to open."""
        if self._loop is not None and (self._waiting or self._handing_in):
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._opening_ended.wait(), self._setup.settings.historian.shutdown_seconds)
                async with self._order:
                    pass

    async def stop(self) -> None:
        """Close the memory; nothing that it accepted is lost."""
        await self.settle()
        loop, self._loop = self._loop, None
        if loop is not None:
            closing = asyncio.ensure_future(loop.stop())
            await asyncio.wait((closing,), timeout=self._setup.settings.historian.shutdown_seconds + GRACE)

    def _hold_back(self) -> None:
        """Let what comes now wait until the memory is open."""
        self._is_opening, self.is_open = True, False
        self._opening_ended.clear()
        self.memory = core.CognitiveMemory.absent(replies.log.STILL_OPENING)

    async def _hold_open(self, directory: Path) -> float:
        """Hold the memory open until this is cancelled; if not by :meth:`stop`, the loop opens it again."""
        reason = ""
        try:
            settings = self._setup.settings
            lend = lent_model if settings.bridges else None
            async with core.CognitiveMemory.open(settings, directory, lend=lend) as memory:
                try:
                    await self._begin(memory, directory)
                    await asyncio.Event().wait()
                finally:
                    if self._loop is not None:
                        self._hold_back()
        except core.CognitiveMemoryError as refused:
            reason = str(refused)
            logger.error(replies.log.logged(replies.log.NOT_OPENED.format(reason=reason)))
        except Exception as unforeseen:  # noqa: BLE001  # a start-up hook that raises would end the bot
            reason = type(unforeseen).__name__
            logger.opt(exception=unforeseen).error(replies.log.logged(replies.log.NOT_OPENED.format(reason=reason)))
        finally:
            if reason or self._loop is None:  # else somebody cancelled it
                self._refused += self._waiting
                self._use(core.CognitiveMemory.absent(reason))
        return math.inf

    async def _begin(self, memory: core.CognitiveMemory, directory: Path) -> None:
        """Start to use a memory that was opened; what waited is handed to it in order."""
        lent = await lent_model()
        self._use(memory, is_open=True)
        if not gc.get_freeze_count():  # a full collection of all that lives until the bot's end would block the loop
            gc.collect()
            gc.freeze()
        await memory.configure(self._setup.settings)  # they may have moved while the memory opened
        historian = replies.log.historian(
            self._setup.settings.models.historian, lent, lender_names(), borrows=memory.borrows
        )
        started = replies.log.started(directory, self._setup.settings, historian, memory.embedder, lent)
        logger.info(replies.log.logged(started))

    def _use(self, memory: core.CognitiveMemory, *, is_open: bool = False) -> None:
        if self._is_opening and self.refused:
            logger.warning(replies.log.logged(self.refused))
        self.memory, self.is_open, self._is_opening = memory, is_open, False
        self._opening_ended.set()


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
    """Return the running memory; before it is open, after the end and after a failure one that stores nothing."""
    return lifetime.memory


def run_with_bot(loop: core.BackgroundLoop) -> None:
    """Run a background loop from the bot's start to its end."""

    async def start() -> None:
        loop.start()

    driver.on_startup(start)
    driver.on_shutdown(loop.stop)
