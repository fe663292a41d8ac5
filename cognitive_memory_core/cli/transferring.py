"""``cognitive-memory export`` and ``import``: the whole memory, or one person's part, as JSON Lines."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from datetime import datetime, timezone
from pathlib import Path

from .. import sentences
from ..disk import DirectoryOwner
from ..domain.ids import checked_id
from ..errors import CognitiveMemoryError
from ..lost_ledger import LEDGER
from ..memory import CognitiveMemory
from ..store.database.copies import Copy
from ..store.ledger import Ledger
from .bot_directory import BotDirectory, declare_directory
from .open_directory import owning, reading, runner
from .parser import DONE, Parser, ProgressBar, Subcommand, console, existing_file, print_json, progress_bar, refuse

LOOK = 0.5  # seconds between two looks at the progress of an import
READ = 1 << 20


def declare_export(parser: Parser) -> None:
    """Add the arguments of export."""
    words = sentences.command_line
    declare_directory(parser)
    parser.options.add_argument("file", type=Path, metavar="FILE", help=words.EXPORT_ARGUMENT)
    parser.options.add_argument("--user", metavar="ID", default=None, help=words.EXPORT_USER_OPTION)
    parser.options.add_argument("--json", action="store_true", help=words.JSON_OPTION)


def declare_import(parser: Parser) -> None:
    """Add the arguments of import."""
    declare_directory(parser)
    parser.options.add_argument("file", type=existing_file, metavar="FILE", help=sentences.command_line.IMPORT_ARGUMENT)
    parser.options.add_argument("--json", action="store_true", help=sentences.command_line.JSON_OPTION)


async def _export(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    target: Path = arguments.file.absolute()
    user = checked_id(arguments.user, "--user") if arguments.user is not None else None
    async with reading(bot) as reader:
        totals = (await reader.snapshot()).totals
        rows = None if user else totals.events + totals.messages + totals.memos + totals.pins
        with progress_bar(sentences.command_line.EXPORTING, rows) as bar:
            count = await reader.export(target, user_id=user, on_row=bar.advance)
    is_noted = await _has_recorded_copy(bot.data_dir, target)
    if arguments.json:
        print_json({"rows": count, "file": str(target)})
    else:
        template = sentences.command_line.EXPORTED if is_noted else sentences.command_line.EXPORTED_BESIDE_BOT
        console().print(template.format(count=count, path=target), markup=False)
    return DONE


async def _has_recorded_copy(data_dir: Path, target: Path) -> bool:
    """Record the export in the ledger, so that an erasure can name it; return False if the ledger cannot be written."""
    owner = DirectoryOwner(data_dir)
    try:
        await owner.acquire(0.0)
    except CognitiveMemoryError:
        return False
    try:
        ledger = await Ledger.open(data_dir / LEDGER)
        try:
            await ledger.eraser.copies(made=Copy(str(target), "export", datetime.now(timezone.utc)))
        finally:
            await ledger.close()
    except CognitiveMemoryError:
        return False
    finally:
        owner.release()
    return True


async def _import(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    lines = await asyncio.to_thread(_line_count, arguments.file)
    async with owning(bot, creates=True) as memory:
        with _BadLines.collected() as bad_lines, progress_bar(sentences.command_line.IMPORTING, lines) as bar:
            async with watched(memory, bar, lines):
                count = await memory.import_(arguments.file)
    for message in bad_lines.messages:
        refuse(message)
    if arguments.json:
        print_json({"rows": count, "left_out": bad_lines.count})
    else:
        shown = sentences.command_line.IMPORTED.format(count=count, left_out=bad_lines.count)
        console().print(shown, markup=False)
    return DONE


@asynccontextmanager
async def watched(memory: CognitiveMemory, bar: ProgressBar, lines: int) -> AsyncGenerator[None, None]:
    """Show on the bar, during the ``with`` block, how many rows the ledger has gained."""

    async def look() -> None:
        before = (await memory.status()).totals
        while True:
            await asyncio.sleep(LOOK)
            now = (await memory.status()).totals
            gained = now.events + now.messages + now.memos + now.pins
            bar.show(gained - before.events - before.messages - before.memos - before.pins, lines)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError, CognitiveMemoryError):
            await looking


class _BadLines(logging.Handler):
    """Collects the log messages of an import on the lines that it skipped."""

    def __init__(self) -> None:
        """Start without lines."""
        super().__init__(logging.WARNING)
        self.messages: list[str] = []
        self.count = 0

    @classmethod
    @contextlib.contextmanager
    def collected(cls) -> Generator[_BadLines, None, None]:
        """Collect what is logged during the ``with`` block."""
        handler, log = cls(), logging.getLogger("cognitive_memory_core.transfer")
        log.addHandler(handler)
        try:
            yield handler
        finally:
            log.removeHandler(handler)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the first messages and count all."""
        self.count += 1
        if len(self.messages) < MOST_SAID:
            self.messages.append(record.getMessage())


MOST_SAID = 20


def _line_count(file: Path) -> int:
    with file.open("rb") as content:
        return sum(piece.count(b"\n") for piece in iter(lambda: content.read(READ), b""))


EXPORT = Subcommand("export", sentences.command_line.EXPORT_SUMMARY, declare_export, runner(_export))
IMPORT = Subcommand("import", sentences.command_line.IMPORT_SUMMARY, declare_import, runner(_import))
