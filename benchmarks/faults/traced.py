"""Steps in a process under strace, with one system call killed, failing once, or failing persistently.

A driver process forks a child per order, so that modules are imported once. The child opens the directory, sends
``ready PID`` and waits, so that strace can attach and count system calls of the step alone. Then it sends ``acked``,
``refused`` or ``raised ...``, and if wanted the result of a job handed in afterwards; its parent sends ``gone STATUS``.
All messages use send(), a call into which no fault is injected.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.queue.job_queue import FileQueue

from ..fault_row import Seen
from .child import ROOT, command_of
from .steps import PROFILE_STEPS, STEPS, Found, Step, Unwritten, prepared

WRITING = (
    "write", "pwrite64", "fsync", "fdatasync", "?rename", "?renameat", "?renameat2", "?unlink", "?unlinkat",
    "openat", "?mkdir", "?mkdirat", "ftruncate", "fallocate", "close", "?link", "?chmod", "?fchmodat",
)  # fmt: skip
PATIENCE = 90.0  # seconds that a step may take under strace
SIDE_BY_SIDE = 2  # drivers
ORDER = 65_536  # bytes
_CALL = re.compile(r"^(?P<thread>\d+) +(?P<name>[a-z0-9_]+)\((?P<arguments>.*)")


@dataclass(frozen=True)
class Call:
    """One system call as logged by strace."""

    thread: str
    name: str
    arguments: str

    @property
    def opened(self) -> str:
        """Return the file of the descriptor that it uses or returns; "" if there is none."""
        return (re.findall(r"<(/[^>]*)>", self.arguments) or [""])[-1]

    @property
    def named(self) -> list[str]:
        """Return the files named in its arguments."""
        return re.findall(r"\"(/[^\"]*)\"", self.arguments)


@dataclass(frozen=True)
class Injection:
    """The fault that strace injects at the ``number``-th call of a name; ``is_lasting`` if it persists."""

    call: str
    number: int
    what: str
    is_lasting: bool = False

    def __str__(self) -> str:
        return f"{self.call}:{self.what}:when={self.number}{'+' * self.is_lasting}"


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
    def is_crash(self) -> bool:
        """Return whether it ended or raised in a way it must not."""
        wrong = ("raised", "hung")
        return self.said.startswith(wrong) or self.said_after.startswith(wrong) or not (self.said or self.was_killed)

    @property
    def calls(self) -> list[Call]:
        """Return the calls up to the acknowledgement, in order."""
        found: list[Call] = []
        for match in filter(None, map(_CALL.match, self.log.splitlines())):
            if '"acked"' in match["arguments"]:
                break
            found.append(Call(match["thread"], match["name"], match["arguments"]))
        return found

    def points(self, most: int, names: Sequence[str] = ()) -> list[tuple[str, int]]:
        """Return calls of the step into which a fault can be injected, evenly spread, by name and number."""
        counts = Counter((call.thread, call.name) for call in self.calls if call.name != "sendto")
        highest: dict[str, int] = {}
        for (_, name), count in counts.items():
            highest[name] = max(highest.get(name, 0), count)
        found = [(name, at) for name, count in sorted(highest.items()) for at in range(1, count + 1)]
        found = [point for point in found if not names or point[0] in names]
        return found[:: max(-(-len(found) // most), 1)]


def is_there() -> bool:
    """Return whether strace is installed and may trace."""
    if shutil.which("strace") is None:
        return False
    return subprocess.run(["strace", "-o", os.devnull, "true"], check=False, capture_output=True).returncode == 0


class Driver:
    """A running driver process; created by :func:`driver`."""

    def __init__(self, wire: socket.socket, log: Path) -> None:
        """Take the socket to the driver and strace's log file."""
        self._wire, self._log = wire, log

    def take(self, step: str, data: Path, inject: object = "", *, goes_on: bool = False) -> Outcome:
        """Run a step in a directory with a fault given in strace's ``inject=`` syntax."""
        self._wire.send(json.dumps([step, str(data), goes_on]).encode())
        ready, pid = self._heard().split()
        assert ready == "ready"
        with self._traced(pid, str(inject)):
            self._wire.send(b"go")
            *before, gone = [*self._all_heard(int(pid))]
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

    def _all_heard(self, pid: int) -> Iterator[str]:
        """Yield the child's messages until its parent reports its end; kill a child that hangs."""
        said = ""
        while not said.startswith("gone"):
            try:
                said = self._heard()
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                said = "hung"
            yield said

    def _heard(self) -> str:
        return self._wire.recv(ORDER).decode()


