"""The generations of a store and what is asked of them. Used in Chroma's own process only.

A server's database belongs to one bot, but bots may share one by mistake: every collection carries the ``owner`` and
``home`` of the bot that made it. The owner is a random id, made once and kept in Chroma's local folder; it alone
decides. The home is a digest of that folder's location: host, path and inode of the parent directory, which differs for
the same path in another container. It is used only if the id is lost, for example because the folder was deleted: the
owner of collections made from this location is then taken as our id. A bot that lost its id and also moved does not own
its old collections. A copy of a whole data directory includes the id and needs its own database too.
"""

from __future__ import annotations

import errno
import hashlib
import platform
import re
import secrets
import shutil
from base64 import b64decode
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import chromadb
import httpx
import numpy as np
from chromadb.api.client import AdminClient, Client
from chromadb.config import Settings
from chromadb.errors import AuthorizationError, ChromaAuthError, NotFoundError, RateLimitError
from numpy.typing import NDArray

from ...disk import Disk, identity
from ...ports import Generation
from .location import DATABASE, PORT, SERVER_DATABASE, TENANT, IndexLocation, Refusal, folders_of_generations
from .store import SCHEMA_VERSION, Metadata, Where

VERSION: str = chromadb.__version__
EVENTS = "cognitive_events"
COLLECTIONS = (EVENTS, "cognitive_profiles", "group_memories")
OWNER = "owner"
ROWS_OF_A_DELETE, DELETES_AT_ONCE = 300, 10
PROBED, TOGETHER = 16, 32  # number of probed offsets, and rows probed at each, when a generation is opened
CLOSE = 1e-3  # distance below which a row counts as found by its own vector
PAGE = 10_000
SPARE = 24  # extra nearest rows fetched when the filter is applied afterwards
_COLLECTION = re.compile(rf"(?:{'|'.join(COLLECTIONS)})-([0-9]{{4,9}})")
_OWNER_ID = re.compile(r"[0-9a-f]{32}")
_HNSW = {"space": "cosine", "ef_search": 1000}  # ten times the default: a search costs more, a write does not
_MADE_BY = "chroma.version"
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
_UNAVAILABLE = (MemoryError, httpx.HTTPError, ChromaAuthError, AuthorizationError, RateLimitError, Refusal)
_FOREIGN_PAGE = 1_000  # rows of another program in an answer
Creation = dict[str, str | int]  # the metadata of a generation's collections


class Folders:
    """Stores each generation in a folder of its own; one is open at a time."""

    def __init__(self, root: Path) -> None:
        """Store generations below ``root``; nothing is opened yet."""
        self._root, self._client = root, None
        self._file: tuple[int, int] | None = None  # which the client has open

    def numbers(self) -> set[int]:
        """Return the numbers of the stored generations, complete or not."""
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)  # the folder may have been removed
        return set(folders_of_generations(self._root))

    def create(self, number: int, creation: Creation) -> Any:
        """Create the collections of a new generation; return the one for events."""
        self._folder(number).mkdir(mode=0o700)
        (self._folder(number) / _MADE_BY).write_text(VERSION, encoding="ascii")
        return _created(self._opened(number), "", creation)

    def open(self, number: int) -> Any:
        """Return a generation's events; None if another version of Chroma made them, because opening changes them."""
        made_by = self._folder(number) / _MADE_BY
        if not made_by.is_file() or made_by.read_bytes()[:64] != VERSION.encode():
            return None
        return _found(self._opened(number), EVENTS)

    def is_there(self, number: int) -> bool:
        """Return whether the folder still holds the database file that was opened, by device and inode."""
        return self._file == identity(self._folder(number) / DATABASE)

    def close(self) -> None:
        """Close the files of the open generation."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def remove(self, number: int) -> bool:
        """Delete the folder as far as the system allows, and return True; the rest is deleted with the next sweep."""
        shutil.rmtree(self._folder(number), ignore_errors=True)
        return True

    def _opened(self, number: int) -> Any:
        self._client: Any = chromadb.PersistentClient(str(self._folder(number)), Settings(anonymized_telemetry=False))
        self._file = identity(self._folder(number) / DATABASE)
        return self._client

    def _folder(self, number: int) -> Path:
        return self._root / f"{number:04d}"


class Server:
    """Stores generations in one database of a server; the names of their collections end in their numbers."""

    def __init__(self, location: IndexLocation) -> None:
        """Connect; create the tenant and the database if they are missing."""
        self._client, self._database = _connected(location), location.database or SERVER_DATABASE
        folder = Path(location.folder)
        whose = (platform.node(), str(folder.absolute()), str(folder.absolute().parent.stat().st_ino))
        self._home = hashlib.sha256("\0".join(whose).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self._owner = owner_of(folder, self._home, [creation for _, creation in self._stored()])

    def numbers(self) -> set[int]:
        """Return the numbers of the stored generations; refuses a database with collections of another bot."""
        stored = self._stored()
        for _, creation in stored:
            self._check(creation)
        return {number for number, _ in stored}

    def create(self, number: int, creation: Creation) -> Any:
        """Create the collections of a new generation; return the one for events."""
        return _created(self._client, f"-{number:04d}", {**creation, "owner": self._owner, "home": self._home})

    def open(self, number: int) -> Any:
        """Return a generation's events, None if they are missing."""
        return self._own(f"{EVENTS}-{number:04d}")

    def is_there(self, number: int) -> bool:
        """Return True for every opened generation: the server itself refuses requests to a collection that is gone."""
        return number > 0

    def close(self) -> None:
        """Do nothing: all generations share the connection."""

    def remove(self, number: int) -> bool:
        """Delete rows of a generation, and each collection that is empty; return whether all are deleted."""
        for name in (f"{collection}-{number:04d}" for collection in COLLECTIONS):
            if (collection := self._own(name)) is not None:
                for _ in range(DELETES_AT_ONCE):
                    if not (ids := collection.get(limit=ROWS_OF_A_DELETE, include=[])["ids"]):
                        break
                    collection.delete(ids=ids)
                else:
                    return False
                self._client.delete_collection(name)
        return True

    def _own(self, name: str) -> Any:
        collection = _found(self._client, name)
        if collection is not None:
            self._check(collection.metadata)
        return collection

    def _check(self, creation: Mapping[str, object] | None) -> None:
        if creation is None or creation.get("owner") != self._owner:
            raise Refusal("foreign", self._database)

    def _stored(self) -> list[tuple[int, Mapping[str, object]]]:
        named = ((_COLLECTION.fullmatch(str(one.name)), one.metadata) for one in self._client.list_collections())
        return [(int(match[1]), creation or {}) for match, creation in named if match]


