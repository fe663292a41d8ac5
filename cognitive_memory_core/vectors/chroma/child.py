"""The process that runs Chroma: reads requests from stdin, writes answers to stdout, ends when stdin is closed.

Each is a line of JSON. A request is the name of a method of :class:`.Generations` with its arguments; the first one
says where they are.
Started by :mod:`.process` as ``python -m``, never by hand.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import orjson
from filelock import FileLock, Timeout

from ...disk import identity
from .location import IndexLocation, Refusal

LOCK = "child.lock"
_OWNER_ONLY = 0o077


def main() -> None:
    """Serve requests until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the bot ends this process by closing the input
    os.umask(_OWNER_ONLY)
    requests, answers = pipes()
    os.chdir(Path(__file__).parent)  # chromadb reads .env from the working directory
    with contextlib.suppress(BrokenPipeError):
        _serve(requests, answers)


def pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Return stdin and stdout for requests and answers; whatever a library prints goes to stderr."""
    requests, answers = os.fdopen(0, "rb", closefd=False), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return requests, answers


def _serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer until the input ends, or until another process could take the folder's lock."""
    generations: Any = None
    lock: Any = None
    held, is_over = None, False
    while not is_over and (line := requests.readline()).endswith(b"\n"):  # a line that was cut off is no request
        request = orjson.loads(line)
        arguments = request["arguments"]
        said: Mapping[str, object] = {"answer": None}
        try:
            if generations is None:
                location = IndexLocation(**arguments["location"])
                Path(location.folder).mkdir(mode=0o700, parents=True, exist_ok=True)
                lock = FileLock(Path(location.folder) / LOCK, mode=0o600)
                try:
                    lock.acquire(timeout=arguments["patience"])  # held until the process ends
                except Timeout:
                    raise Refusal("locked") from None
                held = identity(lock.lock_file)
                try:
                    from .generations import Generations  # noqa: PLC0415  # not before the lock and the output are ours
                except Exception as missing:  # what a broken installation raises is anybody's guess
                    name = getattr(missing, "name", "") or ""
                    raise Refusal("missing", f"{type(missing).__name__}: {name}") from missing
                generations = Generations(location)
            elif held is None or identity(lock.lock_file) != held:
                said, is_over = {"failed": ("gone", "")}, True  # a new process would not see our lock
            else:
                said = {"answer": getattr(generations, request["name"])(**arguments)}
        except Refusal as refusal:
            said = {"failed": refusal.args}
        except Exception as error:  # noqa: BLE001  # whatever Chroma or its server raises is the answer
            said = {"failed": ("failed", type(error).__name__)}  # its message might quote stored text
        answers.write(orjson.dumps(said) + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
