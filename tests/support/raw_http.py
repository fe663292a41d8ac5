"""Requests written byte by byte to a real socket, as no client library would send them, and a free port."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

PATIENCE = 30.0  # seconds for an answer
Header = tuple[str, bytes]


@dataclass(frozen=True)
class RawAnswer:
    """An answer as it came: its status, 0 if the server closed without one, and everything that it sent."""

    status: int
    text: str

    @property
    def is_success(self) -> bool:
        """Return whether the request was carried out."""
        return 200 <= self.status < 300

    @property
    def body(self) -> str:
        """Return what follows the headers."""
        return self.text.partition("\r\n\r\n")[2]


@dataclass(frozen=True)
class RawRequest:
    """A request whose every byte is chosen; the length of a body is sent unless a header says otherwise."""

    method: str = "GET"
    target: bytes = b"/memory/status"
    headers: Sequence[Header] = ()
    body: bytes = b""
    host: bytes | None = b"127.0.0.1"

    def encoded(self) -> bytes:
        """Return the bytes on the wire."""
        headers = [*([] if self.host is None else [("Host", self.host)]), *self.headers]
        given = {name.lower() for name, _ in headers}
        if "connection" not in given:
            headers.append(("Connection", b"close"))
        if self.body and not given & {"content-length", "transfer-encoding"}:
            headers.append(("Content-Length", str(len(self.body)).encode()))
        lines = [self.method.encode() + b" " + self.target + b" HTTP/1.1"]
        lines += [name.encode() + b": " + value for name, value in headers]
        return b"\r\n".join(lines) + b"\r\n\r\n" + self.body

    async def sent(self, port: int) -> RawAnswer:
        """Send it to a server on loopback; return its answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(self.encoded())
            with suppress(ConnectionError):
                await writer.drain()
            answer = await asyncio.wait_for(_read(reader), PATIENCE)
        finally:
            writer.close()
        status = answer.split(b" ", 2)[1:2]
        return RawAnswer(int(status[0]) if status and status[0].isdigit() else 0, answer.decode("utf-8", "replace"))


async def _read(reader: asyncio.StreamReader) -> bytes:
    parts: list[bytes] = []
    with suppress(ConnectionError):
        while part := await reader.read(65_536):
            parts.append(part)
    return b"".join(parts)


def free_port() -> int:
    """Return a port of loopback on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def bearer(token: str | bytes) -> Header:
    """Return the header with a token."""
    return "Authorization", b"Bearer " + (token.encode() if isinstance(token, str) else token)
