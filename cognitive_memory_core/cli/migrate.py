"""``cognitive-memory migrate``: takes over the memory of another program; this version knows no such program."""

from __future__ import annotations

import argparse

from .. import sentences
from .bot_directory import BotDirectory, declare_directory
from .open_directory import owning, runner
from .output import refuse
from .parser import Parser, Subcommand, existing_file


def declare(parser: Parser) -> None:
    """Add the arguments."""
    declare_directory(parser)
    words = sentences.command_line
    parser.options.add_argument("file", type=existing_file, metavar="FILE", help=words.MIGRATE_ARGUMENT)
    parser.options.add_argument("--json", action="store_true", help=words.JSON_OPTION)


async def _migrate(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    async with owning(bot):
        return refuse(sentences.command_line.NO_SOURCES.format(path=arguments.file))


COMMAND = Subcommand("migrate", sentences.command_line.MIGRATE_SUMMARY, declare, runner(_migrate))
