"""What the command line reads and shows: a parser in Chinese, results for people, and JSON for programs."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from .. import sentences

DONE, FAILED, MISUSED = 0, 1, 2
LONGEST_NUMBER = 10  # digits
_COMPLAINTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"unrecognized arguments: (?P<words>.+)", re.DOTALL), sentences.command_line.UNKNOWN_ARGUMENTS),
    (re.compile(r"argument (?P<option>\S+): expected"), sentences.command_line.VALUE_WANTED),
    (re.compile(r"the following arguments are required: (?P<words>.+)"), sentences.command_line.ARGUMENTS_WANTED),
    (re.compile(r"argument \S+: (?P<said>.+)", re.DOTALL), "{said}"),
)


Option = tuple[tuple[str, ...], Mapping[str, Any]]
"""Names and properties of an argument, as ``add_argument`` takes them."""


def option(*names: str, **properties: Any) -> Option:
    """Return an argument of a subcommand, described as for ``add_argument``."""
    return names, properties


class Parser(argparse.ArgumentParser):
    """A parser with Chinese messages that exits with status 2 on misuse."""

    def __init__(self, command: str, options: Iterable[Option]) -> None:
        """Create the parser of a subcommand with the help option and these options."""
        words = sentences.command_line
        prog, summary = f"{words.PROGRAM} {command}", words.SUBCOMMANDS[command]
        super().__init__(prog=prog, description=summary, add_help=False, allow_abbrev=False)
        group = self.add_argument_group(words.OPTIONS)
        group.add_argument("-h", "--help", action="help", help=words.HELP_OPTION)
        for (name, *more), properties in options:
            meaning = words.ARGUMENTS.get(f"{command} {name}") or words.ARGUMENTS[name]
            group.add_argument(name, *more, **properties, help=meaning)

    def format_usage(self) -> str:
        """Return the usage behind the Chinese word."""
        return super().format_usage().replace("usage: ", sentences.command_line.USAGE, 1)

    def format_help(self) -> str:
        """Return the help with the Chinese word before the usage."""
        return super().format_help().replace("usage: ", sentences.command_line.USAGE, 1)

    def error(self, message: str) -> NoReturn:
        """Print the error in Chinese and the usage, then exit with status 2."""
        found = ((sentence, pattern.match(message)) for pattern, sentence in _COMPLAINTS)
        complaint = next((sentence.format_map(match.groupdict()) for sentence, match in found if match), message)
        misuse = sentences.command_line.MISUSED.format(program=self.prog, complaint=complaint)
        self.exit(MISUSED, f"{misuse}\n{self.format_usage()}")


def existing_file(text: str) -> Path:
    """Return the path if the file exists, else raise ArgumentTypeError."""
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(sentences.command_line.NO_SUCH_FILE.format(path=text))
    return Path(text)


def existing_path(text: str) -> Path:
    """Return the path if a file or directory exists there, else raise ArgumentTypeError."""
    return Path(text) if Path(text).is_dir() else existing_file(text)


def fresh_directory(text: str) -> Path:
    """Return the path if the directory is empty or missing, else raise ArgumentTypeError."""
    path = Path(text)
    if path.is_dir() and not any(path.iterdir()):
        return path
    if path.exists():
        raise argparse.ArgumentTypeError(sentences.command_line.NOT_EMPTY.format(path=path))
    return path


def counted(most: int) -> Callable[[str], int]:
    """Return a function that accepts a whole number from 1 to ``most``, else raises ArgumentTypeError."""

    def parse(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() and len(text) < LONGEST_NUMBER else 0
        if not 1 <= number <= most:
            raise argparse.ArgumentTypeError(
                sentences.command_line.WHOLE_NUMBER.format(text=text[:LONGEST_NUMBER], most=most)
            )
        return number

    return parse


def show(arguments: argparse.Namespace, figures: object, shown: str) -> int:
    """Print a result, as JSON on one line with ``--json``, else for people; return the status of a command that did."""
    if arguments.json:
        sys.stdout.write(json.dumps(figures, ensure_ascii=False, default=_as_text) + "\n")
    else:
        say(shown)
    return DONE


def _as_text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def say(text: str, style: str = "") -> None:
    """Print to standard output; without a terminal, plain lines that are never wrapped."""
    from rich.console import Console  # noqa: PLC0415  # help and misuse do not need it

    is_terminal = sys.stdout.isatty()
    console = Console(highlight=False, soft_wrap=not is_terminal, width=None if is_terminal else 10_000, emoji=False)
    console.print(text, style=style, markup=False)


def refuse(sentence: object) -> int:
    """Write one sentence to standard error and return the exit status of a failed command."""
    sys.stderr.write(f"{sentences.command_line.PROGRAM}：{' '.join(str(sentence).split())}\n")
    return FAILED


@contextmanager
def progress_bar(label: str, total: int | None) -> Generator[Callable[[int, int | None], None], None, None]:
    """Show a progress bar during the ``with`` block, if standard error is a terminal.

    The function that is yielded takes how much is done and of how much, None if that is unknown.
    """
    if not sys.stderr.isatty():
        yield lambda _done, _of: None
        return
    from rich.console import Console  # noqa: PLC0415  # only on a terminal
    from rich.progress import Progress  # noqa: PLC0415  # only on a terminal

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total)

        yield lambda done, of: progress.update(task, completed=done, total=of)
