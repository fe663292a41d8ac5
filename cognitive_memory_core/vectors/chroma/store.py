"""A vector store over the Chroma process: rows in, ids out; the ledger remains the source of truth."""

from __future__ import annotations

import asyncio
import math
from array import array
from collections import Counter
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, urlsplit

from ... import sentences
from ...domain.read_filter import ReadFilter
from ...errors import BadArgument, Busy, UnavailableError
from ...ports.models import Vector
from ...ports.vectors import EmbeddedEvent, Generation
from ...settings import VectorStoreSettings
from ...tasks import seen
from . import protocol
from .generation_in_use import digest_of
from .generations_on_disk import seems_in_use
from .read_filter_where import chroma_filter, event_metadata
from .supervisor import Bounds, ProcessDied, Supervisor, why_failed

A = TypeVar("A", bound=protocol.Answer)
T = TypeVar("T")
ROWS_AT_ONCE = 300
MOST_HITS = 10_000
LONGEST_TEXT = 20_000  # the text beside a vector serves only people who inspect the store with other programs
_MAX_CRASHES_OPENING = 2  # crashes of the process in a row while opening, after which a generation counts as damaged
_MAX_CRASHES_USING = 3


@dataclass(frozen=True)
class _StoreRow:
    id: str
    text: str
    metadata: protocol.RowMetadata
    vector: bytes


