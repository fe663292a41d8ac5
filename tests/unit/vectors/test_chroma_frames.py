"""Tests of the messages between the bot and Chroma's process."""

from __future__ import annotations

import io
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.ports.vectors import Generation
from cognitive_memory_core.vectors.chroma import frames
from cognitive_memory_core.vectors.chroma.frames import BadFrame, Frame, encoded, read_frame
from cognitive_memory_core.vectors.chroma.protocol import (
    Begin,
    Envelope,
    Failed,
    Nearest,
    NearestIds,
    Opened,
    Start,
    Upsert,
    framed,
    unframed,
)

GENERATION = Generation(7, "birth", "model:2", 2)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc"), inner, max_size=3),
    max_leaves=10,
)


@given(st.lists(st.tuples(st.dictionaries(st.text("xyz"), JSON, max_size=4), st.binary(max_size=64)), max_size=4))
def test_frames_come_out_as_they_went_in(contents: list[tuple[dict[str, object], bytes]]) -> None:
    """Any headers and blocks are read as they were written, followed by the end."""
    sent = [Frame(header, block) for header, block in contents]
    pipe = io.BytesIO(b"".join(map(encoded, sent)))
    assert [read_frame(pipe) for _ in sent] == sent
    assert read_frame(pipe) is None


class OneByOne(io.BytesIO):
    """A pipe that returns one byte at a time."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Return one byte."""
        return super().read(min(size or 0, 1))


def test_a_frame_may_come_in_pieces() -> None:
    """A frame is read correctly from a pipe that returns only parts."""
    frame = Frame({"text": "分成很多段"}, b"\x00\x01\x02")
    assert read_frame(OneByOne(encoded(frame))) == frame


@pytest.mark.parametrize("length", range(24))
def test_a_cut_frame_is_the_end(length: int) -> None:
    """A frame that is cut off anywhere is treated as the end."""
    whole = encoded(Frame({"a": 1}, b"12345"))
    assert len(whole) == 24
    assert read_frame(io.BytesIO(whole[:length])) is None


@pytest.mark.parametrize(
    "content",
    [
        b"Traceback (most recent call last)",
        struct.pack("<4sII", b"cmf1", 2**32 - 1, 0),
        struct.pack("<4sII", b"cmf1", 2, 2**32 - 1),
        struct.pack("<4sII", b"oops", 2, 0) + b"{}",
        struct.pack("<4sII", b"cmf1", 2, 0) + b"[]",
        struct.pack("<4sII", b"cmf1", 2, 0) + b"{]",
    ],
)
def test_what_is_no_frame_is_refused(content: bytes) -> None:
    """Printed text, impossible lengths and broken headers raise BadFrame at once."""
    with pytest.raises(BadFrame):
        read_frame(io.BytesIO(content))


@pytest.mark.parametrize("value", ["\ud800", 2**70, {1, 2}, float])
def test_what_json_cannot_hold_is_not_sent(value: object) -> None:
    """A lone surrogate, a too large number and foreign types are refused before anything is written."""
    with pytest.raises(BadFrame):
        encoded(Frame({"value": value}))


def test_a_frame_that_is_too_large_is_not_sent() -> None:
    """A frame over the size limit is refused when it is written."""
    with pytest.raises(BadFrame):
        encoded(Frame({"value": "x" * frames.MAX_HEADER}))


@pytest.mark.parametrize(
    "letter",
    [
        Envelope(1, Start("/folder", token="secret")),
        Envelope(2, Begin("model:2", 2)),
        Envelope(3, Upsert(GENERATION, ["1"], ["甲"], [{"a": "b", "subjects": None}], b"12345678")),
        Envelope(4, Nearest(GENERATION, {"agent": {"$eq": "default"}}, 5, b"12345678")),
        Envelope(5, Opened(GENERATION), 12345),
        Envelope(6, Opened(None, "damaged")),
        Envelope(7, NearestIds(["1"], [0.5])),
        Envelope(8, Failed("gone")),
    ],
)
def test_letters_come_out_as_they_went_in(letter: Envelope) -> None:
    """Requests and answers keep their types, generations and vectors."""
    frame = read_frame(io.BytesIO(encoded(framed(letter))))
    assert frame is not None
    assert unframed(frame) == letter


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"number": 1, "kind": "Nonsense", "body": {}, "resident": None},
        {"number": 1, "kind": "Begin", "body": {"wrong": 1}, "resident": None},
        {"number": 1, "kind": "Opened", "body": {"generation": {"number": 1}}, "resident": None},
        {"number": 1, "kind": "Begin", "body": 5, "resident": None},
    ],
)
def test_what_is_no_letter_is_refused(header: dict[str, object]) -> None:
    """A frame with an unknown kind or wrong fields raises BadFrame."""
    with pytest.raises(BadFrame):
        unframed(Frame(header))


def test_the_token_is_not_shown() -> None:
    """The representation of a start request does not contain the server's token."""
    assert "secret" not in repr(Start("/folder", token="secret"))
