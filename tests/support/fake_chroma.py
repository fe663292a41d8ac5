"""A process with the protocol of the Chroma child that does what its requests are named."""

from __future__ import annotations

import os
import time

import orjson

from cognitive_memory_core.vectors.chroma.child import pipes


def serve() -> None:
    """Handle requests until the input ends; a start on a database of a name is refused with that name."""
    requests, answers = pipes()
    while line := requests.readline():
        request = orjson.loads(line)
        name, told = request["name"], request["arguments"]
        said: dict[str, object] = {"answer": None}
        if name == "start" and told["location"]["database"]:
            said["failed"] = (told["location"]["database"], "chromadb")
        elif name == "sleep":
            time.sleep(told["milliseconds"] / 1000)
        elif name == "die":
            os._exit(told["status"])
        elif name == "print":
            os.write(1, b"a library says hello\n")
        elif name == "nonsense":
            answers.write(told["content"].encode() + b"\n")
        elif name == "pid":
            said["answer"] = os.getpid()
        elif name == "environment":
            said["answer"] = sorted(os.environ)
        answers.write(orjson.dumps(said) + b"\n")
        answers.flush()


if __name__ == "__main__":
    serve()
