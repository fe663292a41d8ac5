"""``cognitive-memory search``, ``report`` and ``export``: reads the memory, even while a bot is running with it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from datetime import datetime, timezone, tzinfo
from pathlib import Path

from .. import sentences
from ..disk import DirectoryOwner
from ..domain.context import Hit
from ..domain.event import MEMORY_KINDS
from ..domain.ids import checked_id
from ..domain.read_filter import ReadFilter
from ..domain.scope import Scene
from ..errors import CognitiveMemoryError, StorageRefused
from ..lost_ledger import LEDGER
from ..quality.rendering import report_figures, report_markdown, report_page
from ..store.ledger import Ledger
from .bot_directory import BotDirectory, reading
from .parser import DONE, Parser, console, counted, progress_bar, show

MOST, USUAL, LONGEST = 200, 10, 4_000
DAYS, MOST_DAYS = 30, 366


def declare_search(parser: Parser) -> None:
    """Add the arguments of ``cognitive-memory search``."""
    words = sentences.command_line
    parser.options.add_argument("query", metavar="TEXT", help=words.QUERY_ARGUMENT)
    parser.options.add_argument("-n", type=counted(MOST), default=USUAL, metavar="N", help=words.COUNT_OPTION)
    parser.options.add_argument("--group", metavar="ID", default="", help=words.GROUP_OPTION)
    parser.options.add_argument("--user", metavar="ID", default="", help=words.USER_OPTION)
    parser.options.add_argument("--messages", action="store_true", help=words.MESSAGES_OPTION)
    parser.options.add_argument("--json", action="store_true", help=words.JSON_OPTION)


async def search(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Search events, or lines of the log, and print the best ones."""
    settings = bot.settings()
    user, group = (
        value and checked_id(value, name) for name, value in (("--user", arguments.user), ("--group", arguments.group))
    )
    kinds = ("message",) if arguments.messages else MEMORY_KINDS
    wanted = ReadFilter(Scene.operator(settings.agent), user, group, kinds)
    async with reading(bot) as reader:
        hits = await reader.search(wanted, arguments.query[:LONGEST], top_k=arguments.n)
    lines = [_line(hit, settings.zone) for hit in hits] or [sentences.command_line.NOTHING_FOUND]
    return show(arguments, [_figures(hit) for hit in hits], "\n".join(lines))


def _line(hit: Hit, zone: tzinfo) -> str:
    event = hit.event
    place = sentences.status.place(event.group_id, event.user_id)
    return f"{event.happened_at.astimezone(zone):%Y-%m-%d %H:%M}  {hit.score:.2f}  [{place}]  {event.text}"


def _figures(hit: Hit) -> Mapping[str, object]:
    event = hit.event
    return {
        **{name: getattr(event, name) for name in ("id", "kind", "text", "group_id", "user_id", "sender_id")},
        "quotes": [{"sender_id": quote.sender_id, "text": quote.text} for quote in event.quotes],
        "happened_at": event.happened_at.isoformat(),
        "score": round(hit.score, 4),
    }


def declare_report(parser: Parser) -> None:
    """Add the arguments of ``cognitive-memory report``."""
    parser.options.add_argument("--json", action="store_true", help=sentences.command_line.JSON_OPTION)
    parser.options.add_argument("--html", type=Path, metavar="FILE", help=sentences.report.HTML_OPTION)
    parser.options.add_argument("--days", type=counted(MOST_DAYS), default=DAYS, help=sentences.report.DAYS_OPTION)


async def report(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Print the quality of what is remembered as Markdown or JSON, or write it as a page."""
    async with reading(bot) as reader:
        found = await reader.report(days=arguments.days)
    zone, path = bot.settings().zone, arguments.html
    if path is not None:
        try:
            path.touch(mode=0o600)  # it quotes what people said
            path.write_text(report_page(found, zone), "utf-8")
        except OSError as refused:
            reason = refused.strerror
            raise StorageRefused(sentences.storage_errors.COPY_REFUSED.format(path=path, reason=reason)) from refused
        console().print(sentences.report.WRITTEN.format(path=path), markup=False)
    elif arguments.json:
        show(arguments, report_figures(found), "")
    else:
        sys.stdout.write(report_markdown(found, zone))
    return DONE


def declare_export(parser: Parser) -> None:
    """Add the arguments of ``cognitive-memory export``."""
    words = sentences.command_line
    parser.options.add_argument("file", type=Path, metavar="FILE", help=words.EXPORT_ARGUMENT)
    parser.options.add_argument("--user", metavar="ID", default=None, help=words.EXPORT_USER_OPTION)
    parser.options.add_argument("--json", action="store_true", help=words.JSON_OPTION)


async def export(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Write the whole memory, or one person's part, as JSON Lines."""
    target: Path = arguments.file.absolute()
    user = checked_id(arguments.user, "--user") if arguments.user is not None else None
    async with reading(bot) as reader:
        totals = (await reader.snapshot()).totals
        rows = None if user else totals.events + totals.messages + totals.memos + totals.pins
        with progress_bar(sentences.command_line.EXPORTING, rows) as bar:
            count = await reader.export(target, user_id=user, on_row=bar)
    words = sentences.command_line
    template = words.EXPORTED if await _is_recorded(bot.data_dir, target) else words.EXPORTED_BESIDE_BOT
    return show(arguments, {"rows": count, "file": str(target)}, template.format(count=count, path=target))


async def _is_recorded(data_dir: Path, target: Path) -> bool:
    """Record the export in the ledger, so that an erasure can name it; return False if the ledger cannot be written."""
    owner = DirectoryOwner(data_dir)
    try:
        await owner.acquire(0.0)
        ledger = await Ledger.open(data_dir / LEDGER)
        try:
            await ledger.eraser.note_copy(str(target), "export", datetime.now(timezone.utc))
        finally:
            await ledger.close()
    except CognitiveMemoryError:
        return False
    finally:
        owner.release()
    return True
