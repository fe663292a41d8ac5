"""``cognitive-memory report``: the quality of what is remembered, as Markdown, JSON or a page."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from .. import sentences
from ..errors import StorageRefused
from ..quality.rendering import report_figures, report_markdown, report_page
from .bot_directory import BotDirectory, declare_directory
from .open_directory import reading, runner
from .parser import DONE, Parser, Subcommand, console, counted, print_json

DAYS, MOST_DAYS = 30, 366


def declare(parser: Parser) -> None:
    """Add the arguments of ``cognitive-memory report``."""
    declare_directory(parser)
    parser.options.add_argument("--json", action="store_true", help=sentences.command_line.JSON_OPTION)
    parser.options.add_argument("--html", type=Path, metavar="FILE", help=sentences.report.HTML_OPTION)
    parser.options.add_argument("--days", type=counted(MOST_DAYS), default=DAYS, help=sentences.report.DAYS_OPTION)


async def _report(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    async with reading(bot) as reader:
        report = await reader.report(days=arguments.days)
    zone = bot.settings().zone
    if arguments.html is not None:
        await asyncio.to_thread(_written, arguments.html, report_page(report, zone))
        console().print(sentences.report.WRITTEN.format(path=arguments.html), markup=False)
    elif arguments.json:
        print_json(report_figures(report))
    else:
        sys.stdout.write(report_markdown(report, zone))
    return DONE


def _written(path: Path, page: str) -> None:
    """Write the page for its owner alone: it quotes what people said."""
    try:
        path.touch(mode=0o600)
        path.write_text(page, "utf-8")
    except OSError as refused:
        raise StorageRefused(
            sentences.storage_errors.COPY_REFUSED.format(path=path, reason=refused.strerror)
        ) from refused


COMMAND = Subcommand("report", sentences.report.REPORT_SUMMARY, declare, runner(_report))
