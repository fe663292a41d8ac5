"""Start and stop: owns the one memory. While there is none, everybody gets one that stores and recalls nothing."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from nonebot import get_driver, logger
from nonebot.log import LoguruHandler

import cognitive_memory_core as core

from . import replies
from .config import Setup, setup

GRACE = 10.0  # seconds beyond shutdown_seconds after which the bot ends with or without its memory
PATIENCE = 2.0  # seconds that the bot's start waits for the memory; behind a lock it comes later


class Lifetime:
    """From the bot's start to its end, with the memory that is open meanwhile."""

    def __init__(self, setup: Setup) -> None:
        """Begin with an absent memory."""
        self._setup = setup
        self._opened = asyncio.Event()
        self._over = asyncio.Event()
        self._life: asyncio.Task[None] | None = None
        self.memory = core.CognitiveMemory.absent(setup.problem)

    async def start(self) -> None:
        """Open the memory, waiting for it a little; the rest happens in the background. Raises nothing."""
        directory = self._setup.data_dir
        if self._life is not None or directory is None or self._setup.problem:
            return
        _hear_the_core()
        self._opened, self._over = asyncio.Event(), asyncio.Event()
        self.memory = core.CognitiveMemory.absent(replies.still_opening())
        self._life = asyncio.create_task(self._live(directory))
        await self._wait_a_little(self._life)

    async def stop(self) -> None:
        """Close the memory; nothing that it accepted is lost."""
        life, self._life = self._life, None
        if life is None:
            return
        self._over.set()
        if not self._opened.is_set():
            life.cancel()
        await asyncio.wait((life,), timeout=self._setup.settings.historian.shutdown_seconds + GRACE)
        life.cancel()

    async def _wait_a_little(self, life: asyncio.Task[None]) -> None:
        opened = asyncio.create_task(self._opened.wait())
        await asyncio.wait((life, opened), timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        if not opened.cancel() or life.done():
            return
        logger.info(replies.logged(replies.still_opening()))

    async def _live(self, directory: Path) -> None:
        reason = ""
        try:
            async with core.CognitiveMemory.open(self._setup.settings, directory) as self.memory:
                logger.info(replies.logged(replies.started(directory, self._setup.settings)))
                self._opened.set()
                await self._over.wait()
        except core.CognitiveMemoryError as refused:
            reason = str(refused)
            logger.error(replies.logged(replies.not_opened(reason)))
        except Exception as unforeseen:  # noqa: BLE001  # a start-up hook that raises would end the bot
            reason = type(unforeseen).__name__
            logger.opt(exception=unforeseen).error(replies.logged(replies.not_opened(reason)))
        finally:
            self.memory = core.CognitiveMemory.absent(reason)


def _hear_the_core() -> None:
    """Send the core's log, which is Python's own, where the bot's log goes."""
    log = logging.getLogger(core.__name__)
    if not log.handlers:
        log.addHandler(LoguruHandler())
        log.setLevel(logging.INFO)
        log.propagate = False


lifetime = Lifetime(setup)
driver = get_driver()
driver.on_startup(lifetime.start)
driver.on_shutdown(lifetime.stop)


def get_memory() -> core.CognitiveMemory:
    """Give the running memory; before the start, after the end and in every trouble one that keeps nothing."""
    return lifetime.memory
