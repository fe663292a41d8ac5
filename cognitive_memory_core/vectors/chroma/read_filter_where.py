"""Compiles a read filter into a Chroma ``where``, from typed values only, never from free text.

The result keeps Chroma's rules: one operator per clause, at least two clauses in ``$and`` and ``$or``, no empty list,
and every value under an explicit operator, so that no value can be taken for an operator.
"""

from __future__ import annotations

from datetime import timezone
from typing import Any

from ...domain.event import Event
from ...domain.reading import ReadFilter

SCHEMA_VERSION = "final_v1"
Where = dict[str, Any]
Metadata = dict[str, str | float | bool | list[str]]


def chroma_filter(read_filter: ReadFilter) -> Where:
    """Compile a read filter into a filter over :func:`event_metadata` that matches exactly the admitted events.

    Retired events are not in the index, so no clause excludes them.
    """
    scene = read_filter.scene
    clauses = [_is("agent", scene.agent)]
    if scene.kind == "group":
        clauses += [_is("request_type", "group"), _is("group_id", scene.group_id)]
    elif scene.kind != "operator":
        this_chat = {"$and": [_is("request_type", "private"), _is("user_id", scene.user_id)]}
        alone: Where = {"others_words": {"$ne": True}}  # matches rows without the key, too
        own_words = {"$and": [_is("request_type", "group"), _is("sender_id", scene.user_id), alone]}
        clauses.append({"$or": [this_chat, own_words]})
    if person := str(read_filter.user_id):
        clauses.append({"$or": [_is("sender_id", person), _is("user_id", person), {"subjects": {"$contains": person}}]})
    if read_filter.group_id:
        clauses.append(_is("group_id", read_filter.group_id))
    if read_filter.kinds:
        clauses.append({"kind": {"$in": [str(kind) for kind in read_filter.kinds]}})
    if window := read_filter.window:
        clauses.append({"timestamp_epoch": {"$gte": window.start.timestamp()}})
        clauses.append({"timestamp_epoch": {"$lt": window.stop.timestamp()}})
    if people := sorted(map(str, read_filter.without)):
        clauses.append({"sender_id": {"$nin": people}})
        clauses += [{"subjects": {"$not_contains": person}} for person in people]
    return clauses[0] if len(clauses) == 1 else {"$and": clauses}


def event_metadata(event: Event) -> Metadata:
    """Return an event's metadata: the ten fields of older versions, and kind, agent, subjects, others_words."""
    metadata: Metadata = {
        "user_id": event.user_id,
        "group_id": event.group_id,
        "sender_id": event.sender_id,
        "timestamp_utc": event.happened_at.astimezone(timezone.utc).isoformat(),
        "timestamp_local": event.happened_at.isoformat(),
        "timestamp_epoch": event.happened_at.timestamp(),
        "request_type": event.request_type,
        "perspective": event.perspective or "",
        "is_absolute": event.is_absolute,
        "schema_version": SCHEMA_VERSION,
        "kind": event.kind,
        "agent": event.agent,
    }
    if not event.is_own_words:
        metadata["others_words"] = True
    return {**metadata, "subjects": list(event.subjects)} if event.subjects else metadata


def _is(key: str, value: str) -> Where:
    return {key: {"$eq": str(value)}}
