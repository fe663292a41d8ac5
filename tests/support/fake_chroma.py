"""A process with the protocol of the Chroma child that does what its requests are named; used by supervisor tests."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from cognitive_memory_core.vectors.chroma.child import Wire
from cognitive_memory_core.vectors.chroma.frames import encoded
from cognitive_memory_core.vectors.chroma.protocol import (
    Answer,
    Begin,
    Done,
    Envelope,
    Failed,
    InUse,
    Ready,
    Start,
    framed,
)

MEGABYTE = 1024 * 1024


def asked(what: str, number: int = 0) -> Begin:
    """Return the request that makes the process do ``what``."""
    return Begin(what, number)


class FakeChroma:
    """One run of the process."""

    def __init__(self) -> None:
        """Open the pipes."""
        self._wire = Wire()
        self._resident = 100 * MEGABYTE
        self._does: dict[str, Callable[[int], Answer | None]] = {
            "sleep": self._sleep,
            "die": os._exit,
            "print": self._print,
            "grow": self._grow,
            "pid": lambda _: InUse(os.getpid()),
            "environment": lambda _: Failed("failed", " ".join(sorted(os.environ))),
        }

    def serve(self) -> None:
        """Handle requests until the input ends."""
        while (letter := self._wire.next()) is not None:
            answer = self._answered(letter)
            self._send(letter.number, answer or Done())

    def _answered(self, letter: Envelope) -> Answer | None:
        body = letter.body
        if isinstance(body, Start):
            return Failed(body.database, "chromadb") if body.database else Ready("0")  # type: ignore[arg-type]
        return self._does[body.fingerprint](body.dimensions) if isinstance(body, Begin) else Done()

    def _send(self, number: int, answer: Answer) -> None:
        self._wire.write(encoded(framed(Envelope(number, answer, self._resident))))

    def _sleep(self, milliseconds: int) -> None:
        time.sleep(milliseconds / 1000)

    def _print(self, _: int) -> None:
        os.write(1, b"a library says hello\n")

    def _grow(self, megabytes: int) -> None:
        self._resident = megabytes * MEGABYTE


if __name__ == "__main__":
    FakeChroma().serve()
