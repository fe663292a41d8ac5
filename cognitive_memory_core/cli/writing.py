"""``cognitive-memory import``, ``reindex`` and ``download``: commands that write into the data directory."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from .. import sentences
from ..errors import BadArgument, CognitiveMemoryError
from ..memory import CognitiveMemory
from ..models import fastembed_models
from ..transfer import export_import
from .bot_directory import BotDirectory, owning
from .parser import DONE, console, progress_bar, refuse, show

LOOK = 0.5  # seconds between two looks at the progress
READ = 1 << 20
MOST_SAID = 20  # bad lines


async def take_in(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Import an export; the first bad lines are named, and all are counted."""
    bad, left_out = list[str](), 0

    def line_count() -> int:
        with arguments.file.open("rb") as content:
            return sum(piece.count(b"\n") for piece in iter(lambda: content.read(READ), b""))

    def note(record: logging.LogRecord) -> bool:
        nonlocal left_out
        left_out += 1
        if left_out <= MOST_SAID:
            bad.append(record.getMessage())
        return False

    lines = await asyncio.to_thread(line_count)
    export_import.log.addFilter(note)
    try:
        async with owning(bot, creates=True) as memory:
            with progress_bar(sentences.command_line.IMPORTING, lines) as bar:
                async with watched(memory, bar, lines):
                    count = await memory.import_(arguments.file)
    finally:
        export_import.log.removeFilter(note)
    for message in bad:
        refuse(message)
    shown = sentences.command_line.IMPORTED.format(count=count, left_out=left_out)
    return show(arguments, {"rows": count, "left_out": left_out}, shown)


@asynccontextmanager
async def watched(memory: CognitiveMemory, bar: Callable[..., None], lines: int) -> AsyncGenerator[None, None]:
    """Show on the bar, during the ``with`` block, how many rows the ledger has gained."""

    async def rows() -> int:
        totals = (await memory.status()).totals
        return totals.events + totals.messages + totals.memos + totals.pins

    async def look() -> None:
        before = await rows()
        while True:
            await asyncio.sleep(LOOK)
            bar(await rows() - before, lines)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError, CognitiveMemoryError):
            await looking


async def reindex(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Rebuild the vector index from the ledger."""
    async with owning(bot) as memory:
        with progress_bar(sentences.command_line.REINDEXING, None) as bar:
            building = asyncio.create_task(memory.reindex())
            while not building.done():
                with contextlib.suppress(CognitiveMemoryError):
                    index = (await memory.status()).index
                    bar(index.built, index.to_build or None)
                await asyncio.wait((building,), timeout=LOOK)
            count = await building
        waiting = (await memory.status()).index_lag
    told = sentences.command_line.REINDEXED_PARTLY if waiting else sentences.command_line.REINDEXED
    figures = {"vectors": count, "waiting": waiting}
    return show(arguments, figures, told.format(count=count, waiting=waiting))


async def download(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Fetch models that run on this machine; a bot itself never downloads any."""
    models = bot.settings().models
    set_names = {name for name in (models.embedding.local, models.rerank.local) if "/" in name}
    names: list[str] = arguments.names or sorted(set_names)
    if not names:
        raise BadArgument(sentences.command_line.NOTHING_TO_DOWNLOAD)
    for name in names:
        kind = await asyncio.to_thread(fastembed_models.kind_of, name)
        folder = fastembed_models.folder_of(name, "", bot.data_dir)
        await asyncio.to_thread(fastembed_models.downloaded, kind, name, folder)
        console().print(sentences.command_line.DOWNLOADED.format(name=name, folder=folder), markup=False)
        if name not in set_names:
            key = sentences.settings.env_name(f"models.{kind}.local")
            console().print(sentences.command_line.USE_DOWNLOADED.format(key=key, name=name), markup=False)
    return DONE
