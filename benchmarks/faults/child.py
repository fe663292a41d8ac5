"""A function of a row in a process of its own, which may be killed, starved or run out of something.

``python -m benchmarks.faults.child MODULE FUNCTION ARGUMENTS`` runs it with arguments given as JSON, and prints what it
returns as JSON on the last line.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def command_of(function: Callable[..., object], *arguments: Any) -> list[str]:
    """Return the command that runs a function with arguments."""
    given = json.dumps(arguments, default=str)
    return [sys.executable, "-m", "benchmarks.faults.child", function.__module__, function.__name__, given]


@contextmanager
def started(
    function: Callable[..., object], *arguments: Any, env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Run a function in a process until it ends or the block is left; its output can be read."""
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "OPENBLAS_NUM_THREADS": "1", **(env or {})}
    command, pipe = command_of(function, *arguments), subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def answered(function: Callable[..., object], *arguments: Any, env: Mapping[str, str] | None = None) -> Any:
    """Run a function in a process to its end; return what it returned. Raises ChildFailed."""
    with started(function, *arguments, env=env) as process:
        lines = process.communicate()[0].splitlines()
    try:
        return json.loads(lines[-1])
    except (IndexError, ValueError):
        raise ChildFailed(function.__name__, process.returncode) from None


class ChildFailed(Exception):
    """A process ended without an answer."""


class Lines(threading.Thread):
    """Whole lines that a process prints, read until it ends; ``heard`` is called with each, ``first`` set at one."""

    def __init__(self, process: subprocess.Popen[str], heard: Callable[[str], object]) -> None:
        """Start reading."""
        super().__init__()
        self.first = threading.Event()
        self._process, self._heard = process, heard
        self.start()

    def run(self) -> None:
        """Read."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.endswith("\n"):
                self._heard(line.rstrip("\n"))
            self.first.set()
        self.first.set()


def main(module: str, name: str, arguments: str) -> None:
    """Run a function and print what it returns."""
    logging.disable(logging.CRITICAL)  # the faults are intended
    answer = getattr(importlib.import_module(module), name)(*json.loads(arguments))
    answer = asyncio.run(answer) if inspect.iscoroutine(answer) else answer
    print(json.dumps(answer, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
