"""A vector store over Chroma's process: rows in, ids out; the ledger is the truth."""

from __future__ import annotations

import asyncio
from array import array
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timezone
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ... import sentences
from ...domain.event import Event
from ...domain.reading import ReadFilter
from ...models.breaker import Breaker
from ...ports import EmbeddedEvent, Generation, Vector
from ...settings.schema import VectorStoreSettings
from .location import TENANT, IndexLocation
from .process import Bounds, ChromaProcess, ProcessDied

OVERDUE = 10.0  # seconds after which a request without an answer is told of
MOST_HITS = 10_000
LONGEST_TEXT = 20_000  # the text beside a vector serves only people who inspect the store with other programs
_UNSET = {"subjects": None, "others_words": None}  # an upsert keeps keys that it is not given


class ChromaStore:
    """A vector store in ``folder`` or on the configured server, which keeps vectors in generations.

    One is in use while the next may be built. Chroma's process starts with the first call, except :meth:`nearest`,
    :meth:`is_there` and :meth:`sleep`; a generation must be opened or begun in the process that is asked about it.
    Every method raises UnavailableError when the store is unreachable, exceeds its deadline or refuses, Lost if the
    generation is not open; a write may still have been applied, and repeating it is harmless.
    """

    def __init__(
        self,
        folder: Path,
        settings: VectorStoreSettings,
        bounds: Bounds | None = None,
        breaker: Breaker | None = None,
    ) -> None:
        """Initialise without touching the disk; with a ``breaker`` every request goes through it."""
        self._location, self._bounds, self._breaker = IndexLocation.of(folder, settings), bounds or Bounds(), breaker
        self._process = ChromaProcess(self._location, self._bounds)
        self.sleep, self.close = self._process.sleep, self._process.close

    async def open(self) -> Generation | None:
        """Load the generation (one complete build of the index) in use; None if there is none that can be used.

        It cannot be used if it is damaged, if another version wrote it, or if the process dies while loading it; the
        caller then builds a new one. Raises UnavailableError if the store cannot be reached.
        """
        try:
            found = await self._asked("open", limit=self._bounds.opening)
        except ProcessDied as died:
            if died.is_hung:  # this may be another process's lock
                raise
            return None
        return found and Generation(**found)

    async def begin(self, fingerprint: str, dimensions: int) -> Generation:
        """Create an empty generation, which is not in use yet; raises UnavailableError if the store refuses it.

        ``fingerprint`` names the embedding model of its vectors, ``dimensions`` their length.
        """
        await self._sweep()
        return Generation(**await self._asked("begin", fingerprint=fingerprint, dimensions=dimensions))

    async def put_in_use(self, generation: Generation) -> None:
        """Search in this generation from now on, and delete all others."""
        await self._asked("put_in_use", build_id=generation.build_id)
        await self._sweep()

    async def upsert(self, generation: Generation, rows: Sequence[EmbeddedEvent]) -> None:
        """Write the vectors of active events; writing a row again replaces it."""
        if rows:
            await self._asked(
                "upsert",
                build_id=generation.build_id,
                ids=[row.event.id for row in rows],
                texts=[row.event.text[:LONGEST_TEXT] for row in rows],
                metadata=[{**_UNSET, **event_metadata(row.event)} for row in rows],
                vectors=_packed(row.vector for row in rows),
            )

    async def remove(self, generation: Generation, event_ids: Sequence[str]) -> None:
        """Remove rows."""
        if event_ids:
            await self._asked("remove", build_id=generation.build_id, ids=event_ids)

    async def listed(self, generation: Generation) -> frozenset[str]:
        """Return the ids of all rows."""
        return frozenset(await self._asked("listed", build_id=generation.build_id))

    async def nearest(
        self, generation: Generation, vector: Vector, read_filter: ReadFilter, limit: int
    ) -> list[tuple[str, float]]:
        """Return the ids of the rows nearest to ``vector`` that ``read_filter`` admits, with cosines, best first.

        Raises UnavailableError, at once while a long request is running.
        """
        where, most, build_id = chroma_filter(read_filter), min(limit, MOST_HITS), generation.build_id
        asked = {"build_id": build_id, "where": where, "limit": most, "vector": _packed([vector])}
        found = await self._through(self._process.search, "nearest", **asked)
        return [(row, max(-1.0, min(1.0, 1.0 - distance))) for row, distance in found]

    async def is_there(self) -> bool:
        """Return whether the generation in use exists on disk; for a server, whether one there is recorded."""
        return await asyncio.to_thread(self._location.seems_in_use)

    async def _asked(self, name: str, **arguments: Any) -> Any:
        return await self._through(self._process.write, name, **arguments)

    async def _through(self, way: Callable[..., Awaitable[Any]], name: str, **arguments: Any) -> Any:
        act = partial(way, name, **arguments)
        return await (self._breaker.call(act, overdue=OVERDUE) if self._breaker else act())

    async def _sweep(self) -> None:
        """Delete all generations that are not in use."""
        while not await self._asked("sweep"):
            pass


def server_refusal(settings: VectorStoreSettings, seconds: float) -> str:
    """Ask the server, if one is set, for its tenant; return why it cannot be used, "" if it can.

    Blocks for up to a few ``seconds``.
    """
    if settings.backend != "chroma" or not settings.url:
        return ""
    import httpx  # noqa: PLC0415  # only a server is asked so

    location = IndexLocation.of(Path(), settings)
    tenant = f"{location.address}/api/v2/tenants/{quote(location.tenant or TENANT)}"
    try:
        status = httpx.get(tenant, headers=location.headers, timeout=seconds).status_code
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return sentences.storage_errors.VECTOR_SERVER_AWAY
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return sentences.storage_errors.VECTOR_SERVER_REFUSES
    if status >= HTTPStatus.BAD_REQUEST and status != HTTPStatus.NOT_FOUND:  # a missing tenant is created
        return sentences.storage_errors.VECTOR_STORE_REFUSED.format(reason=f"HTTP {status}")
    return ""


def _packed(vectors: Iterable[Vector | None]) -> str:
    """Return vectors in single precision, one after the other, in base64."""
    return b64encode(b"".join(array("f", vector or ()).tobytes() for vector in vectors)).decode()


SCHEMA_VERSION = "final_v1"
Where = Mapping[str, Any]
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
