"""Starts Python programs from a process that has imported their packages: a second of imports less for each bot.

A program gets a directory, an environment, a file for its output and a process of its own, as one started anew does.
This module is also what that process runs; its standard input gets the programs, its output tells how they end.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

IMPORTED = (
    "cognitive_memory_core.memory.opened",
    "nonebot.adapters.onebot.v11",
    "nonebot.adapters.onebot.v12",
    "nonebot.drivers.fastapi",
    *("anyio._backends._asyncio", "apscheduler.schedulers.asyncio", "cognitive_memory_core.memory.cognitive_memory"),
    *("httptools", "importlib_metadata", "opencc", "PIL.ImageDraw", "PIL.ImageFont", "snowballstemmer", "tzlocal"),
    *("uvicorn.lifespan.on", "uvicorn.loops.auto", "uvicorn.protocols.http.auto", "uvicorn.protocols.websockets.auto"),
    *("uvicorn.protocols.websockets.websockets_sansio_impl", "uvloop"),
)
ROOT = Path(__file__).resolve().parents[2]
LOOK = 0.02  # seconds between two looks for a program that ended


def started(
    program: str, folder: Path, environment: Mapping[str, str], log: Path
) -> subprocess.Popen[bytes] | WarmProgram:
    """Start a program in a folder, with its output at the end of a file."""
    if hasattr(os, "fork"):
        return _warm_process().start(program, folder, environment, log)
    with log.open("ab") as output:
        command = [sys.executable, program]
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)


class WarmProcess:
    """The process that has imported the packages, and what it told about its programs."""

    def __init__(self) -> None:
        """Start it; it ends with this process."""
        command = [sys.executable, "-m", "tests.support.warm"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=ROOT
        )
        self._told = threading.Condition()
        self._pids: list[int] = []
        self._ends: dict[int, int] = {}
        threading.Thread(target=self._listen, daemon=True).start()
        atexit.register(self._end)

    def start(self, program: str, folder: Path, environment: Mapping[str, str], log: Path) -> WarmProgram:
        """Start a program."""
        request = {"program": program, "folder": str(folder), "environment": dict(environment), "log": str(log)}
        assert self._process.stdin is not None
        with self._told:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._told.wait_for(lambda: self._pids)
            return WarmProgram(self, self._pids.pop())

    def end_of(self, pid: int, timeout: float | None) -> int | None:
        """Wait for a program's exit status; return None if it still runs."""
        with self._told:
            self._told.wait_for(lambda: pid in self._ends, timeout)
            return self._ends.get(pid)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            pid, *status = map(int, line.split())
            with self._told:
                if status:
                    self._ends[pid] = status[0]
                else:
                    self._pids.append(pid)
                self._told.notify_all()

    def _end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@dataclass
class WarmProgram:
    """A program that was started from the warm process."""

    warm: WarmProcess
    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, None while it runs."""
        self.returncode = self.warm.end_of(self.pid, 0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit status; raise TimeoutExpired if it takes too long."""
        self.returncode = self.warm.end_of(self.pid, timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return self.returncode

    def send_signal(self, sig: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, sig)

    def kill(self) -> None:
        """Kill it."""
        self.send_signal(signal.SIGKILL)


def warm_process_id() -> int | None:
    """Return the id of the warm process of this process; None if none was needed yet."""
    return _warm_process()._process.pid if _warm_process.cache_info().currsize else None


@cache
def _warm_process() -> WarmProcess:
    return WarmProcess()


def serve() -> dict[str, Any]:
    """Start programs until the input ends; return in each program's own process, with what it is to run."""
    running: set[int] = set()
    requests = b""
    while True:
        if select.select([0], [], [], LOOK if running else None)[0]:
            piece = os.read(0, 65_536)
            if not piece:
                for pid in running:
                    os.kill(pid, signal.SIGKILL)
                os._exit(0)
            *whole, requests = (requests + piece).split(b"\n")
            for request in whole:
                if not (pid := os.fork()):
                    return json.loads(request)
                running.add(pid)
                _tell(pid)
        for pid in [*running]:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                running.remove(pid)
                _tell(pid, os.waitstatus_to_exitcode(status))


def _tell(*numbers: int) -> None:
    os.write(1, (" ".join(map(str, numbers)) + "\n").encode())


def become(folder: str, environment: Mapping[str, str], log: str) -> None:
    """Take a program's directory, environment and output."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    output = os.open(log, os.O_WRONLY | os.O_APPEND)
    for number, file in ((0, os.open(os.devnull, os.O_RDONLY)), (1, output), (2, output)):
        os.dup2(file, number)
        os.set_inheritable(number, True)
    os.closerange(3, 64)
    sys.path[:1] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]


if __name__ == "__main__":
    for name in IMPORTED:
        with suppress(ImportError):  # what is not installed, the bots do not import either
            importlib.import_module(name)
    given = serve()
    become(given["folder"], given["environment"], given["log"])
    sys.argv = [given["program"]]
    runpy.run_path(given["program"], run_name="__main__")
