"""A model server on loopback, real HTTP, that answers well or in any bad way a test names.

::

    async with ModelServer() as server:
        server.embeddings = well                       # the default
        server.embeddings = [status(429, {"Retry-After": "2"}), well]   # one after another; the last goes on
        ... server.url, server.asked, server.texts

A behaviour is a function from what was asked to a :class:`Reply`. ``python -m tests.support.model_server --port N``
runs a server that answers well until it is interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import gzip
import hashlib
import json
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

DIMENSIONS = 32
_CHUNK = 65_536


@dataclass(frozen=True)
class Asked:
    """One request."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def texts(self) -> list[str]:
        """Return all texts of the request."""
        given = self.body.get("input", self.body.get("documents", []))
        messages = [message["content"] for message in self.body.get("messages", [])]
        return [*([given] if isinstance(given, str) else given), *messages]


@dataclass(frozen=True)
class Reply:
    """An answer and its delivery: after ``delay`` seconds, ``pause`` seconds between bytes, cut after so many bytes."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    pause: float = 0.0
    cut_after: int | None = None
    repeats: int = 1


Behaviour = Callable[[Asked], Reply]
Script = Behaviour | Sequence[Behaviour]


class ModelServer:
    """Serves /v1/embeddings, /v1/chat/completions and /v1/rerank; records the requests."""

    def __init__(self, port: int = 0) -> None:
        """Answer everything well; port 0 means a free port."""
        self.embeddings: Script = well
        self.chat: Script = well
        self.rerank: Script = well
        self.asked: list[Asked] = []
        self.connections = 0
        self._port = port
        self._played: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._arrived = asyncio.Condition()

    async def __aenter__(self) -> ModelServer:  # noqa: PYI034  # typing.Self is younger than Python 3.10
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        """Return its address as an operator writes it."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def texts(self) -> list[str]:
        """Return all texts that it ever received."""
        return [text for asked in self.asked for text in asked.texts]

    async def is_asked(self, times: int) -> None:
        """Wait until it has received so many requests."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.asked) >= times)

    async def run(self) -> None:
        """Serve until cancelled."""
        await self._server.serve_forever()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.connections += 1
        try:
            while (asked := await _read(reader)) is not None:
                await self._note(asked)
                if not await _send(writer, self._behaviour(asked.path)(asked)):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _note(self, asked: Asked) -> None:
        self.asked.append(asked)
        async with self._arrived:
            self._arrived.notify_all()

    def _behaviour(self, path: str) -> Behaviour:
        scripts = {"embeddings": self.embeddings, "completions": self.chat, "rerank": self.rerank}
        name = path.rpartition("/")[2]
        script = scripts.get(name, status(404))
        if callable(script):
            return script
        number = self._played[name] = self._played.get(name, -1) + 1
        return script[min(number, len(script) - 1)]


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    with suppress(asyncio.IncompleteReadError):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        return Asked(head[0].split(" ")[1], headers, json.loads(body or b"{}"))
    return None


async def _send(writer: asyncio.StreamWriter, reply: Reply) -> bool:
    """Send a reply; return whether the connection may stay open."""
    await asyncio.sleep(reply.delay)
    if reply.cut_after is not None and reply.cut_after < 0:
        return False
    size = str(len(reply.body) * reply.repeats)
    headers = {"Content-Type": "application/json", "Content-Length": size, **reply.headers}
    lines = [f"HTTP/1.1 {reply.status} So", *(f"{key}: {value}" for key, value in headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
    for _ in range(reply.repeats):
        await _send_body(writer, reply.body[: reply.cut_after], reply.pause)
    return reply.cut_after is None


async def _send_body(writer: asyncio.StreamWriter, body: bytes, pause: float) -> None:
    size = 1 if pause else _CHUNK
    for at in range(0, len(body), size):
        writer.write(body[at : at + size])
        await writer.drain()
        if pause:
            await asyncio.sleep(pause)


# Any endpoint.


def well(asked: Asked) -> Reply:
    """Answer as a model should."""
    if "input" in asked.body:
        return embeddings()(asked)
    if "documents" in asked.body:
        return scores(shared_letters)(asked)
    return tool_call()(asked) if "tools" in asked.body else words(json.dumps(sample({})))(asked)


def as_json(value: object, **how: Any) -> Behaviour:
    """Answer with this value as JSON, NaN included."""
    return raw(json.dumps(value).encode(), **how)


def raw(body: bytes, **how: Any) -> Behaviour:
    """Answer with these bytes."""
    return lambda _: Reply(body, **how)


def slowly(seconds: float, then: Behaviour = well) -> Behaviour:
    """Answer after a delay."""
    return lambda asked: replace(then(asked), delay=seconds)


def never(_: Asked) -> Reply:
    """Accept the request, and send nothing for an hour."""
    return Reply(delay=3600)


def dripping(pause: float = 1.0, then: Behaviour = well) -> Behaviour:
    """Send one byte at a time with pauses."""
    return lambda asked: replace(then(asked), pause=pause)


def status(code: int, headers: Mapping[str, str] | None = None, message: str = "no") -> Behaviour:
    """Refuse as providers do, with the request's headers and texts in the message."""
    return lambda asked: Reply(
        json.dumps({"error": {"message": f"{message} {asked.headers.get('authorization')} {asked.texts}"}}).encode(),
        code,
        headers or {},
    )


def page(_: Asked) -> Reply:
    """Answer with a web page."""
    return Reply(b"<!doctype html><html><body>Welcome</body></html>", headers={"Content-Type": "text/html"})


def cut(_: Asked) -> Reply:
    """Close the connection without an answer."""
    return Reply(cut_after=-1)


