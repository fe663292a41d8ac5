"""Reads the command line and runs the subcommand. Exit status: 0 done, 1 failed, 2 misuse.

The core never imports NoneBot: ``demo`` finds the plugin's script on disk and starts it as a process of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from .. import sentences
from .parser import (
    DONE,
    FAILED,
    MISUSED,
    Option,
    Parser,
    counted,
    existing_file,
    existing_path,
    fresh_directory,
    option,
)

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
    status. ``demo`` has none: :func:`demo` needs no bot.
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
        "",
        option("--transcript", type=existing_file, metavar="FILE", help=_WORDS.TRANSCRIPT_OPTION),
        option("--keep", type=fresh_directory, metavar="DIR", help=_WORDS.KEEP_OPTION),
    ),
    _subcommand(
        "status",
        _WORDS.STATUS_SUMMARY,
        "reading.status",
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
        "writing.import_chat",
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
        "writing.migrate",
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
        "doctor.examine",
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
        if command.name == DEMO:
            return demo(arguments)
        module, _, function = command.place.rpartition(".")
        finished = import_module(f"{__package__}.bot_directory").finished
        return finished(getattr(import_module(f"{__package__}.{module}"), function), arguments)
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


PLUGIN = "nonebot_plugin_cognitive_memory"
NEEDED = ("nonebot", "fastapi", "uvicorn", "websockets")
FOREIGN_SETTINGS = ("COGNITIVE_MEMORY__", "LOCALSTORE_")  # an API key in the shell must not reach the demo


def demo(arguments: argparse.Namespace) -> int:
    """Start the script, wait for it and return its exit status."""
    script = plugin_file("demo/run.py")
    missing = [name for name in NEEDED if find_spec(name) is None]
    if script is None or missing:
        needed = sentences.command_line.DEMO_NEEDS
        sys.stderr.write(needed.format(packages="、".join(missing or [PLUGIN])) + "\n")
        return FAILED
    command = [sys.executable, str(script)]
    for name, path in (("--transcript", arguments.transcript), ("--keep", arguments.keep)):
        command += [name, str(path.resolve())] if path else []
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(FOREIGN_SETTINGS)}
    process = subprocess.Popen(command, env=kept | {"PYTHONIOENCODING": "utf-8"})  # noqa: S603  # our own script, no shell
    was_interrupted = False
    while True:
        try:
            status = process.wait()
        except KeyboardInterrupt:  # also reaches the script, which ends by itself; its status may be lost with it
            was_interrupted = True
        else:
            return FAILED if was_interrupted or status not in (0, 1, 2) else status


def plugin_file(name: str) -> Path | None:
    """Return a file of the plugin without importing it, which would need a running bot; None if it is missing."""
    found = find_spec(PLUGIN)
    path = Path(found.origin).parent / name if found and found.origin else None
    return path if path and path.is_file() else None
