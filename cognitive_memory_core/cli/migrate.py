"""``cognitive-memory migrate``: takes over an ``end_summaries.json``, or the data directory of an older system."""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from .. import sentences
from ..domain.scope import checked_id
from ..errors import BadArgument
from ..migration.conversion import Conversion, Destination
from ..migration.layout import Layout
from ..tasks import completed
from .bot_directory import BotDirectory, owning
from .parser import FAILED, progress_bar, refuse, show
from .writing import watched


async def migrate(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Take over the source, or with ``--dry-run`` count what is in it."""
    settings, path, words = bot.settings(), arguments.path, sentences.caller
    if settings.isolate_bots and not arguments.agent:
        raise BadArgument(words.WHICH_AGENT)
    destination = Destination(
        checked_id(arguments.group, "--group") if arguments.group else "",
        checked_id(arguments.user, "--user") if arguments.user else "",
        checked_id(arguments.agent, "--agent") if arguments.agent else settings.agent,
    )
    done: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="cognitive-memory-") as scratch:
        draft = Path(scratch) / "migrated.jsonl"
        if arguments.dry_run:
            found = await _read(path, destination, draft)
            shown = words.PREVIEWED.format(found=words.found(found.counts), left_out=found.left_out)
        else:
            async with owning(bot, creates=True) as memory:
                found = await _read(path, destination, draft)
                rows = sum(found.counts.values())
                with progress_bar(sentences.command_line.IMPORTING, rows) as bar:
                    async with watched(memory, bar, rows):
                        done["rows"] = await memory.import_(draft)
                before = (await memory.status()).jobs.pending
                for turn in Conversion(await asyncio.to_thread(Layout.of, path), destination).turns():
                    await memory.remember(turn)
                done["queued"] = (await memory.status()).jobs.pending - before
            shown = words.MIGRATED.format(
                found=words.found(found.counts), new=done["rows"], jobs=done["queued"], left_out=found.left_out
            )
    for said in found.said:
        refuse(said)
    status = show(arguments, {"found": dict(found.counts), **done, "left_out": found.left_out}, shown)
    return FAILED if found.left_out and not found.counts else status


async def _read(path: Path, destination: Destination, draft: Path) -> Conversion:
    """Write the source into ``draft`` as an export, and count what is in it.

    If cancelled, wait for the thread before returning, so that the folder is not deleted under it.
    """

    def read() -> Conversion:
        found = Conversion(Layout.of(path), destination, bar)
        with tempfile.TemporaryDirectory(prefix="cognitive-memory-") as scratch, draft.open("xb") as file:
            found.write(file, Path(scratch))
        for _ in found.turns():
            pass
        return found

    with progress_bar(sentences.caller.READING, None) as bar:
        return await completed(asyncio.to_thread(read))
