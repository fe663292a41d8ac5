"""``cognitive-memory import-chat``: takes in a chat that another program exported."""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import cast

from .. import sentences
from ..domain.ids import checked_id
from ..domain.message import Backfill, Message
from ..domain.scope import Scene
from ..env_variables import decoded
from ..errors import BadArgument
from ..memory import CognitiveMemory
from ..settings import Settings
from ..transfer.chat_files import OWN_COMMANDS, ChatFile
from .bot_directory import BotDirectory, owning
from .parser import Parser, existing_path, progress_bar, refuse, show

TOGETHER = 2_000  # lines
NOBODY = "0"  # the person of a group's scene before a line names one


def declare_import_chat(parser: Parser) -> None:
    """Add the arguments of ``cognitive-memory import-chat``."""
    words = sentences.command_line
    parser.options.add_argument("path", type=existing_path, metavar="FILE", help=words.IMPORT_CHAT_ARGUMENT)
    parser.options.add_argument("--group", metavar="ID", default="", help=words.CHAT_GROUP_OPTION)
    parser.options.add_argument("--user", metavar="ID", default="", help=words.CHAT_USER_OPTION)
    parser.options.add_argument("--bot", metavar="ID", action="append", default=[], help=words.CHAT_BOT_OPTION)
    parser.options.add_argument("--agent", metavar="NAME", default="", help=words.MIGRATE_AGENT_OPTION)
    parser.options.add_argument("--json", action="store_true", help=words.JSON_OPTION)


async def import_chat(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Take in a file; an unreadable rest of it is named at the end."""
    settings, path = bot.settings(), Path(arguments.path)
    place, bots = _place(arguments, settings), frozenset(checked_id(one, "--bot") for one in arguments.bot)
    if place.group_id and not bots:
        raise BadArgument(sentences.backfill.BOTS_WANTED)
    file = await asyncio.to_thread(ChatFile, path, place, bots, _command_signs(bot), settings.zone)
    async with owning(bot, creates=True) as memory:
        report, failure = await _taken_in(file, memory)
    figures = {"taken": report.taken, "known": report.known, "left_out": dict(report.left_out)}
    status = show(arguments, figures, sentences.backfill.DONE.format(outcome=report.summary))
    return refuse(failure) if failure else status


async def _taken_in(file: ChatFile, memory: CognitiveMemory) -> tuple[Backfill, BadArgument | None]:
    """Take in a file; return what became of its lines, and why the rest of it cannot be read, if that is so."""
    report, lines = Backfill(), file.messages()
    failure: BadArgument | None = None

    def batch() -> list[Message | str]:
        nonlocal failure
        read: list[Message | str] = []
        try:
            read.extend(islice(lines, TOGETHER))  # keeps what was read before a failure
        except BadArgument as broken:
            failure = broken
        return read

    with progress_bar(sentences.backfill.READING, file.size) as bar:
        while some := await asyncio.to_thread(batch):
            report = report.plus(Backfill(left_out=Counter(one for one in some if isinstance(one, str))))
            report = report.plus(await memory.backfill([one for one in some if isinstance(one, Message)]))
            bar(file.position, file.size)
    return report, failure


def _place(arguments: argparse.Namespace, settings: Settings) -> Scene:
    """Return the place that the operator names; a file never decides where it goes."""
    if bool(arguments.group) == bool(arguments.user):
        raise BadArgument(sentences.backfill.PLACE_WANTED)
    if settings.isolate_bots and not arguments.agent:
        raise BadArgument(sentences.migration.WHICH_AGENT)
    agent = arguments.agent or settings.agent
    return (
        Scene.group(arguments.group, NOBODY, agent=agent)
        if arguments.group
        else Scene.private(arguments.user, agent=agent)
    )


def _command_signs(bot: BotDirectory) -> tuple[str, ...]:
    """Return how commands begin, by NoneBot's setting; what begins with one is not recorded."""
    given = decoded(bot.value("command_start") or '["/"]')
    signs = cast("list[object]", given) if isinstance(given, list) else [given]
    return (*(sign for sign in signs if isinstance(sign, str) and sign), *OWN_COMMANDS)
