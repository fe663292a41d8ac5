"""Messages between the bot and Chroma's process: a JSON header and one block of bytes, each preceded by its length."""

from __future__ import annotations

import struct
from typing import IO, Any

import orjson

MAX_HEADER = 64 * 1024 * 1024
MAX_BLOCK = 128 * 1024 * 1024
_LENGTHS = struct.Struct("<4sII")
_MAGIC = b"cmf1"  # marks a frame: any other output in the pipe is rejected


class BadFrame(Exception):
    """The data is not a frame, or the frame is too large."""


class Refusal(Exception):
    """Why a request is refused, and a detail for the message.

    "locked": another process holds the folder; "missing": chromadb cannot be imported; "gone": no such generation;
    "closed": the generation was not opened in this process;
    "foreign": the database, named in the detail, holds another bot's collections; "failed": anything else.
    """

    def __init__(self, why: str, detail: str = "") -> None:
        """Keep both."""
        super().__init__(why, detail)
        self.why, self.detail = why, detail


def encoded(header: dict[str, Any], block: bytes = b"") -> bytes:
    """Return a frame's bytes; raises BadFrame for a header that is not JSON or a frame that is too large."""
    try:
        content = orjson.dumps(header)
    except TypeError as refused:  # half of a surrogate pair, a number of more than 64 bits
        raise BadFrame(str(refused)) from None
    _check(len(content), len(block))
    return b"".join((_LENGTHS.pack(_MAGIC, len(content), len(block)), content, block))


def read_frame(pipe: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Wait for the next frame; return None if the other side closed the pipe, also in the middle of a frame."""
    start = pipe.read(_LENGTHS.size)
    if len(start) < _LENGTHS.size:
        return None
    magic, header_length, block_length = _LENGTHS.unpack(start)
    if magic != _MAGIC:
        raise BadFrame("no frame")
    _check(header_length, block_length)
    content = pipe.read(header_length + block_length)
    if len(content) < header_length + block_length:
        return None
    try:
        header: dict[str, Any] = orjson.loads(content[:header_length])
    except ValueError as broken:
        raise BadFrame(str(broken)) from None
    return header, content[header_length:]


def _check(header_length: int, block_length: int) -> None:
    if header_length > MAX_HEADER or block_length > MAX_BLOCK:
        raise BadFrame(f"{header_length} + {block_length} bytes")
