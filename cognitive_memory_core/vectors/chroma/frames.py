"""Frames on a pipe: a JSON header and one block of bytes, each preceded by its length."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

MAX_HEADER = 64 * 1024 * 1024
MAX_BLOCK = 128 * 1024 * 1024
_LENGTHS = struct.Struct("<4sII")
_MAGIC = b"cmf1"  # marks a frame: any other output in the pipe is rejected


class BadFrame(Exception):
    """The data is not a frame, or the frame is too large."""


class Readable(Protocol):
    """The reading end of a pipe."""

    def read(self, size: int, /) -> bytes | None:
        """Return up to ``size`` bytes, fewer only at the end."""
        ...


@dataclass(frozen=True)
class Frame:
    """A JSON header and a block of binary data."""

    header: dict[str, Any]
    block: bytes = b""


def encoded(frame: Frame) -> bytes:
    """Return a frame's bytes; raises BadFrame for a header that is not JSON or a frame that is too large."""
    try:
        header = orjson.dumps(frame.header)
    except TypeError as refused:  # half of a surrogate pair, a number of more than 64 bits
        raise BadFrame(str(refused)) from None
    _check(len(header), len(frame.block))
    return b"".join((_LENGTHS.pack(_MAGIC, len(header), len(frame.block)), header, frame.block))


def read_frame(pipe: Readable) -> Frame | None:
    """Wait for the next frame; return None if the other side closed the pipe, also in the middle of a frame."""
    start = _read(pipe, _LENGTHS.size)
    if start is None:
        return None
    magic, header_length, block_length = _LENGTHS.unpack(start)
    if magic != _MAGIC:
        raise BadFrame("no frame")
    _check(header_length, block_length)
    header, block = _read(pipe, header_length), _read(pipe, block_length)
    return None if header is None or block is None else Frame(_parsed(header), block)


def _check(header_length: int, block_length: int) -> None:
    if header_length > MAX_HEADER or block_length > MAX_BLOCK:
        raise BadFrame(f"{header_length} + {block_length} bytes")


def _parsed(header: bytes) -> dict[str, Any]:
    try:
        content = orjson.loads(header)
    except ValueError as broken:
        raise BadFrame(str(broken)) from None
    if not isinstance(content, dict):
        raise BadFrame("no object")
    return content  # pyright: ignore[reportUnknownVariableType]  # JSON's keys are texts


def _read(pipe: Readable, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        part = pipe.read(size - len(data))
        if not part:
            return None
        data += part
    return bytes(data)