class ChromaStore:
    """A vector store in ``folder`` or on the configured server; Chroma's process starts with the first call."""

    def __init__(self, folder: Path, settings: VectorStoreSettings, bounds: Bounds | None = None) -> None:
        """Initialise without touching the disk."""
        self._folder = folder
        self._server = digest_of(settings.url, settings.tenant, settings.database)
        self._bounds = bounds or Bounds()
        self._supervisor = Supervisor(_start(folder, settings, self._bounds), self._bounds)
        self._open: dict[int, tuple[int, str]] = {}
        self._opening: dict[int, asyncio.Task[Generation | None]] = {}
        self._refusal = ""
        self._crashes: Counter[tuple[int, type[protocol.Request]]] = Counter()

    @property
    def state(self) -> str:
        """Return the state: "off", "ready", or "failed: " with the reason."""
        return self._supervisor.state

    @property
    def last_error(self) -> str:
        """Return the last error; "" while there is none."""
        return self._supervisor.last_error or self._refusal

    @property
    def pid(self) -> int | None:
        """Return the process id of Chroma; None if it is not running."""
        return self._supervisor.pid

    async def open(self) -> Generation | None:
        """Load the generation (one complete build of the index) in use; None if there is none.

        None also if it is damaged or of another version: the caller builds a new one. Raises UnavailableError if the
        store cannot be reached.
        """
        number = _expected(protocol.InUse, await self._supervisor.write(protocol.FindInUse())).number
        return None if number is None else await self._opened(number)

    async def begin(self, fingerprint: str, dimensions: int) -> Generation:
        """Create an empty generation, which is not in use yet; raises UnavailableError if the store refuses it.

        ``fingerprint`` names the embedding model of its vectors, ``dimensions`` their length.
        """
        await self._swept()
        opened = _expected(protocol.Opened, await self._asked(protocol.Begin(fingerprint, dimensions)))
        if opened.generation is None:
            raise UnavailableError(sentences.storage_errors.VECTOR_STORE_REFUSED.format(reason=opened.reason))
        self._crashes = Counter({at: times for at, times in self._crashes.items() if at[0] != opened.generation.number})
        self._note(opened.generation)
        return opened.generation

    async def put_in_use(self, generation: Generation) -> None:
        """Search in this generation from now on, and delete all others."""
        await self._written(generation, protocol.PutInUse(generation))
        self._open = {number: build_id for number, build_id in self._open.items() if number == generation.number}
        await self._swept()

    async def upsert(self, generation: Generation, rows: Sequence[EmbeddedEvent]) -> None:
        """Write the vectors of events in batches, and remove those of forgotten or replaced (retired) events.

        All rows are validated before any is written; writing a row again replaces it.
        """
        checked, retired = await asyncio.to_thread(_checked, generation, rows)
        for batch in _batches(checked, ROWS_AT_ONCE):
            await self._written(generation, _upsert(generation, batch))
        await self.remove(generation, retired)

    async def remove(self, generation: Generation, event_ids: Sequence[str]) -> None:
        """Remove rows."""
        for ids in _batches(list(dict.fromkeys(event_ids)), ROWS_AT_ONCE):
            await self._written(generation, protocol.Remove(generation, list(ids)))

    async def listed(self, generation: Generation) -> frozenset[str]:
        """Return the ids of all rows."""
        return frozenset(_expected(protocol.Listed, await self._written(generation, protocol.Listing(generation))).ids)

    async def nearest(
        self, generation: Generation, vector: Vector, read_filter: ReadFilter, limit: int
    ) -> list[tuple[str, float]]:
        """Return the ids of the rows nearest to ``vector`` that ``read_filter`` admits, with cosines, best first.

        Raises UnavailableError, at once while a long request is running.
        """
        block = _float32_bytes(vector, generation, "query")
        if limit <= 0:
            return []
        request = protocol.Nearest(generation, chroma_filter(read_filter), min(limit, MOST_HITS), block)
        await self._ensure_open(generation)
        answer = await self._noted(generation, request, self._supervisor.search(request))
        found = _expected(protocol.NearestIds, answer)
        return [(row, _cosine(distance)) for row, distance in zip(found.ids, found.distances, strict=True)]

    async def is_there(self) -> bool:
        """Return whether the generation in use exists on disk; for a server, whether the pointer names one there."""
        return await asyncio.to_thread(seems_in_use, self._folder, server=self._server)

    async def sleep(self) -> None:
        """End Chroma's process; the next request starts it again."""
        await self._supervisor.sleep()

    async def close(self) -> None:
        """End Chroma's process; waiting and later requests are refused."""
        await self._supervisor.close()
        while self._opening:  # these may have waiters; they end once the process is gone
            await asyncio.wait(set(self._opening.values()))

    async def _swept(self) -> None:
        while not _expected(protocol.Swept, await self._asked(protocol.Sweep())).is_clean:
            pass

    async def _asked(self, request: protocol.Request) -> protocol.Answer:
        answer = await self._supervisor.write(request)
        if isinstance(answer, protocol.Failed):
            self._refusal = _why_not(answer)
        return answer

    async def _written(self, generation: Generation, request: protocol.Request) -> protocol.Answer:
        answer: protocol.Answer = protocol.Failed("gone")
        for _ in range(2):  # a process restarted meanwhile has nothing open
            if not self._is_open(generation) and await self._opened(generation.number) != generation:
                break
            answer = await self._noted(generation, request, self._supervisor.write(request))
            if answer != protocol.Failed("gone"):
                break
        return _raised_if_refused(answer)

    async def _noted(
        self, generation: Generation, request: protocol.Request, asked: Awaitable[protocol.Answer]
    ) -> protocol.Answer:
        at = (generation.number, type(request))
        try:
            answer = await asked
        except ProcessDied as died:
            self._crashes[at] += not died.is_hung  # a hang may be another process's lock and is no sign of damage
            raise
        self._crashes.pop(at, None)
        self._refusal = _why_not(answer) if isinstance(answer, protocol.Failed) else ""
        if answer == protocol.Failed("gone"):
            self._open.pop(generation.number, None)
        if not self._supervisor.is_running:  # the process was ended because its memory had grown
            self._reopen()
        return answer

    async def _ensure_open(self, generation: Generation) -> None:
        if self._is_open(generation):
            return
        opening = self._opening_of(generation.number)
        await asyncio.wait({opening}, timeout=self._supervisor.queueing_left())
        if not opening.done():
            raise Busy(sentences.storage_errors.VECTOR_STORE_BUSY)
        if opening.result() != generation:
            raise UnavailableError(sentences.storage_errors.GENERATION_GONE)

    def _is_open(self, generation: Generation) -> bool:
        here = (self._supervisor.incarnation, generation.build_id)
        return self._supervisor.is_running and self._open.get(generation.number) == here

    def _reopen(self) -> None:
        for number in self._open:
            self._opening_of(number)

    async def _opened(self, number: int) -> Generation | None:
        return await asyncio.shield(self._opening_of(number))

    def _opening_of(self, number: int) -> asyncio.Task[Generation | None]:
        task = self._opening.get(number)
        if task is None:
            task = self._opening[number] = asyncio.ensure_future(self._tried(number))
            task.add_done_callback(lambda over: self._is_over(number, over))
        return task

    def _is_over(self, number: int, task: asyncio.Task[Generation | None]) -> None:
        self._opening.pop(number, None)
        seen(task)  # its caller may be gone

    async def _tried(self, number: int) -> Generation | None:
        while not self._counts_as_damaged(number):
            try:
                opened = _expected(
                    protocol.Opened, await self._supervisor.write(protocol.Open(number), self._bounds.opening)
                )
            except ProcessDied as died:
                self._crashes[number, protocol.Open] += 1
                if died.is_hung:
                    raise
                continue
            self._crashes.pop((number, protocol.Open), None)
            self._open.pop(number, None)
            self._refusal = (
                sentences.storage_errors.VECTOR_STORE_REFUSED.format(reason=opened.reason) if opened.reason else ""
            )
            return self._note(opened.generation)
        self._supervisor.reset_restart_pause()
        return None

    def _counts_as_damaged(self, number: int) -> bool:
        uses = (times for (one, kind), times in self._crashes.items() if one == number and kind is not protocol.Open)
        return self._crashes[number, protocol.Open] >= _MAX_CRASHES_OPENING or any(
            times >= _MAX_CRASHES_USING for times in uses
        )

    def _note(self, generation: Generation | None) -> Generation | None:
        if generation is not None:
            self._open[generation.number] = (self._supervisor.incarnation, generation.build_id)
            self._supervisor.record_normal_memory()
        return generation


