"""Hashes of the ids of a job's messages, so that a search for a message need not read the files of other jobs."""

from __future__ import annotations

from collections.abc import Iterable

MessageHashes = bytes
_WIDTH = 8


def hashes_of(message_ids: Iterable[str]) -> MessageHashes:
    """Return the hashes of message ids, eight bytes each; valid in this process only, and two ids may share one."""
    return b"".join(_hash(message_id) for message_id in message_ids)


def may_hold(hashes: MessageHashes | None, message_id: str) -> bool:
    """Return False only if the message is certainly not among the hashed ones; None means that nothing is known."""
    return hashes is None or _hash(message_id) in hashes


def _hash(message_id: str) -> bytes:
    return hash(message_id).to_bytes(_WIDTH, "little", signed=True)
