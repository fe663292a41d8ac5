"""``cognitive-memory reindex``: rebuilds the vector index from the ledger."""

from __future__ import annotations

import argparse
import asyncio
import contextlib

from .. import sentences
from ..errors import CognitiveMemoryError
from .bot_directory import BotDirectory, declare_directory
from .open_directory import owning, runner
from .parser import DONE, Parser, Subcommand, console, print_json, progress_bar

LOOK = 0.5  # seconds between two looks at the progress


def declare(parser: Parser) -> None:
    """Add the arguments of ``cognitive-memory reindex``."""
    declare_directory(parser)
    parser.options.add_argument("--json", action="store_true", help=sentences.command_line.JSON_OPTION)


async def _reindex(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    async with owning(bot) as memory:
        with progress_bar(sentences.command_line.REINDEXING, None) as bar:
            building = asyncio.create_task(memory.reindex())
            while not building.done():
                with contextlib.suppress(CognitiveMemoryError):
                    index = (await memory.status()).index
                    bar.show(index.built, index.to_build or None)
                await asyncio.wait((building,), timeout=LOOK)
            count = await building
        waiting = (await memory.status()).index_lag
    if arguments.json:
        print_json({"vectors": count, "waiting": waiting})
    else:
        console().print(sentences.command_line.reindexed(count, waiting), markup=False)
    return DONE


COMMAND = Subcommand("reindex", sentences.command_line.REINDEX_SUMMARY, declare, runner(_reindex))