def server_refusal(settings: VectorStoreSettings, seconds: float) -> str:
    """Ask the server, if one is set, for its tenant; return why it cannot be used, "" if it can.

    Blocks for up to a few ``seconds``.
    """
    if settings.backend != "chroma" or not settings.url:
        return ""
    start = _start(Path(), settings, Bounds())
    try:
        parts = urlsplit(start.address)
        connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = connect(parts.hostname or "", parts.port, timeout=seconds)
        try:
            connection.request("GET", f"{parts.path}/api/v2/tenants/{quote(start.tenant_name)}", headers=start.headers)
            status = connection.getresponse().status
        finally:
            connection.close()
    except (OSError, ValueError, HTTPException):
        return sentences.storage_errors.VECTOR_SERVER_AWAY
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return sentences.storage_errors.VECTOR_SERVER_REFUSES
    if status >= HTTPStatus.BAD_REQUEST and status != HTTPStatus.NOT_FOUND:  # a missing tenant is created
        return sentences.storage_errors.VECTOR_STORE_REFUSED.format(reason=f"HTTP {status}")
    return ""


def _start(folder: Path, settings: VectorStoreSettings, bounds: Bounds) -> protocol.Start:
    return protocol.Start(
        str(folder.absolute()),
        settings.url,
        settings.tenant,
        settings.database,
        settings.token.get_secret_value(),
        bounds.locking,
    )


def _raised_if_refused(answer: protocol.Answer) -> protocol.Answer:
    """Return the answer; raises UnavailableError for a refusal. All refusals are translated here."""
    if isinstance(answer, protocol.Failed):
        raise UnavailableError(_why_not(answer))
    return answer


def _why_not(refused: protocol.Failed) -> str:
    if refused.why == "gone":
        return sentences.storage_errors.GENERATION_GONE
    if refused.why == "foreign":
        return sentences.storage_errors.VECTOR_STORE_FOREIGN.format(database=refused.reason)
    return why_failed(refused.reason)


def _expected(kind: type[A], answer: protocol.Answer) -> A:
    granted = _raised_if_refused(answer)
    if not isinstance(granted, kind):
        raise UnavailableError(sentences.storage_errors.VECTOR_STORE_REFUSED.format(reason=type(granted).__name__))
    return granted


def _checked(generation: Generation, rows: Sequence[EmbeddedEvent]) -> tuple[list[_StoreRow], list[str]]:
    """Return the rows to write and the ids to remove; if an id occurs twice, its last row counts."""
    last = {row.event.id: (row, _float32_bytes(row.vector, generation, row.event.id)) for row in rows}
    retired = [event_id for event_id, (row, _) in last.items() if row.event.retired_at is not None]
    standing = [_row(row, vector) for row, vector in last.values() if row.event.retired_at is None]
    return standing, retired


def _row(row: EmbeddedEvent, vector: bytes) -> _StoreRow:
    metadata: protocol.RowMetadata = {
        "subjects": None,
        **event_metadata(row.event),
    }  # None, because an upsert keeps keys that it is not given
    return _StoreRow(row.event.id, row.event.text[:LONGEST_TEXT], metadata, vector)


def _float32_bytes(vector: Vector | None, generation: Generation, whose: str) -> bytes:
    """Return a vector's bytes in single precision; raises BadArgument for a zero, infinite or wrong-length vector."""
    single = array("f", vector or ())
    length = math.hypot(*single)  # not finite if any number is not
    if len(single) != generation.dimensions or not math.isfinite(length) or not length:
        raise BadArgument(
            sentences.caller.bad_value(
                "vector", whose, sentences.storage_errors.VECTOR_OF_LENGTH.format(dimensions=generation.dimensions)
            )
        )
    return single.tobytes()


def _upsert(generation: Generation, rows: Sequence[_StoreRow]) -> protocol.Upsert:
    return protocol.Upsert(
        generation,
        [row.id for row in rows],
        [row.text for row in rows],
        [row.metadata for row in rows],
        b"".join(row.vector for row in rows),
    )


def _batches(rows: Sequence[T], size: int) -> Iterable[Sequence[T]]:
    return (rows[at : at + size] for at in range(0, len(rows), size))


def _cosine(distance: float) -> float:
    return max(-1.0, min(1.0, 1.0 - distance))
