"""An argparse parser whose help, usage and error messages are Chinese."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from .. import sentences

MISUSE = 2
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
        self.exit(MISUSE, f"{misuse}\n{self.format_usage()}")


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
