"""What the command line reads and shows: a parser in Chinese, results for people, and JSON for programs."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from .. import sentences

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID


DONE, FAILED, MISUSED = 0, 1, 2
LONGEST_NUMBER = 10  # digits
_COMPLAINTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"unrecognized arguments: (?P<words>.+)", re.DOTALL), sentences.command_line.UNKNOWN_ARGUMENTS),
    (re.compile(r"argument (?P<option>\S+): expected"), sentences.command_line.VALUE_WANTED),
    (re.compile(r"the following arguments are required: (?P<words>.+)"), sentences.command_line.ARGUMENTS_WANTED),
    (re.compile(r"argument \S+: (?P<said>.+)", re.DOTALL), "{said}"),
)


class _ChineseHelp(argparse.HelpFormatter):
    """Help with Chinese headings."""

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],  # pyright: ignore[reportPrivateUsage]  # argparse's own name
        prefix: str | None = None,
    ) -> None:
        """Put the Chinese word before the usage line."""
        super().add_usage(usage, actions, groups, sentences.command_line.USAGE if prefix is None else prefix)


class Parser(argparse.ArgumentParser):
    """A parser with Chinese messages that exits with status 2 on misuse."""

    def __init__(self, prog: str, description: str) -> None:
        """Create the parser with the help option alone."""
        super().__init__(
            prog=prog, description=description, add_help=False, allow_abbrev=False, formatter_class=_ChineseHelp
        )
        self.options = self.add_argument_group(sentences.command_line.OPTIONS)
        self.options.add_argument("-h", "--help", action="help", help=sentences.command_line.HELP_OPTION)

    def error(self, message: str) -> NoReturn:
        """Print the error in Chinese and the usage, then exit with status 2."""
        misuse = sentences.command_line.MISUSED.format(program=self.prog, complaint=_in_chinese(message))
        self.exit(MISUSED, f"{misuse}\n{self.format_usage()}")


@dataclass(frozen=True)
class Subcommand:
    """One subcommand: ``declare`` adds its arguments, ``run`` executes it and returns the exit status."""

    name: str
    summary: str
    declare: Callable[[Parser], None]
    run: Callable[[argparse.Namespace], int]


def existing_file(text: str) -> Path:
    """Return the path if the file exists, else raise ArgumentTypeError."""
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(sentences.command_line.NO_SUCH_FILE.format(path=path))
    return path


def existing_path(text: str) -> Path:
    """Return the path if a file or directory exists there, else raise ArgumentTypeError."""
    path = Path(text)
    if not (path.is_file() or path.is_dir()):
        raise argparse.ArgumentTypeError(sentences.command_line.NO_SUCH_FILE.format(path=path))
    return path


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


def _in_chinese(complaint: str) -> str:
    for pattern, sentence in _COMPLAINTS:
        if found := pattern.match(complaint):
            return sentence.format_map(found.groupdict())
    return complaint


def console() -> Console:
    """Return the console of standard output; without a terminal, plain lines that are never wrapped."""
    from rich.console import Console  # noqa: PLC0415  # help and misuse do not need it

    is_terminal = sys.stdout.isatty()
    return Console(highlight=False, soft_wrap=not is_terminal, width=None if is_terminal else 10_000, emoji=False)


def print_json(value: object) -> None:
    """Write one JSON value on one line."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")


def refuse(sentence: object) -> int:
    """Write one sentence to standard error and return the exit status of a failed command."""
    sys.stderr.write(f"{sentences.command_line.PROGRAM}：{' '.join(str(sentence).split())}\n")
    return FAILED


class ProgressBar:
    """A bar on standard error; nothing is shown without a terminal."""

    def __init__(self, progress: Progress | None, task: TaskID | None) -> None:
        """Show the steps of a task; None shows nothing."""
        self._progress, self._task = progress, task

    def advance(self) -> None:
        """Advance the bar by one step."""
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task)

    def show(self, done: int, total: int | None) -> None:
        """Show ``done`` of ``total`` steps; ``total`` is None if it is unknown."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, total=total)


@contextmanager
def progress_bar(label: str, total: int | None) -> Generator[ProgressBar, None, None]:
    """Show a progress bar during the ``with`` block, if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield ProgressBar(None, None)
        return
    from rich.console import Console  # noqa: PLC0415  # only on a terminal
    from rich.progress import Progress  # noqa: PLC0415  # only on a terminal

    with Progress(console=Console(stderr=True), transient=True) as progress:
        yield ProgressBar(progress, progress.add_task(label, total=total))
