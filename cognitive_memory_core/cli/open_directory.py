"""Opens the data directory for a subcommand, and turns every expected failure into one sentence and a status."""

from __future__ import annotations

import argparse
import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from .. import sentences
from ..disk import is_owned
from ..errors import BadArgument, CognitiveMemoryError, DirectoryInUse
from ..lost_ledger import LEDGER
from ..memory import CognitiveMemory
from ..read_only import MemoryReader, opened_reader
from ..settings import Settings
from .bot_directory import BotDirectory, bot_directory
from .parser import FAILED, refuse

Work = Callable[[argparse.Namespace, BotDirectory], Awaitable[int]]


def runner(work: Work) -> Callable[[argparse.Namespace], int]:
    """Return a function that runs ``work`` on the bot's data directory and returns the exit status."""

    def run(arguments: argparse.Namespace) -> int:
        logging.getLogger("cognitive_memory_core").addHandler(logging.NullHandler())
        try:
            return asyncio.run(_worked(work, arguments))
        except KeyboardInterrupt:
            return refuse(sentences.command_line.INTERRUPTED)

    return run


@asynccontextmanager
async def reading(bot: BotDirectory) -> AsyncGenerator[MemoryReader, None]:
    """Open the directory for reading, even while a bot owns it; raises UnavailableError, BadArgument."""
    data_dir = existing(bot.data_dir)
    async with opened_reader(bot.settings(), data_dir) as reader:
        yield reader


@asynccontextmanager
async def owning(
    bot: BotDirectory, *, creates: bool = False, background: bool = False
) -> AsyncGenerator[CognitiveMemory, None]:
    """Open the directory as its owner; raises DirectoryInUse while a bot owns it."""
    data_dir = bot.data_dir if creates else existing(bot.data_dir)
    if await asyncio.to_thread(is_owned, data_dir):
        raise DirectoryInUse
    async with CognitiveMemory.open(_without_waiting(bot.settings()), data_dir, background=background) as memory:
        yield memory


def existing(data_dir: Path) -> Path:
    """Return ``data_dir`` if it has a ledger, else raise BadArgument."""
    if not (data_dir / LEDGER).is_file():
        raise BadArgument(sentences.command_line.NO_LEDGER.format(path=data_dir))
    return data_dir


async def _worked(work: Work, arguments: argparse.Namespace) -> int:
    try:
        return await work(arguments, bot_directory(arguments))
    except DirectoryInUse:
        return refuse(sentences.command_line.BOT_IS_RUNNING)
    except CognitiveMemoryError as refused:
        return refuse(refused)
    except BrokenPipeError:
        return FAILED


def _without_waiting(settings: Settings) -> Settings:
    """Return the settings with ``enabled`` on and ``shutdown_seconds`` 0, so that the command waits for no jobs."""
    return settings.model_copy(
        update={"historian": settings.historian.model_copy(update={"shutdown_seconds": 0.0}), "enabled": True}
    )