@contextmanager
def driver(folder: Path) -> Iterator[Driver]:
    """Run a driver process with its log in a folder."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(PATIENCE)
    environment, end = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}, theirs.fileno()
    with (
        ours,
        (folder / "driver.err").open("w") as errors,
        subprocess.Popen(command_of(serve, end), cwd=ROOT, env=environment, pass_fds=[end], stderr=errors) as process,
    ):
        theirs.close()
        try:
            yield Driver(ours, folder / "strace.log")
        finally:
            process.kill()


# What follows runs in the driver.


def serve(end: int) -> None:
    """Fork a child for every order until the socket is closed."""
    FileQueue.__init__ = _in_one_thread(FileQueue.__init__)
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(_warm_up(Path(scratch)))
    wire = socket.socket(fileno=end)
    while order := wire.recv(ORDER):
        child = os.fork()
        if not child:
            step, data, goes_on = json.loads(order)
            asyncio.run(_perform(wire, STEPS[step], Path(data), goes_on))
        _, status = os.waitpid(child, 0)
        wire.send(f"gone {status}".encode())


async def _perform(wire: socket.socket, step: Step, data: Path, goes_on: bool) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    stage = await step.ready(data)
    wire.send(f"ready {os.getpid()}".encode())
    wire.recv(ORDER)
    wire.send((await _outcome(step.act(stage))).encode())
    if goes_on:
        said = await _outcome(stage.go_on())
        if said.startswith("refused"):  # the fault may strike here
            said = await _outcome(stage.go_on())
        wire.send(said.encode())
    os._exit(0)


async def _outcome(act: Awaitable[object]) -> str:
    try:
        await act
    except (UnavailableError, Unwritten) as refused:
        return f"refused {refused}"
    except Exception as wrong:  # noqa: BLE001  # a process's main: whatever else a step raises is what the row looks for
        return f"raised {type(wrong).__name__}: {wrong}"
    return "acked"


async def _warm_up(data: Path) -> None:
    """Load what a first use loads, so that no step reads modules."""
    await prepared(data)
    await STEPS["historian"].act(await STEPS["historian"].ready(data))
    await STEPS["profile write"].lay(data)
    for step in PROFILE_STEPS.values():
        await step.act(await step.ready(data))


def _in_one_thread(make: Callable[..., None]) -> Callable[..., None]:
    """Let a queue write arrivals in the thread of its steps: strace counts calls per thread."""

    def made(queue: FileQueue, *args: object, **options: object) -> None:
        make(queue, *args, **options)
        queue.writers = queue.steps

    return made


# Steps with one fault after the other, each in a new copy of the same directory.


@dataclass(frozen=True)
class Scene:
    """A step with the directory before it, and the outcome of an undisturbed run."""

    name: str
    step: Step
    template: Path
    before: Found
    done: Found  # after an undisturbed run
    standing: frozenset[str]  # names of the existing files
    unharmed: Outcome


Plan = Callable[[Scene], Iterable[Injection]]
Watch = Callable[[Scene, Injection, Outcome], Any]


def struck(names: Sequence[str], plan: Plan, *, goes_on: bool = False, watch: Watch | None = None) -> Seen:
    """Run steps with every fault of a plan, two steps at a time; count what the faults did."""
    work, total = deque(names), Seen()

    def work_off(_: int) -> Seen:
        tally = Seen()
        with tempfile.TemporaryDirectory() as folder, driver(Path(folder)) as process:
            while work:
                scene = _scene(Path(folder) / str(len(work)), work.popleft(), process)
                for injection in plan(scene):
                    data = Path(folder) / "data"
                    shutil.copytree(scene.template, data)
                    outcome = process.take(scene.name, data, injection, goes_on=goes_on)
                    if watch and outcome.has_struck:
                        watch(scene, injection, outcome)
                    _count(tally, scene, injection, outcome, data)
                    shutil.rmtree(data)
        return tally

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        for tally in pool.map(work_off, range(SIDE_BY_SIDE)):
            total.update(tally)
    return total


def rehearsed(names: Sequence[str]) -> list[Scene]:
    """Run steps without any fault; their directories are removed afterwards."""
    with tempfile.TemporaryDirectory() as folder, driver(Path(folder)) as process:
        return [_scene(Path(folder) / str(number), name, process) for number, name in enumerate(names)]


def _scene(folder: Path, name: str, process: Driver) -> Scene:
    step, template, data = STEPS[name], folder / "template", folder / "data"
    template.mkdir(parents=True)
    asyncio.run(step.lay(template))
    shutil.copytree(template, data)
    before = asyncio.run(step.found(data))
    shutil.rmtree(data)
    shutil.copytree(template, data)
    unharmed = process.take(name, data)
    assert unharmed.is_acked, f"{name}: {unharmed.said}"
    done = asyncio.run(step.found(data))
    shutil.rmtree(data)
    return Scene(name, step, template, before, done, frozenset(path.name for path in template.rglob("*")), unharmed)


def _count(tally: Seen, scene: Scene, injection: Injection, outcome: Outcome, data: Path) -> None:
    if not outcome.has_struck:
        tally["did not strike"] += 1
        return
    found = asyncio.run(scene.step.found(data))
    after = scene.step.after if outcome.said_after == "acked" else ()
    verdict = scene.step.judged(found, scene.before, scene.done, is_acked=outcome.is_acked, after=after)
    has_passed = outcome.log.count("(INJECTED)") == 1  # a new thread counts from one and meets the fault again
    is_stuck = has_passed and not injection.is_lasting and outcome.said_after.startswith("refused")
    is_kept = outcome.said.startswith("refused") and any(found.tokens[token] for token in scene.step.new)
    tally.update(lost=len(verdict.lost), twice=len(verdict.twice), torn=len(verdict.torn), stuck=is_stuck)
    tally.update(injected=1, crashed=outcome.is_crash, refused=not outcome.is_acked)
    tally.update({"refused and kept": is_kept, "second copy of a memo behind": verdict.behind})
    if outcome.is_crash or is_stuck or not verdict.is_good:
        said = f"{outcome.said[:90]} {outcome.said_after[:90]} {verdict}"
        tally.examples.append(f"{scene.name}, {injection}: {said}")
