"""The process that runs one step and dies in it; it forks per order, so that modules are imported once.

Started as ``driver.py DESCRIPTOR`` with one end of a socket pair. An order is ``{"step", "data", "goes_on"}``. The
child opens the directory, sends ``ready PID`` and waits, so that a tracer can attach and count system calls of the step
alone. Then it sends ``acked``, ``refused`` or ``raised ...``, and with ``goes_on`` the result of a job handed in
afterwards; its parent sends ``gone STATUS``. All messages use send(), a call into which no fault is injected.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.faults import world
from benchmarks.faults.steps import PROFILE_STEPS, STEPS, Unwritten
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.queue.job_queue import FileQueue

ORDER = 65_536  # bytes


def serve(wire: socket.socket) -> None:
    """Fork a child for every order until the socket is closed."""
    while order := wire.recv(ORDER):
        wanted = json.loads(order)
        child = os.fork()
        if not child:
            asyncio.run(_perform(wire, wanted["step"], Path(wanted["data"]), wanted["goes_on"]))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        wire.send(f"gone {status}".encode())


async def _perform(wire: socket.socket, step: str, data: Path, goes_on: bool) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    stage = await STEPS[step].ready(data)
    wire.send(f"ready {os.getpid()}".encode())
    wire.recv(ORDER)
    wire.send((await _outcome(STEPS[step].act(stage))).encode())
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
    await world.prepared(data)
    stage = await STEPS["historian"].ready(data)
    await STEPS["historian"].act(stage)
    await STEPS["profile write"].lay(data)
    for name in PROFILE_STEPS:
        await STEPS[name].act(await STEPS[name].ready(data))


def _in_one_thread(make: Callable[..., None]) -> Callable[..., None]:
    """Let a queue write arrivals in the thread of its steps: a tracer counts calls per thread."""

    def made(queue: FileQueue, *args: object) -> None:
        make(queue, *args)
        queue.writers = queue.steps

    return made


if __name__ == "__main__":
    FileQueue.__init__ = _in_one_thread(FileQueue.__init__)
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(_warm_up(Path(scratch)))
    serve(socket.socket(fileno=int(sys.argv[1])))
