"""Reads the command line and runs the subcommand. Exit status: 0 done, 1 failed, 2 misuse."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version

from .. import sentences
from .parser import DONE, MISUSED, Parser

PROGRAM = "cognitive-memory"
_WORDS = sentences.command_line


@dataclass(frozen=True)
class Subcommand:
    """A subcommand: ``module.function`` in this folder, loaded when it is used, because most load numpy and SQLite.

    ``declare_function`` in the same module adds its arguments. The function takes the parsed ones and returns the exit
    status; unless it ``is_alone``, it is a coroutine function that also takes the bot's directory.
    """

    name: str
    summary: str
    place: str
    is_alone: bool = False

    def run(self, words: Sequence[str]) -> int:
        """Parse the words behind the subcommand, and do it."""
        parser = Parser(f"{PROGRAM} {self.name}", self.summary)
        module, _, function = self.place.rpartition(".")
        here = import_module(f"{__package__}.{module}")
        declare, work = getattr(here, f"declare_{function}"), getattr(here, function)
        if self.is_alone:
            declare(parser)
            return work(parser.parse_args(words))
        from .bot_directory import declare_directory, finished  # noqa: PLC0415  # loads the memory

        declare_directory(parser)
        declare(parser)
        return finished(work, parser.parse_args(words))


SUBCOMMANDS = (
    Subcommand("demo", _WORDS.DEMO_SUMMARY, "demo.demo", is_alone=True),
    Subcommand("status", _WORDS.STATUS_SUMMARY, "status.status"),
    Subcommand("report", sentences.report.REPORT_SUMMARY, "reading.report"),
    Subcommand("search", _WORDS.SEARCH_SUMMARY, "reading.search"),
    Subcommand("export", _WORDS.EXPORT_SUMMARY, "reading.export"),
    Subcommand("import", _WORDS.IMPORT_SUMMARY, "writing.take_in"),
    Subcommand("import-chat", _WORDS.IMPORT_CHAT_SUMMARY, "import_chat.import_chat"),
    Subcommand("reindex", _WORDS.REINDEX_SUMMARY, "writing.reindex"),
    Subcommand("migrate", _WORDS.MIGRATE_SUMMARY, "migrate.migrate"),
    Subcommand("download", _WORDS.DOWNLOAD_SUMMARY, "writing.download"),
    Subcommand("mcp", _WORDS.MCP_SUMMARY, "mcp.serve"),
    Subcommand("doctor", _WORDS.DOCTOR_SUMMARY, "doctor.command.examine"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status; misuse and help of a subcommand raise SystemExit."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words == ["--version"]:
        sys.stdout.write(f"{PROGRAM} {version('nonebot-plugin-cognitive-memory')}\n")
        return DONE
    for command in SUBCOMMANDS:
        if words[:1] == [command.name]:
            return command.run(words[1:])
    lines = [_WORDS.COMMAND_OVERVIEW.format(program=PROGRAM)]
    lines += [f"  {command.name:<13}{command.summary}" for command in SUBCOMMANDS]
    if words in (["-h"], ["--help"]):
        sys.stdout.write("\n".join(lines) + "\n")
        return DONE
    if words:
        lines.insert(
            0, _WORDS.MISUSED.format(program=PROGRAM, complaint=_WORDS.UNKNOWN_SUBCOMMAND.format(word=words[0]))
        )
    sys.stderr.write("\n".join(lines) + "\n")
    return MISUSED
