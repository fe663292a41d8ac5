"""Marks of the messages that a job holds, eight bytes each, so that other jobs' files need not be read."""

from __future__ import annotations

from collections.abc import Iterable

Marks = bytes
_WIDTH = 8


def marks_of(message_ids: Iterable[str]) -> Marks:
    """Return the marks of message ids; valid in this process only, and two ids may share one."""
    return b"".join(_mark(message_id) for message_id in message_ids)


def may_hold(marks: Marks | None, message_id: str) -> bool:
    """Return False only if the message is certainly not among those marked; None as marks means unknown."""
    return marks is None or _mark(message_id) in marks


def _mark(message_id: str) -> bytes:
    return hash(message_id).to_bytes(_WIDTH, "little", signed=True)
