"""Reads the command line and runs the subcommand. Exit status: 0 done, 1 failed, 2 misuse."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from .. import sentences
from .parser import DONE, MISUSED, Option, Parser, counted, existing_file, existing_path, fresh_directory, option

PROGRAM = "cognitive-memory"
DEMO = "demo"  # needs no bot
_WORDS = sentences.command_line
_JSON = option("--json", action="store_true", help=_WORDS.JSON_OPTION)
_BOT = (
    option("--env", type=Path, metavar="FILE", default=None, help=_WORDS.ENV_OPTION),
    option("--data", type=Path, metavar="DIR", default=None, help=_WORDS.DATA_OPTION),
)
MOST_HITS, MOST_DAYS = 200, 366


class Subcommand(NamedTuple):
    """A subcommand: ``module.function`` in this folder, loaded when it is used, because most load numpy and SQLite.

    The function is a coroutine function that takes the parsed arguments and the bot's directory, and returns the exit
    status; ``demo`` takes the arguments alone, at once.
    """

    name: str
    summary: str
    place: str
    options: tuple[Option, ...]


def _subcommand(name: str, summary: str, place: str, *options: Option) -> Subcommand:
    return Subcommand(name, summary, place, options if name == DEMO else (*_BOT, *options))


SUBCOMMANDS = (
    _subcommand(
        DEMO,
        _WORDS.DEMO_SUMMARY,
        "demo.demo",
        option("--transcript", type=existing_file, metavar="FILE", help=_WORDS.TRANSCRIPT_OPTION),
        option("--keep", type=fresh_directory, metavar="DIR", help=_WORDS.KEEP_OPTION),
    ),
    _subcommand(
        "status",
        _WORDS.STATUS_SUMMARY,
        "status.status",
        _JSON,
        option("--failed", action="store_true", help=_WORDS.FAILED_OPTION),
        option("--retry", nargs="?", const="all", metavar="ID", help=_WORDS.RETRY_OPTION),
    ),
    _subcommand(
        "report",
        sentences.report.REPORT_SUMMARY,
        "reading.report",
        _JSON,
        option("--days", type=counted(MOST_DAYS), default=30, help=sentences.report.DAYS_OPTION),
    ),
    _subcommand(
        "search",
        _WORDS.SEARCH_SUMMARY,
        "reading.search",
        option("query", metavar="TEXT", help=_WORDS.QUERY_ARGUMENT),
        option("-n", type=counted(MOST_HITS), default=10, metavar="N", help=_WORDS.COUNT_OPTION),
        option("--group", metavar="ID", default="", help=_WORDS.GROUP_OPTION),
        option("--user", metavar="ID", default="", help=_WORDS.USER_OPTION),
        option("--messages", action="store_true", help=_WORDS.MESSAGES_OPTION),
        _JSON,
    ),
    _subcommand(
        "export",
        _WORDS.EXPORT_SUMMARY,
        "reading.export",
        option("file", type=Path, metavar="FILE", help=_WORDS.EXPORT_ARGUMENT),
        option("--user", metavar="ID", default=None, help=_WORDS.EXPORT_USER_OPTION),
        _JSON,
    ),
    _subcommand(
        "import",
        _WORDS.IMPORT_SUMMARY,
        "writing.take_in",
        option("file", type=existing_file, metavar="FILE", help=_WORDS.IMPORT_ARGUMENT),
        _JSON,
    ),
    _subcommand(
        "import-chat",
        _WORDS.IMPORT_CHAT_SUMMARY,
        "import_chat.import_chat",
        option("path", type=existing_path, metavar="FILE", help=_WORDS.IMPORT_CHAT_ARGUMENT),
        option("--group", metavar="ID", default="", help=_WORDS.CHAT_GROUP_OPTION),
        option("--user", metavar="ID", default="", help=_WORDS.CHAT_USER_OPTION),
        option("--bot", metavar="ID", action="append", default=[], help=_WORDS.CHAT_BOT_OPTION),
        option("--agent", metavar="NAME", default="", help=_WORDS.MIGRATE_AGENT_OPTION),
        _JSON,
    ),
    _subcommand("reindex", _WORDS.REINDEX_SUMMARY, "writing.reindex", _JSON),
    _subcommand(
        "migrate",
        _WORDS.MIGRATE_SUMMARY,
        "migrate.migrate",
        option("path", type=existing_path, metavar="PATH", help=_WORDS.MIGRATE_ARGUMENT),
        option("--dry-run", action="store_true", help=_WORDS.DRY_RUN_OPTION),
        option("--group", metavar="ID", default="", help=_WORDS.MIGRATE_GROUP_OPTION),
        option("--user", metavar="ID", default="", help=_WORDS.MIGRATE_USER_OPTION),
        option("--agent", metavar="NAME", default="", help=_WORDS.MIGRATE_AGENT_OPTION),
        _JSON,
    ),
    _subcommand(
        "download",
        _WORDS.DOWNLOAD_SUMMARY,
        "writing.download",
        option("names", nargs="*", metavar="NAME", help=_WORDS.DOWNLOAD_ARGUMENT),
    ),
    _subcommand(
        "mcp",
        _WORDS.MCP_SUMMARY,
        "mcp.serve",
        option("--user", metavar="ID", required=True, help=_WORDS.AGENT_USER_OPTION),
        option("--group", metavar="ID", default="", help=_WORDS.AGENT_GROUP_OPTION),
        option("--url", metavar="URL", default="", help=_WORDS.BOT_URL_OPTION),
    ),
    _subcommand(
        "doctor",
        _WORDS.DOCTOR_SUMMARY,
        "doctor.command.examine",
        option("--offline", action="store_true", help=_WORDS.OFFLINE_OPTION),
        _JSON,
    ),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status; misuse and help of a subcommand raise SystemExit."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words == ["--version"]:
        sys.stdout.write(f"{PROGRAM} {version('nonebot-plugin-cognitive-memory')}\n")
        return DONE
    if command := next((one for one in SUBCOMMANDS if words[:1] == [one.name]), None):
        arguments = Parser(f"{PROGRAM} {command.name}", command.summary, command.options).parse_args(words[1:])
        module, _, function = command.place.rpartition(".")
        work = getattr(import_module(f"{__package__}.{module}"), function)
        if command.name == DEMO:
            return work(arguments)
        from .bot_directory import finished  # noqa: PLC0415  # loads the memory

        return finished(work, arguments)
    lines = [_WORDS.COMMAND_OVERVIEW.format(program=PROGRAM)]
    lines += [f"  {command.name:<13}{command.summary}" for command in SUBCOMMANDS]
    if words in (["-h"], ["--help"]):
        sys.stdout.write("\n".join(lines) + "\n")
        return DONE
    if words:
        complaint = _WORDS.UNKNOWN_SUBCOMMAND.format(word=words[0])
        lines.insert(0, _WORDS.MISUSED.format(program=PROGRAM, complaint=complaint))
    sys.stderr.write("\n".join(lines) + "\n")
    return MISUSED