class Generations:
    """Carries out the bot's requests: each public method is one. Exceptions of Chroma are not caught here.

    One generation is open at a time: the last one that was opened or begun.
    """

    def __init__(self, location: IndexLocation) -> None:
        """Connect to the server, if one is configured; remove generations older than the one in use."""
        self._location = location
        self._stored = Server(location) if location.url else Folders(Path(location.folder))
        self._generation: Generation | None = None  # the open one, with its events
        self._events: Any = None
        for number in self._stored.numbers():
            if number < (location.number_in_use() or 0):  # could not be deleted while it was open
                self._stored.remove(number)

    def open(self) -> Generation | None:
        """Open the generation in use, anew if it is open; None if it is missing, damaged or of another version."""
        self._close()
        try:
            number = self._location.number_in_use()
            if number is not None and (events := self._stored.open(number)) is not None:
                self._generation, self._events = _examined(number, events), events
        except Exception as error:  # whatever the fault is, a new generation replaces this one
            self._close()
            if isinstance(error, _UNAVAILABLE) or getattr(error, "errno", None) in _EXHAUSTED:
                raise  # another generation would fail as well
        return self._generation

    def begin(self, fingerprint: str, dimensions: int) -> Generation:
        """Create the next generation, with a number above all earlier ones."""
        self._close()
        number = max(self._location.number_in_use() or 0, *self._stored.numbers(), 0) + 1
        generation = Generation(number, secrets.token_hex(16), fingerprint, dimensions)
        creation: Creation = {
            "birth": generation.build_id,
            "fingerprint": fingerprint,
            "dimensions": dimensions,
            "schema_version": SCHEMA_VERSION,
            "chroma_version": VERSION,
        }
        self._events = self._stored.create(number, creation)
        self._generation = generation
        return generation

    def put_in_use(self, build_id: str) -> None:
        """Make the generation the one in use."""
        self._location.put_in_use(self._opened(build_id)[0].number)

    def sweep(self) -> bool:
        """Remove generations that are not in use, large ones in parts; return True when all of them are removed."""
        others = sorted(self._stored.numbers() - {self._location.number_in_use()})
        if self._generation and self._generation.number in others:
            self._close()
        return all(self._stored.remove(number) for number in others)

    def upsert(
        self,
        build_id: str,
        ids: list[str],
        texts: list[str],
        metadata: list[Metadata],
        vectors: str,
    ) -> None:
        """Write rows; their vectors are in single precision, one after the other, in base64."""
        generation, events = self._opened(build_id)
        units = _units(vectors, generation.dimensions)
        events.upsert(ids=ids, documents=texts, metadatas=metadata, embeddings=units)

    def remove(self, build_id: str, ids: list[str]) -> None:
        """Remove rows."""
        self._opened(build_id)[1].delete(ids=ids)

    def listed(self, build_id: str) -> list[str]:
        """Return the ids of all rows."""
        (_, events), ids = self._opened(build_id), list[str]()
        while page := events.get(limit=PAGE, offset=len(ids), include=[])["ids"]:
            ids += page
        return ids

    def nearest(self, build_id: str, where: Where, limit: int, vector: str) -> list[tuple[str, float]]:
        """Return ids with their cosine distances, nearest first.

        If only the agent is asked for, search without the filter and filter the result, because Chroma evaluates a
        filter on every row, unless many of the nearest rows belong to another agent.
        """
        generation, events = self._opened(build_id)
        unit = _units(vector, generation.dimensions)
        if list(where) == ["agent"]:
            most = limit + SPARE
            found = events.query(query_embeddings=unit, n_results=most, include=["distances", "metadatas"])
            rows = zip(found["ids"][0], found["distances"][0], found["metadatas"][0], strict=True)
            kept = [(row, float(far)) for row, far, creation in rows if creation.get("agent") == where["agent"]["$eq"]]
            if len(kept) >= limit or len(found["ids"][0]) < most:
                return kept[:limit]
        found = events.query(query_embeddings=unit, n_results=limit, where=where, include=["distances"])
        return [(row, float(far)) for row, far in zip(found["ids"][0], found["distances"][0], strict=True)]

    def foreign(self, name: str, offset: int) -> list[tuple[str, Metadata]]:
        """Return a page of a collection of another program that stored in this folder: texts with their metadata."""
        client: Any = chromadb.PersistentClient(self._location.folder, Settings(anonymized_telemetry=False))
        if (collection := _found(client, name)) is None:
            return []
        page = collection.get(limit=_FOREIGN_PAGE, offset=offset, include=["documents", "metadatas"])
        return list(zip(page["documents"] or [], page["metadatas"] or [], strict=True))

    def _opened(self, build_id: str) -> tuple[Generation, Any]:
        """Return a generation with its events; refuses one that is not open here, was removed, or was replaced."""
        generation = self._generation
        if generation is None or generation.build_id != build_id or not self._stored.is_there(generation.number):
            raise Refusal("gone")
        return generation, self._events

    def _close(self) -> None:
        self._generation = self._events = None
        self._stored.close()


