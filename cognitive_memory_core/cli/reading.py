"""``cognitive-memory search``, ``report`` and ``export``: reads the memory, even while a bot is running with it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import datetime, timezone
from pathlib import Path

from .. import sentences
from ..disk import DirectoryOwner
from ..domain.event import MEMORY_KINDS
from ..domain.reading import ReadFilter
from ..domain.scope import Scene, checked_id
from ..errors import CognitiveMemoryError
from ..lost_ledger import LEDGER
from ..quality.rendering import report_figures, report_markdown
from ..read_only import opened_reader
from ..store.ledger import Ledger
from .bot_directory import BotDirectory
from .parser import DONE, progress_bar, show

LONGEST = 4_000  # characters of a query


async def search(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Search events, or lines of the log, and print the best ones."""
    settings = bot.settings()
    user = arguments.user and checked_id(arguments.user, "--user")
    group = arguments.group and checked_id(arguments.group, "--group")
    kinds = ("message",) if arguments.messages else MEMORY_KINDS
    wanted = ReadFilter(Scene.operator(settings.agent), user, group, kinds)
    async with opened_reader(bot.settings(), bot.existing_dir) as reader:
        hits = await reader.search(wanted, arguments.query[:LONGEST], top_k=arguments.n)
    figures, lines = list[Mapping[str, object]](), list[str]()
    for hit in hits:
        event, place = hit.event, sentences.report.place(hit.event.group_id, hit.event.user_id)
        at = event.happened_at.astimezone(settings.zone)
        lines.append(f"{at:%Y-%m-%d %H:%M}  {hit.score:.2f}  [{place}]  {event.text}")
        told = {name: getattr(event, name) for name in ("id", "kind", "text", "group_id", "user_id", "sender_id")}
        quotes = [{"sender_id": quote.sender_id, "text": quote.text} for quote in event.quotes]
        at_score = {"happened_at": event.happened_at.isoformat(), "score": round(hit.score, 4)}
        figures.append({**told, "quotes": quotes, **at_score})
    return show(arguments, figures, "\n".join(lines) or sentences.command_line.NOTHING_FOUND)


async def report(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Print the quality of what is remembered as Markdown or JSON."""
    async with opened_reader(bot.settings(), bot.existing_dir) as reader:
        found = await reader.report(days=arguments.days)
    if arguments.json:
        show(arguments, report_figures(found), "")
    else:
        sys.stdout.write(report_markdown(found, bot.settings().zone))
    return DONE


async def export(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Write the whole memory, or one person's part, as JSON Lines."""
    target: Path = arguments.file.absolute()
    user = checked_id(arguments.user, "--user") if arguments.user is not None else None
    async with opened_reader(bot.settings(), bot.existing_dir) as reader:
        totals = (await reader.snapshot()).totals
        rows = None if user else totals.events + totals.messages + totals.memos + totals.pins
        with progress_bar(sentences.command_line.EXPORTING, rows) as bar:
            count = await reader.export(target, user_id=user, on_row=bar)
    owner, template = DirectoryOwner(bot.data_dir), sentences.command_line.EXPORTED
    try:  # an erasure names the copies that were made
        await owner.acquire(0.0)
        async with AsyncExitStack() as stack:
            ledger = await Ledger.open(bot.data_dir / LEDGER)
            stack.push_async_callback(ledger.close)
            await ledger.eraser.note_copy(str(target), "export", datetime.now(timezone.utc))
    except CognitiveMemoryError:
        template = sentences.command_line.EXPORTED_BESIDE_BOT
    finally:
        owner.release()
    return show(arguments, {"rows": count, "file": str(target)}, template.format(count=count, path=target))
