"""A driver process under strace: one step with one system call killed, failing once, or failing persistently."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).absolute().parents[2]
WRITING = (
    "write", "pwrite64", "fsync", "fdatasync", "?rename", "?renameat", "?renameat2", "?unlink", "?unlinkat",
    "openat", "?mkdir", "?mkdirat", "ftruncate", "fallocate", "close", "?link", "?chmod", "?fchmodat",
)  # fmt: skip
PATIENCE = 90.0  # seconds that a step may take under strace
_OPENED = re.compile(r"<(/[^>]*)>")
_NAMED = re.compile(r"\"(/[^\"]*)\"")
_CALL = re.compile(r"^(?P<thread>\d+) +(?P<name>[a-z0-9_]+)\((?P<arguments>.*)")


@dataclass(frozen=True)
class Point:
    """The ``number``-th call of a name since the step began."""

    call: str
    number: int

    @property
    def when(self) -> str:
        """Return the condition in strace's syntax."""
        return f"when={self.number}"


@dataclass(frozen=True)
class Call:
    """One system call as logged by strace."""

    thread: str
    name: str
    arguments: str

    @property
    def opened(self) -> str:
        """Return the file of the descriptor that it uses or returns; "" if there is none."""
        return (_OPENED.findall(self.arguments) or [""])[-1]

    @property
    def named(self) -> list[str]:
        """Return the files named in its arguments."""
        return _NAMED.findall(self.arguments)


@dataclass(frozen=True)
class Outcome:
    """What the driver reported before it ended, and whether it was killed or a fault struck."""

    said: str = ""
    said_after: str = ""
    was_killed: bool = False
    log: str = ""

    @property
    def is_acked(self) -> bool:
        """Return whether the step returned."""
        return self.said == "acked"

    @property
    def has_struck(self) -> bool:
        """Return whether the fault struck."""
        return self.was_killed or "(INJECTED)" in self.log

    @property
    def calls(self) -> list[Call]:
        """Return the calls up to the acknowledgement, in order."""
        found: list[Call] = []
        for line in self.log.splitlines():
            match = _CALL.match(line)
            if match and '"acked"' in match["arguments"]:
                break
            if match:
                found.append(Call(match["thread"], match["name"], match["arguments"]))
        return found

    def points(self) -> list[Point]:
        """Return every call of the step into which a fault can be injected."""
        counts = Counter((call.thread, call.name) for call in self.calls if call.name != "sendto")
        most: dict[str, int] = {}
        for (_, name), count in counts.items():
            most[name] = max(most.get(name, 0), count)
        return [Point(name, number) for name, count in sorted(most.items()) for number in range(1, count + 1)]


def is_there() -> bool:
    """Return whether strace is installed and may trace."""
    if shutil.which("strace") is None:
        return False
    return subprocess.run(["strace", "-o", os.devnull, "true"], check=False, capture_output=True).returncode == 0


class Driver:
    """A running driver process; created by :func:`driver`."""

    def __init__(self, wire: socket.socket, log: Path) -> None:
        """Take the socket to the driver and strace's log file."""
        self._wire = wire
        self._log = log

    def take(self, step: str, data: Path, inject: str = "", *, goes_on: bool = False) -> Outcome:
        """Run a step in a directory with a fault given in strace's ``inject=`` syntax."""
        self._wire.send(json.dumps({"step": step, "data": str(data), "goes_on": goes_on}).encode())
        ready, pid = self._heard().split()
        assert ready == "ready"
        with self._traced(pid, inject):
            self._wire.send(b"go")
            said = self._all_heard(int(pid))
        *before, gone = said
        before += ["", ""]
        was_killed = os.WIFSIGNALED(int(gone.split()[1]))
        return Outcome(before[0], before[1], was_killed, self._log.read_text("utf-8", "replace"))

    @contextmanager
    def _traced(self, pid: str, inject: str) -> Iterator[None]:
        options = ["-f", "-y", "-s", "8", "-o", str(self._log), "-e", f"trace=sendto,{','.join(WRITING)}"]
        command = ["strace", *options, *(["-e", f"inject={inject}"] if inject else []), "-p", pid]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as strace:
            assert strace.stderr is not None
            line = strace.stderr.readline()
            assert "attached" in line, line
            yield
            strace.communicate(timeout=PATIENCE)

    def _all_heard(self, pid: int) -> list[str]:
        """Collect the child's messages until its parent reports its end; kill a child that hangs."""
        said: list[str] = []
        while not said or not said[-1].startswith("gone"):
            try:
                said.append(self._heard())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                said.append("hung")
        return said

    def _heard(self) -> str:
        return self._wire.recv(65_536).decode()


@contextmanager
def driver(folder: Path) -> Iterator[Driver]:
    """Run a driver process with its log in a folder."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(PATIENCE)
    command = [sys.executable, str(Path(__file__).with_name("driver.py")), str(theirs.fileno())]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    with (
        ours,
        (folder / "driver.err").open("w") as errors,
        subprocess.Popen(command, env=environment, pass_fds=[theirs.fileno()], stderr=errors) as process,
    ):
        theirs.close()
        try:
            yield Driver(ours, folder / "strace.log")
        finally:
            process.kill()
