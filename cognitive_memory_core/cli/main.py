"""Reads the command line and runs the subcommand. Exit status: 0 done, 1 failed, 2 misuse."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .. import sentences
from . import demo, migrate, reindex, search, status, transferring
from .parser import MISUSE, Parser

PROGRAM = "cognitive-memory"


SUBCOMMANDS = (
    demo.COMMAND,
    status.COMMAND,
    search.COMMAND,
    transferring.EXPORT,
    transferring.IMPORT,
    reindex.COMMAND,
    migrate.COMMAND,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status; misuse and help of a subcommand raise SystemExit."""
    words = list(sys.argv[1:] if argv is None else argv)
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
    lines += [f"  {command.name:<10}{command.summary}" for command in SUBCOMMANDS]
    (sys.stdout if wanted else sys.stderr).write("\n".join(lines) + "\n")
    return 0 if wanted else MISUSE
