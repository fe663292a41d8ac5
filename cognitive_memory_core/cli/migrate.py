"""``cognitive-memory migrate``: takes over an ``end_summaries.json``, or the data directory of an older system."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from .. import sentences
from ..domain.ids import checked_id
from ..errors import BadArgument
from ..memory import CognitiveMemory
from ..migration.conversion import Conversion, Destination
from ..migration.layout import Layout
from ..tasks import completed
from .bot_directory import BotDirectory, owning
from .parser import FAILED, Parser, existing_path, progress_bar, refuse, show
from .writing import watched


def declare_migrate(parser: Parser) -> None:
    """Add the arguments of ``cognitive-memory migrate``."""
    words = sentences.command_line
    parser.options.add_argument("path", type=existing_path, metavar="PATH", help=words.MIGRATE_ARGUMENT)
    parser.options.add_argument("--dry-run", action="store_true", help=words.DRY_RUN_OPTION)
    parser.options.add_argument("--group", metavar="ID", default="", help=words.MIGRATE_GROUP_OPTION)
    parser.options.add_argument("--user", metavar="ID", default="", help=words.MIGRATE_USER_OPTION)
    parser.options.add_argument("--agent", metavar="NAME", default="", help=words.MIGRATE_AGENT_OPTION)
    parser.options.add_argument("--json", action="store_true", help=words.JSON_OPTION)


async def migrate(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Take over the source, or with ``--dry-run`` count what is in it."""
    destination, words = _destination(arguments, bot), sentences.migration
    if arguments.dry_run:
        report, done = await _read(arguments.path, destination, None), {}
        shown = words.PREVIEWED.format(found=words.found(report.counts), left_out=report.left_out)
    else:
        async with owning(bot, creates=True) as memory:
            report, done = await _taken_over(arguments.path, destination, memory)
        shown = words.MIGRATED.format(
            found=words.found(report.counts), new=done["rows"], jobs=done["queued"], left_out=report.left_out
        )
    for said in report.said:
        refuse(said)
    status = show(arguments, {"found": dict(report.counts), **done, "left_out": report.left_out}, shown)
    return FAILED if report.left_out and not report.counts else status


def _destination(arguments: argparse.Namespace, bot: BotDirectory) -> Destination:
    """Return whose memory receives the data; raises BadArgument if ``isolate_bots`` is on and no account is named."""
    settings = bot.settings()
    if settings.isolate_bots and not arguments.agent:
        raise BadArgument(sentences.migration.WHICH_AGENT)
    return Destination(
        checked_id(arguments.group, "--group") if arguments.group else "",
        checked_id(arguments.user, "--user") if arguments.user else "",
        checked_id(arguments.agent, "--agent") if arguments.agent else settings.agent,
    )


async def _taken_over(
    path: Path, destination: Destination, memory: CognitiveMemory
) -> tuple[Conversion, dict[str, int]]:
    """Import the source; return what was found, and how many rows are new and how many jobs were queued."""
    with tempfile.TemporaryDirectory(prefix="cognitive-memory-") as scratch:
        draft = Path(scratch) / "migrated.jsonl"
        found = await _read(path, destination, draft)
        rows = sum(found.counts.values())
        with progress_bar(sentences.command_line.IMPORTING, rows) as bar:
            async with watched(memory, bar, rows):
                new = await memory.import_(draft)
    before = (await memory.status()).jobs.pending
    for turn in Conversion(await asyncio.to_thread(Layout.of, path), destination).turns():
        await memory.remember(turn)
    return found, {"rows": new, "queued": (await memory.status()).jobs.pending - before}


async def _read(path: Path, destination: Destination, draft: Path | None) -> Conversion:
    """Write the source into ``draft`` as an export; if ``draft`` is None only count.

    If cancelled, wait for the thread before returning, so that the folder is not deleted under it.
    """

    def read() -> Conversion:
        found = Conversion(Layout.of(path), destination, bar)
        with tempfile.TemporaryDirectory(prefix="cognitive-memory-") as scratch:
            with (draft or Path(scratch) / "preview.jsonl").open("xb") as file:
                found.write(file, Path(scratch))
            for _ in found.turns():
                pass
        return found

    with progress_bar(sentences.migration.READING, None) as bar:
        return await completed(asyncio.to_thread(read))
