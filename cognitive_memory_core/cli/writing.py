"""``import``, ``import-chat``, ``migrate``, ``reindex`` and ``download``: write into the data directory."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import tempfile
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import cast

from .. import sentences
from ..domain.ids import checked_id
from ..domain.message import Backfill, Message
from ..domain.scope import Scene, Scope
from ..errors import BadArgument, CognitiveMemoryError
from ..memory.cognitive_memory import CognitiveMemory
from ..migration.conversion import Conversion
from ..migration.layout import Layout
from ..models import fastembed_models
from ..settings.configuration import decoded
from ..tasks import completed
from ..transfer import export_import
from ..transfer.chat_files import OWN_COMMANDS, ChatFile
from .bot_directory import BotDirectory, owning
from .parser import DONE, FAILED, progress_bar, refuse, say, show

LOOK = 0.5  # seconds between two looks at the progress
MOST_SAID = 20  # bad lines


async def take_in(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Import an export; the first bad lines are named, and all are counted."""
    bad, left_out = list[str](), 0

    def note(record: logging.LogRecord) -> bool:
        nonlocal left_out
        left_out += 1
        if left_out <= MOST_SAID:
            bad.append(record.getMessage())
        return False

    export_import.log.addFilter(note)
    try:
        async with owning(bot, creates=True) as memory:
            with progress_bar(sentences.command_line.IMPORTING, None):
                count = await memory.import_(arguments.file)
    finally:
        export_import.log.removeFilter(note)
    for message in bad:
        refuse(message)
    shown = sentences.command_line.IMPORTED.format(count=count, left_out=left_out)
    return show(arguments, {"rows": count, "left_out": left_out}, shown)


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
    models = bot.settings.models
    set_names = {name for name in (models.embedding.local, models.rerank.local) if "/" in name}
    names: list[str] = arguments.names or sorted(set_names)
    if not names:
        raise BadArgument(sentences.command_line.NOTHING_TO_DOWNLOAD)
    for name in names:
        kind = await asyncio.to_thread(fastembed_models.kind_of, name)
        folder = fastembed_models.folder_of(name, "", bot.data_dir)
        await asyncio.to_thread(fastembed_models.downloaded, kind, name, folder)
        say(sentences.command_line.DOWNLOADED.format(name=name, folder=folder))
        if name not in set_names:
            key = sentences.settings.env_name(f"models.{kind}.local")
            say(sentences.command_line.USE_DOWNLOADED.format(key=key, name=name))
    return DONE


TOGETHER = 2_000  # lines
NOBODY = "0"  # the person of a group's scene before a line names one


async def import_chat(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Take in a file; an unreadable rest of it is named at the end.

    The place is the one that the operator names: a file never decides where it goes.
    """
    settings, path = bot.settings, Path(arguments.path)
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


async def migrate(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Take over the source, or with ``--dry-run`` count what is in it."""
    settings, path, words = bot.settings, arguments.path, sentences.caller
    if settings.isolate_bots and not arguments.agent:
        raise BadArgument(words.WHICH_AGENT)
    agent = checked_id(arguments.agent, "--agent") if arguments.agent else settings.agent
    place: Scope | None = None
    if arguments.group or arguments.user:
        place = Scope(agent, *(("group", arguments.group) if arguments.group else ("private", arguments.user)))
        checked_id(place.place_id, f"--{'group' if arguments.group else 'user'}")
    done: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="cognitive-memory-") as scratch:
        draft = Path(scratch) / "migrated.jsonl"
        if arguments.dry_run:
            found = await _read(path, agent, place, draft)
            shown = words.PREVIEWED.format(found=words.found(found.counts), left_out=found.left_out)
        else:
            async with owning(bot, creates=True) as memory:
                found = await _read(path, agent, place, draft)
                with progress_bar(sentences.command_line.IMPORTING, None):
                    done["rows"] = await memory.import_(draft)
                before = (await memory.status()).jobs.pending
                for turn in Conversion(await asyncio.to_thread(Layout.of, path), agent).turns():
                    await memory.remember(turn)
                done["queued"] = (await memory.status()).jobs.pending - before
            shown = words.MIGRATED.format(
                found=words.found(found.counts), new=done["rows"], jobs=done["queued"], left_out=found.left_out
            )
    for said in found.said:
        refuse(said)
    status = show(arguments, {"found": dict(found.counts), **done, "left_out": found.left_out}, shown)
    return FAILED if found.left_out and not found.counts else status


async def _read(path: Path, agent: str, place: Scope | None, draft: Path) -> Conversion:
    """Write the source into ``draft`` as an export, and count what is in it.

    If cancelled, wait for the thread before returning, so that the folder is not deleted under it.
    """

    def read() -> Conversion:
        found = Conversion(Layout.of(path), agent, place)
        with tempfile.TemporaryDirectory(prefix="cognitive-memory-") as scratch, draft.open("xb") as file:
            found.write(file, Path(scratch))
        for _ in found.turns():
            pass
        return found

    with progress_bar(sentences.caller.READING, None):
        return await completed(asyncio.to_thread(read))