def cut_within(asked: Asked) -> Reply:
    """Close the connection in the middle of the body."""
    reply = well(asked)
    return replace(reply, cut_after=len(reply.body) // 2)


def redirect(to: str) -> Behaviour:
    """Redirect to another address."""
    return lambda _: Reply(status=307, headers={"Location": to})


def huge(megabytes: int) -> Behaviour:
    """Send a body of this size, its length announced."""
    return lambda _: Reply(b" " * (1 << 20), repeats=megabytes)


def bomb(megabytes: int) -> Behaviour:
    """Send a small body that unpacks to this size."""
    packed = gzip.compress(b" " * (megabytes << 20), 1)
    return raw(packed, headers={"Content-Encoding": "gzip"})


# Embeddings.


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Return a vector hashed from letters and pairs: equal texts have equal vectors, similar texts similar ones."""
    numbers = [0.0] * dimensions
    for feature in (*text, *(text[at : at + 2] for at in range(len(text) - 1))):
        digest = hashlib.sha256(feature.encode("utf-8", "replace")).digest()
        numbers[int.from_bytes(digest[:4], "big") % dimensions] += 1.0 if digest[4] & 1 else -1.0
    if not any(numbers):
        numbers[0] = 1.0
    length = math.sqrt(sum(number * number for number in numbers))
    return [number / length for number in numbers]


def embeddings(
    change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = list, dimensions: int = 0, **extra: Any
) -> Behaviour:
    """Answer with one vector per text, after a change to the rows."""

    def behave(asked: Asked) -> Reply:
        length = dimensions or asked.body.get("dimensions", DIMENSIONS)
        rows = [
            {"object": "embedding", "index": index, "embedding": vector_of(text, length)}
            for index, text in enumerate(asked.texts)
        ]
        usage = {"prompt_tokens": len(rows), "total_tokens": len(rows)}
        body = {"object": "list", "data": change(rows), "model": asked.body["model"], "usage": usage, **extra}
        return Reply(json.dumps(body).encode())

    return behave


def with_vector(vector: object) -> Behaviour:
    """Answer with this value as the last text's vector."""
    return embeddings(lambda rows: [*rows[:-1], {**rows[-1], "embedding": vector}])


def in_base64(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Encode vectors as little-endian float32 in base64."""
    packed = [struct.pack(f"<{len(row['embedding'])}f", *row["embedding"]) for row in rows]
    return [{**row, "embedding": base64.b64encode(some).decode()} for row, some in zip(rows, packed, strict=True)]


# Chat.


def message(content: object, **choice: Any) -> Behaviour:
    """Answer with this message."""
    one = {"index": 0, "message": {"role": "assistant", **_as_message(content)}, "finish_reason": "stop", **choice}
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    head = {"id": "1", "object": "chat.completion", "created": 1_700_000_000, "model": "some-model"}
    return as_json({**head, "choices": [one], "usage": usage})


def words(text: str, **choice: Any) -> Behaviour:
    """Answer with text."""
    return message({"content": text}, **choice)


def tool_call(arguments: object = None, name: str = "", **choice: Any) -> Behaviour:
    """Call the requested tool, with these arguments or a minimal example of its schema."""

    def behave(asked: Asked) -> Reply:
        function = asked.body["tools"][0]["function"]
        given = sample(function["parameters"]) if arguments is None else arguments
        written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        call = {"name": name or function["name"], "arguments": written}
        calls = [{"id": "c1", "type": "function", "function": call}]
        return message({"content": None, "tool_calls": calls}, **choice)(asked)

    return behave


def without_tools(then: Behaviour, complaint: str = "tools are not supported") -> Behaviour:
    """Refuse every request that has tools."""
    return lambda asked: status(400, message=complaint)(asked) if "tools" in asked.body else then(asked)


def only_words(then: Behaviour) -> Behaviour:
    """Refuse every request that has tools or asks for JSON mode."""
    return without_tools(lambda asked: status(400)(asked) if "response_format" in asked.body else then(asked))


def deaf_to_tools(then: Behaviour) -> Behaviour:
    """Answer with chatter if tools are offered, and as ``then`` otherwise."""
    return lambda asked: words("好的，我来看看。")(asked) if "tools" in asked.body else then(asked)


def sample(schema: Mapping[str, Any]) -> Any:
    """Return the smallest value that a JSON schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    if kind == "object":
        required = schema.get("required", ())
        return {key: sample(part) for key, part in schema.get("properties", {}).items() if key in required}
    return {"array": [], "string": "x", "integer": 0, "number": 0.0, "boolean": False}.get(kind)


def _as_message(content: object) -> dict[str, Any]:
    return dict(content) if isinstance(content, Mapping) else {"content": content}


# Rerank.


def scores(score: Callable[[str, str], object]) -> Behaviour:
    """Score each document against the query, best first."""

    def behave(asked: Asked) -> Reply:
        listed = [
            {"index": index, "relevance_score": score(asked.body["query"], text)}
            for index, text in enumerate(asked.body["documents"])
        ]
        return Reply(json.dumps({"results": listed[::-1], "usage": {"total_tokens": 9}}).encode())

    return behave


def shared_letters(query: str, text: str) -> float:
    """Return the share of the query's letters that a text contains."""
    return len(set(query) & set(text)) / max(len(set(query)), 1)


async def _serve(port: int, delay: float) -> None:
    async with ModelServer(port) as server:
        server.embeddings = server.chat = server.rerank = slowly(delay)
        print(server.url, flush=True)
        await server.run()


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    options = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(options.port, options.delay))


if __name__ == "__main__":
    main()
