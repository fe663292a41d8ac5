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

DEMO = "demo"  # needs no bot
_WORDS = sentences.command_line
_JSON = option("--json", action="store_true")
_BOT = (
    option("--env", type=Path, metavar="FILE", default=None),
    option("--data", type=Path, metavar="DIR", default=None),
)
MOST_HITS, MOST_DAYS = 200, 366


class Subcommand(NamedTuple):
    """A subcommand: ``module.function`` in this folder, loaded when it is used, because most load numpy and SQLite.

    The function is a coroutine function that takes the parsed arguments and the bot's directory, and returns the exit
    status. ``demo`` has none: :func:`demo` needs no bot.
    """

    name: str
    place: str
    options: tuple[Option, ...]


def _subcommand(name: str, place: str, *options: Option) -> Subcommand:
    return Subcommand(name, place, options if name == DEMO else (*_BOT, *options))


SUBCOMMANDS = (
    _subcommand(
        DEMO,
        "",
        option("--transcript", type=existing_file, metavar="FILE"),
        option("--keep", type=fresh_directory, metavar="DIR"),
    ),
    _subcommand(
        "status",
        "reading.status",
        _JSON,
        option("--failed", action="store_true"),
        option("--retry", nargs="?", const="all", metavar="ID"),
    ),
    _subcommand("report", "reading.report", _JSON, option("--days", type=counted(MOST_DAYS), default=30)),
    _subcommand(
        "search",
        "reading.search",
        option("query", metavar="TEXT"),
        option("-n", type=counted(MOST_HITS), default=10, metavar="N"),
        option("--group", metavar="ID", default=""),
        option("--user", metavar="ID", default=""),
        option("--messages", action="store_true"),
        _JSON,
    ),
    _subcommand(
        "export",
        "reading.export",
        option("file", type=Path, metavar="FILE"),
        option("--user", metavar="ID", default=None),
        _JSON,
    ),
    _subcommand("import", "writing.take_in", option("file", type=existing_file, metavar="FILE"), _JSON),
    _subcommand(
        "import-chat",
        "writing.import_chat",
        option("path", type=existing_path, metavar="FILE"),
        option("--group", metavar="ID", default=""),
        option("--user", metavar="ID", default=""),
        option("--bot", metavar="ID", action="append", default=[]),
        option("--agent", metavar="NAME", default=""),
        _JSON,
    ),
    _subcommand("reindex", "writing.reindex", _JSON),
    _subcommand(
        "migrate",
        "writing.migrate",
        option("path", type=existing_path, metavar="PATH"),
        option("--dry-run", action="store_true"),
        option("--group", metavar="ID", default=""),
        option("--user", metavar="ID", default=""),
        option("--agent", metavar="NAME", default=""),
        _JSON,
    ),
    _subcommand("download", "writing.download", option("names", nargs="*", metavar="NAME")),
    _subcommand(
        "mcp",
        "mcp.serve",
        option("--user", metavar="ID", required=True),
        option("--group", metavar="ID", default=""),
        option("--url", metavar="URL", default=""),
    ),
    _subcommand("doctor", "doctor.examine", option("--offline", action="store_true"), _JSON),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status; misuse and help of a subcommand raise SystemExit."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words == ["--version"]:
        sys.stdout.write(f"{_WORDS.PROGRAM} {version('nonebot-plugin-cognitive-memory')}\n")
        return DONE
    if command := next((one for one in SUBCOMMANDS if words[:1] == [one.name]), None):
        arguments = Parser(command.name, command.options).parse_args(words[1:])
        if command.name == DEMO:
            return demo(arguments)
        module, _, function = command.place.rpartition(".")
        finished = import_module(f"{__package__}.bot_directory").finished
        return finished(getattr(import_module(f"{__package__}.{module}"), function), arguments)
    lines = [_WORDS.COMMAND_OVERVIEW.format(program=_WORDS.PROGRAM)]
    lines += [f"  {command.name:<13}{_WORDS.SUBCOMMANDS[command.name]}" for command in SUBCOMMANDS]
    if words in (["-h"], ["--help"]):
        sys.stdout.write("\n".join(lines) + "\n")
        return DONE
    if words:
        complaint = _WORDS.UNKNOWN_SUBCOMMAND.format(word=words[0])
        lines.insert(0, _WORDS.MISUSED.format(program=_WORDS.PROGRAM, complaint=complaint))
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
