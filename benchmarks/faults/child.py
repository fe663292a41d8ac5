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
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..fault_row import Seen

ROOT = Path(__file__).resolve().parents[2]
GRACE = 60.0  # seconds that a process may take to end


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


def next_line(process: subprocess.Popen[str]) -> str:
    """Wait for a line of a process and return it; "" if it ended without one."""
    return process.stdout.readline().strip() if process.stdout else ""


class ChildFailed(Exception):
    """A process ended without an answer."""


def let_live(
    process: subprocess.Popen[str],
    heard: Callable[[str], object],
    seconds: float,
    seen: Seen,
    first_sign: float,
    end: signal.Signals = signal.SIGKILL,
) -> bool:
    """Let a process live some seconds, from its first line on if that is awaited; return whether it then ended at once.

    ``heard`` is called with each whole line. The time to an awaited first line is noted.
    """
    first = threading.Event()

    def read() -> None:
        for line in process.stdout or ():
            if line.endswith("\n"):
                heard(line.rstrip("\n"))
            first.set()
        first.set()

    reading = threading.Thread(target=read)
    reading.start()
    if first_sign:
        with seen.timed():
            first.wait(first_sign)
    time.sleep(seconds)
    process.send_signal(end)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        return False
    finally:
        process.kill()
        reading.join()
    return True


def main(module: str, name: str, arguments: str) -> None:
    """Run a function and print what it returns."""
    logging.disable(logging.CRITICAL)  # the faults are intended
    answer = getattr(importlib.import_module(module), name)(*json.loads(arguments))
    answer = asyncio.run(answer) if inspect.iscoroutine(answer) else answer
    print(json.dumps(answer, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
