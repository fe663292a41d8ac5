"""Compiles a read filter into a Chroma ``where``, from typed values only, never from free text.

The result keeps Chroma's rules: one operator per clause, at least two clauses in ``$and`` and ``$or``, no empty list,
and every value under an explicit operator, so that no value can be taken for an operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timezone
from typing import Any

from ...domain.event import Event
from ...domain.interval import Interval
from ...domain.read_filter import ReadFilter
from ...domain.scope import Scene

SCHEMA_VERSION = "final_v1"
Where = dict[str, Any]
Metadata = dict[str, str | float | bool | list[str]]


def chroma_filter(read_filter: ReadFilter) -> Where:
    """Compile a read filter into a filter over :func:`event_metadata` that matches exactly the admitted events.

    Retired events are not in the index, so no clause excludes them.
    """
    return _all([*_of_scene(read_filter.scene), *_narrowing(read_filter), *_without_people(read_filter.without)])


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


def _of_scene(scene: Scene) -> list[Where]:
    agent = _is("agent", scene.agent)
    if scene.kind == "operator":
        return [agent]
    if scene.kind == "group":
        return [agent, _is("request_type", "group"), _is("group_id", scene.group_id)]
    this_chat = _all([_is("request_type", "private"), _is("user_id", scene.user_id)])
    alone: Where = {"others_words": {"$ne": True}}  # matches rows without the key, too
    own_words = _all([_is("request_type", "group"), _is("sender_id", scene.user_id), alone])
    return [agent, _any([this_chat, own_words])]


def _narrowing(read_filter: ReadFilter) -> Iterable[Where]:
    if read_filter.user_id:
        person = read_filter.user_id
        yield _any([_is("sender_id", person), _is("user_id", person), _holds("subjects", person)])
    if read_filter.group_id:
        yield _is("group_id", read_filter.group_id)
    if read_filter.kinds:
        yield {"kind": {"$in": [str(kind) for kind in read_filter.kinds]}}
    if read_filter.window is not None:
        yield from _within(read_filter.window)


def _without_people(people: frozenset[str]) -> Iterable[Where]:
    if people:
        yield {"sender_id": {"$nin": [str(person) for person in sorted(people)]}}
    for person in sorted(people):
        yield {"subjects": {"$not_contains": str(person)}}


def _within(window: Interval) -> Iterable[Where]:
    yield {"timestamp_epoch": {"$gte": window.start.timestamp()}}
    yield {"timestamp_epoch": {"$lt": window.stop.timestamp()}}


def _is(key: str, value: str) -> Where:
    return {key: {"$eq": str(value)}}


def _holds(key: str, value: str) -> Where:
    return {key: {"$contains": str(value)}}


def _all(clauses: Sequence[Where]) -> Where:
    return clauses[0] if len(clauses) == 1 else {"$and": list(clauses)}


def _any(clauses: Sequence[Where]) -> Where:
    return {"$or": list(clauses)}
