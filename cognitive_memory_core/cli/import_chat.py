"""``cognitive-memory import-chat``: takes in a chat that another program exported."""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import cast

from .. import sentences
from ..domain.message import Backfill, Message
from ..domain.scope import Scene, checked_id
from ..env_variables import decoded
from ..errors import BadArgument
from ..memory import CognitiveMemory
from ..transfer.chat_files import OWN_COMMANDS, ChatFile
from .bot_directory import BotDirectory, owning
from .parser import progress_bar, refuse, show

TOGETHER = 2_000  # lines
NOBODY = "0"  # the person of a group's scene before a line names one


async def import_chat(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Take in a file; an unreadable rest of it is named at the end.

    The place is the one that the operator names: a file never decides where it goes.
    """
    settings, path = bot.settings(), Path(arguments.path)
    if bool(arguments.group) == bool(arguments.user):
        raise BadArgument(sentences.caller.PLACE_WANTED)
    if settings.isolate_bots and not arguments.agent:
        raise BadArgument(sentences.caller.WHICH_AGENT)
    agent, group_id = arguments.agent or settings.agent, arguments.group
    place = Scene.group(group_id, NOBODY, agent=agent) if group_id else Scene.private(arguments.user, agent=agent)
    bots = frozenset(checked_id(one, "--bot") for one in arguments.bot)
    if group_id and not bots:
        raise BadArgument(sentences.caller.BOTS_WANTED)
    given = decoded(bot.value("command_start") or '["/"]')  # what begins so is not recorded
    signs = cast("list[object]", given) if isinstance(given, list) else [given]
    commands = (*(sign for sign in signs if isinstance(sign, str) and sign), *OWN_COMMANDS)
    file = await asyncio.to_thread(ChatFile, path, place, bots, commands, settings.zone)
    async with owning(bot, creates=True) as memory:
        report, failure = await _taken_in(file, memory)
    figures = {"taken": report.taken, "known": report.known, "left_out": dict(report.left_out)}
    status = show(arguments, figures, sentences.caller.DONE.format(outcome=report.summary))
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

    with progress_bar(sentences.caller.READING_CHAT, file.size) as bar:
        while some := await asyncio.to_thread(batch):
            report = report.plus(Backfill(left_out=Counter(one for one in some if isinstance(one, str))))
            report = report.plus(await memory.backfill([one for one in some if isinstance(one, Message)]))
            bar(file.position, file.size)
    return report, failure
