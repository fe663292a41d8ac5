"""Builders and helpers for tests of the ledger."""

from __future__ import annotations

import shutil
import struct
from array import array
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cognitive_memory_core.domain.event import Event, Fact
from cognitive_memory_core.domain.notes import Memo, Pin
from cognitive_memory_core.domain.people import Alias
from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene, Scope
from cognitive_memory_core.ports import Clock, Vector
from cognitive_memory_core.store.archive import ArchiveRow
from cognitive_memory_core.store.ledger import Ledger
from cognitive_memory_core.store.search.corpora import Corpora

from .builders import GROUP, a_draft
from .clock import NOON

MODEL = "test-model/2"
_numbers = count(1)
_folder = TemporaryDirectory(prefix="ledgers")  # one for each process of a test run
_opened: list[Ledger] = []


def a_ledger(*, clock: Clock | None = None) -> Ledger:
    """Open an empty ledger, which :func:`close_ledgers` closes after the test; its writes are not synced."""
    template = Path(_folder.name) / "empty.db"
    if not template.exists():
        Ledger(template).database.close_now()
    path = template.with_name(f"ledger{next(_numbers)}.db")
    shutil.copyfile(template, path)
    ledger = Ledger(path, clock=clock)
    assert ledger.database._writer is not None
    ledger.database._writer.execute("PRAGMA synchronous = OFF")
    _opened.append(ledger)
    return ledger


def close_ledgers() -> None:
    """Close and delete what :func:`a_ledger` opened."""
    while _opened:
        ledger = _opened.pop()
        ledger.database.close_now()
        ledger.database.path.unlink()


async def name_person(ledger: Ledger, scope: Scope, user_id: str, name: str, at: datetime) -> None:
    """Record a person's name in a place."""
    await ledger.names.note_all([Alias(scope, user_id, name, at, at)])


def later(**period: float) -> datetime:
    """Return the time so long after noon."""
    return NOON + timedelta(**period)


def a_vector(*numbers: float) -> Vector:
    """Return a vector."""
    return array("f", numbers)


def a_memo(text: str = "查了天气", scene: Scene = GROUP, at: datetime = NOON, **fields: Any) -> Memo:
    """Return a memo of a scene."""
    return Memo(fields.pop("id", f"memo{next(_numbers)}"), scene.scope, text, at, **fields)


def a_pin(text: str = "群规：不剧透", scene: Scene = GROUP, at: datetime = NOON, **fields: Any) -> Pin:
    """Return a pin of a scene's group."""
    return Pin(fields.pop("id", f"pin{next(_numbers)}"), scene.scope, text, fields.pop("owner_id", ""), at, **fields)


def a_fact(event: Event, key: ProfileKey | None = None, **fields: Any) -> Fact:
    """Return what an event says about its sender, as a member of its group or the person of its private chat."""
    given = {"text": event.text, "kind": event.kind, "happened_at": event.happened_at, **fields}
    return Fact(key or own_key(event), event.id, **given)


def own_key(event: Event) -> ProfileKey:
    """Return the key of the sender's profile in the place of an event."""
    if event.request_type == "group":
        return ProfileKey.member(event.group_id, event.sender_id, event.agent)
    return ProfileKey.user(event.sender_id, event.agent)


def a_profile(key: ProfileKey, summary: str = "喜欢乌龙茶", **fields: Any) -> Profile:
    """Return a profile."""
    name, tags = fields.pop("name", ""), fields.pop("tags", ())
    return Profile(key, name, tags, summary, fields.pop("updated_at", NOON), **fields)


async def committed(ledger: Ledger, *events: Event) -> None:
    """Write events."""
    await ledger.events.commit(a_draft(*events))


async def embedded(ledger: Ledger, vectors: Iterable[tuple[Event, Vector]], model: str = MODEL) -> None:
    """Write events with their vectors."""
    pairs = list(vectors)
    await committed(ledger, *(event for event, _ in pairs))
    await ledger.vectors.store(model, [(event.id, event.text, vector) for event, vector in pairs])
    ledger.corpora.follow(model)


async def shown(ledger: Ledger, read_filter: ReadFilter | Scene, limit: int = 100) -> list[str]:
    """Return the texts that a read filter lists, newest first."""
    asked = ReadFilter(read_filter) if isinstance(read_filter, Scene) else read_filter
    return [event.text for event in await ledger.events.recent(asked, limit)]


async def archived(ledger: Ledger, **narrowing: Any) -> list[ArchiveRow]:
    """Return all rows of the archive."""
    return [row async for page in ledger.archive.pages(**narrowing) for row in page]


async def events_with(
    corpora: Corpora, terms: Sequence[str], read_filter: ReadFilter, limit: int
) -> list[tuple[Event, float]]:
    """Return events that contain one of the terms or more, with their score, best first."""
    return await corpora._database.read(corpora.found_events, terms, read_filter, limit)


async def events_near(
    corpora: Corpora, vector: Vector, read_filter: ReadFilter, limit: int
) -> list[tuple[Event, float]]:
    """Return events with their cosine, best first."""
    return await corpora._database.read(corpora.found_nearest, vector, read_filter, limit)


def leave_copy(path: Path, text: str) -> None:
    """Write into unused space of a closed database's first page, as SQLite leaves copies of rows that it moved."""
    data, copy = bytearray(path.read_bytes()), text.encode()
    cells, content = struct.unpack(">HH", data[103:107])
    begin = 112 + 2 * cells  # behind the header of the file, that of the page, and the places of its rows
    assert begin + len(copy) <= content
    data[begin : begin + len(copy)] = copy
    path.write_bytes(data)
