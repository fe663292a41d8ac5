"""A process with the protocol of the Chroma child that does what its requests are named."""

from __future__ import annotations

import os
import time

from cognitive_memory_core.vectors.chroma.child import pipes
from cognitive_memory_core.vectors.chroma.wire import encoded, read_frame

MEGABYTE = 1024 * 1024


def serve() -> None:
    """Handle requests until the input ends; a start on a database of a name is refused with that name."""
    requests, answers = pipes()
    resident = 100
    while (frame := read_frame(requests)) is not None:
        name, told = frame[0]["name"], frame[0]["arguments"]
        said: dict[str, object] = {"number": frame[0]["number"]}
        if name == "start" and told["place"]["database"]:
            said["failed"] = (told["place"]["database"], "chromadb")
        elif name == "sleep":
            time.sleep(told["milliseconds"] / 1000)
        elif name == "die":
            os._exit(told["status"])
        elif name == "print":
            os.write(1, b"a library says hello\n")
        elif name in ("grow", "open"):
            resident = told["megabytes"]
        elif name == "pid":
            said["answer"] = os.getpid()
        elif name == "environment":
            said["answer"] = sorted(os.environ)
        answers.write(encoded({**said, "resident": resident * MEGABYTE}))
        answers.flush()


if __name__ == "__main__":
    serve()
