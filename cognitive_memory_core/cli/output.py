"""Writes results for people, with colours and progress bars on a terminal, and as JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .. import sentences

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

DONE, FAILED, MISUSED = 0, 1, 2


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
