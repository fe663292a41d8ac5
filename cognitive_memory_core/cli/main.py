"""Reads the command line and runs the subcommand. Exit status: 0 done, 1 failed, 2 misuse."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version

from .. import sentences
from . import demo
from .parser import MISUSED, Parser, Subcommand

PROGRAM = "cognitive-memory"


def _later(name: str, summary: str, module: str, constant: str = "COMMAND") -> Subcommand:
    """Return a subcommand that imports its module only when used, because the module loads numpy and SQLite."""

    def loaded() -> Subcommand:
        return getattr(import_module(f"{__package__}.{module}"), constant)

    return Subcommand(name, summary, lambda parser: loaded().declare(parser), lambda given: loaded().run(given))


_WORDS = sentences.command_line
SUBCOMMANDS = (
    demo.COMMAND,
    _later("status", _WORDS.STATUS_SUMMARY, "status"),
    _later("report", sentences.report.REPORT_SUMMARY, "report"),
    _later("search", _WORDS.SEARCH_SUMMARY, "search"),
    _later("export", _WORDS.EXPORT_SUMMARY, "transferring", "EXPORT"),
    _later("import", _WORDS.IMPORT_SUMMARY, "transferring", "IMPORT"),
    _later("import-chat", _WORDS.IMPORT_CHAT_SUMMARY, "import_chat"),
    _later("reindex", _WORDS.REINDEX_SUMMARY, "reindex"),
    _later("migrate", _WORDS.MIGRATE_SUMMARY, "migrate"),
    _later("download", _WORDS.DOWNLOAD_SUMMARY, "download"),
    _later("mcp", _WORDS.MCP_SUMMARY, "mcp"),
    _later("doctor", _WORDS.DOCTOR_SUMMARY, "doctor.command"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status; misuse and help of a subcommand raise SystemExit."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words == ["--version"]:
        sys.stdout.write(f"{PROGRAM} {version('nonebot-plugin-cognitive-memory')}\n")
        return 0
    chosen = next((command for command in SUBCOMMANDS if words[:1] == [command.name]), None)
    if chosen is None:
        return _overview(words)
    parser = Parser(f"{PROGRAM} {chosen.name}", chosen.summary)
    chosen.declare(parser)
    return chosen.run(parser.parse_args(words[1:]))


def _overview(words: Sequence[str]) -> int:
    wanted = words in (["-h"], ["--help"])
    lines = [sentences.command_line.COMMAND_OVERVIEW.format(program=PROGRAM)]
    if words and not wanted:
        lines.insert(
            0,
            sentences.command_line.MISUSED.format(
                program=PROGRAM, complaint=sentences.command_line.unknown_subcommand(words[0])
            ),
        )
    lines += [f"  {command.name:<13}{command.summary}" for command in SUBCOMMANDS]
    (sys.stdout if wanted else sys.stderr).write("\n".join(lines) + "\n")
    return 0 if wanted else MISUSED