def owner_of(folder: Path, home: str, created: Iterable[Mapping[str, object]]) -> str:
    """Return the id by which our collections on a shared server are told from others', and keep it in the folder.

    It is read from the folder; else taken from one of the ``created`` collections that was made in ``home``; else new.
    """
    try:
        with (folder / OWNER).open("rb") as file:
            kept = file.read(64).decode("ascii").strip()
    except (OSError, ValueError):
        kept = ""
    if _OWNER_ID.fullmatch(kept):
        return kept
    lost = sorted(str(creation.get("owner")) for creation in created if creation.get("home") == home)
    owner = next(filter(_OWNER_ID.fullmatch, lost), "") or secrets.token_hex(16)
    Disk().rewrite(folder / OWNER, f"{owner}\n".encode())
    return owner


def _connected(location: IndexLocation) -> Any:
    settings = Settings(anonymized_telemetry=False)
    settings.chroma_api_impl = "chromadb.api.fastapi.FastAPI"
    settings.chroma_server_host = location.address
    settings.chroma_server_http_port = PORT  # Chroma asks for one, and then reads the address
    settings.chroma_server_headers = location.headers
    admin, tenant, database = AdminClient(settings), location.tenant or TENANT, location.database or SERVER_DATABASE
    try:
        admin.get_tenant(tenant)
    except NotFoundError:
        admin.create_tenant(tenant)
    try:
        admin.get_database(database, tenant)
    except NotFoundError:
        admin.create_database(database, tenant)
    return Client(tenant, database, settings)


def _created(client: Any, suffix: str, creation: Creation) -> Any:
    how: dict[str, object] = {"embedding_function": None, "configuration": {"hnsw": dict(_HNSW)}, "metadata": creation}
    events, *_ = [client.create_collection(name + suffix, **how) for name in COLLECTIONS]
    return events


def _found(client: Any, name: str) -> Any:
    try:
        return client.get_collection(name, embedding_function=None)
    except NotFoundError:
        return None


def _units(vectors: str, dimensions: int) -> NDArray[np.float32]:
    numbers = np.frombuffer(b64decode(vectors), np.float32).astype(np.float64)
    rows: NDArray[np.float64] = np.reshape(numbers, (-1, dimensions))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def _examined(number: int, events: Any) -> Generation | None:
    """Load the index and search for rows at evenly spread offsets by their own vectors; None if one is not found."""
    creation: Mapping[str, Any] = events.metadata or {}
    if (creation["schema_version"], creation["chroma_version"]) != (SCHEMA_VERSION, VERSION):
        return None
    dimensions, count = int(creation["dimensions"]), events.count()
    last = max(count - TOGETHER, 0)
    for offset in sorted({last * part // PROBED for part in range(PROBED + 1)}) if count else ():
        rows = events.get(limit=TOGETHER, offset=offset, include=["embeddings"])["embeddings"]
        if rows.shape != (min(TOGETHER, count), dimensions):
            return None
        found = events.query(query_embeddings=rows, n_results=1, include=["distances"])["distances"]
        if not all(row and abs(row[0]) <= CLOSE for row in found):  # NaN is not close either
            return None
    return Generation(number, str(creation["birth"]), str(creation["fingerprint"]), dimensions)
