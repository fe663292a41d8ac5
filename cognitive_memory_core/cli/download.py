"""``cognitive-memory download``: fetches models that run on this machine; a bot itself never downloads any."""

from __future__ import annotations

import argparse
import asyncio

from .. import sentences
from ..errors import BadArgument
from ..models import named
from .bot_directory import BotDirectory, declare_directory
from .open_directory import runner
from .parser import DONE, Parser, Subcommand, console


def declare(parser: Parser) -> None:
    """Add the arguments of ``cognitive-memory download``."""
    declare_directory(parser)
    parser.options.add_argument("names", nargs="*", metavar="NAME", help=sentences.command_line.DOWNLOAD_ARGUMENT)


async def _download(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    models = bot.settings().models
    set_names = {name for name in (models.embedding.local, models.rerank.local) if "/" in name}
    names: list[str] = arguments.names or sorted(set_names)
    if not names:
        raise BadArgument(sentences.command_line.NOTHING_TO_DOWNLOAD)
    for name in names:
        kind = await asyncio.to_thread(named.kind_of, name)
        folder = named.folder_of(name, "", bot.data_dir)
        await asyncio.to_thread(named.downloaded, kind, name, folder)
        console().print(sentences.command_line.DOWNLOADED.format(name=name, folder=folder), markup=False)
        if name not in set_names:
            key = sentences.settings.env_name(f"models.{kind}.local")
            console().print(sentences.command_line.USE_DOWNLOADED.format(key=key, name=name), markup=False)
    return DONE


COMMAND = Subcommand("download", sentences.command_line.DOWNLOAD_SUMMARY, declare, runner(_download))
