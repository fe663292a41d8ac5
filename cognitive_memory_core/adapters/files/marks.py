"""Which messages a job holds, in eight bytes each: enough to leave the files of all other jobs unread."""

from __future__ import annotations

from collections.abc import Iterable

Marks = bytes
_WIDTH = 8


def marks_of(message_ids: Iterable[str]) -> Marks:
    """Return the marks of message ids. They are good for this process only, and two ids may share one."""
    return b"".join(_mark(message_id) for message_id in message_ids)


def may_hold(marks: Marks | None, message_id: str) -> bool:
    """Return False only where the message is certainly not among those that were marked; None marks tell nothing."""
    return marks is None or _mark(message_id) in marks


def _mark(message_id: str) -> bytes:
    return hash(message_id).to_bytes(_WIDTH, "little", signed=True)
