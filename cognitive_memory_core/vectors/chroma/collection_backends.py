"""Storage of generations: local folders or collections of a server. Used in Chroma's own process only."""

from __future__ import annotations

import errno
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import chromadb
import httpx
from chromadb.api.client import AdminClient, Client
from chromadb.config import Settings
from chromadb.errors import AuthorizationError, ChromaAuthError, NotFoundError, RateLimitError

from .collection_owner import Foreign, Owner
from .protocol import PORT, Start

VERSION: str = chromadb.__version__
EVENTS = "cognitive_events"
COLLECTIONS = (EVENTS, "cognitive_profiles", "group_memories")
DELETED_AT_ONCE = 3_000
ROWS_OF_A_DELETE = 300
_FOLDER = re.compile(r"[0-9]{4,9}")
_COLLECTION = re.compile(rf"(?:{'|'.join(COLLECTIONS)})-([0-9]{{4,9}})")
_HNSW = {"space": "cosine", "ef_search": 1000}  # ten times the default: a search costs more, a write does not
_MADE_BY = "chroma.version"
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


class Collection(Protocol):
    """The methods of Chroma's collections that are called here, fully annotated; Chroma's own are not."""

    @property
    def metadata(self) -> dict[str, Any] | None:
        """Return the metadata given at creation."""
        ...

    @property
    def configuration(self) -> dict[str, Any]:
        """Return the index configuration."""
        ...

    def count(self) -> int:
        """Return the number of rows."""
        ...

    def get(self, **wanted: Any) -> dict[str, Any]:
        """Read rows."""
        ...

    def query(self, **asked: Any) -> dict[str, Any]:
        """Search."""
        ...

    def upsert(self, **rows: Any) -> None:
        """Write rows."""
        ...

    def delete(self, ids: list[str]) -> object:
        """Remove rows."""
        ...


class _Client(Protocol):
    def create_collection(self, name: str, **how: Any) -> Collection: ...

    def get_collection(self, name: str, **how: Any) -> Collection: ...

    def delete_collection(self, name: str) -> None: ...

    def list_collections(self) -> list[Any]: ...

    def close(self) -> None: ...


CreationMetadata = dict[str, str | int]


class CollectionBackend(Protocol):
    """Stores generations, each under its number."""

    def numbers(self) -> set[int]:
        """Return the numbers of all stored generations, complete or not."""
        ...

    def create(self, number: int, creation: CreationMetadata) -> Collection:
        """Create the collections of a new generation; return the one for events."""
        ...

    def open(self, number: int) -> Collection | None:
        """Return a generation's collection of events; None if it is missing or of another version of Chroma."""
        ...

    def is_there(self, number: int) -> bool:
        """Return whether the generation opened under this number is still stored, neither deleted nor replaced."""
        ...

    def is_unavailable(self, error: Exception) -> bool:
        """Return whether an error comes from the connection or from this process, and not from a damaged generation."""
        ...

    def close(self, number: int) -> None:
        """Close the generation's files."""
        ...

    def remove(self, number: int) -> bool:
        """Remove a generation, or a part of a large one; return True when no further call is needed."""
        ...


@dataclass(frozen=True)
class _OpenFolder:
    client: _Client
    stamp: tuple[int, int]


class FolderBackend:
    """One folder and one client per generation."""

    def __init__(self, root: Path) -> None:
        """Store generations below ``root``; nothing is opened yet."""
        self._root = root
        self._open: dict[int, _OpenFolder] = {}

    def numbers(self) -> set[int]:
        """Return the numbers of the generations that have a folder, complete or not."""
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)  # the folder may have been removed
        return {int(path.name) for path in self._root.iterdir() if _FOLDER.fullmatch(path.name)}

    def create(self, number: int, creation: CreationMetadata) -> Collection:
        """Create the folder and its collections."""
        self._folder(number).mkdir(mode=0o700)
        (self._folder(number) / _MADE_BY).write_text(VERSION, encoding="ascii")
        return _created(self._client(number), "", creation)

    def open(self, number: int) -> Collection | None:
        """Open the folder; None if another version of Chroma made it, because opening would change it."""
        made_by = self._folder(number) / _MADE_BY
        if not made_by.is_file() or made_by.read_bytes()[:64] != VERSION.encode():
            return None
        return _found(self._client(number), EVENTS)

    def is_there(self, number: int) -> bool:
        """Return whether the generation's folder still holds the database file that was opened, by device and inode."""
        return number in self._open and self._open[number].stamp == self._stamp(number)

    def is_unavailable(self, error: Exception) -> bool:
        """Return whether the process lacks file handles or memory, so that another generation would fail as well."""
        return isinstance(error, MemoryError) or getattr(error, "errno", None) in _EXHAUSTED

    def close(self, number: int) -> None:
        """Close the client."""
        opened = self._open.pop(number, None)
        if opened is not None:
            opened.client.close()

    def remove(self, number: int) -> bool:
        """Delete the folder as far as the system allows, and return True; the rest is deleted with the next sweep."""
        self.close(number)
        shutil.rmtree(self._folder(number), ignore_errors=True)
        return True

    def _client(self, number: int) -> _Client:
        self.close(number)
        client = cast("_Client", chromadb.PersistentClient(str(self._folder(number)), _settings()))
        self._open[number] = _OpenFolder(client, self._stamp(number))
        return client

    def _folder(self, number: int) -> Path:
        return self._root / f"{number:04d}"

    def _stamp(self, number: int) -> tuple[int, int]:
        try:
            state = (self._folder(number) / "chroma.sqlite3").stat()
        except OSError:
            return (0, 0)
        return (state.st_dev, state.st_ino)


class ServerBackend:
    """Collections of one database, named by generation number."""

    def __init__(self, start: Start) -> None:
        """Connect; create the tenant and the database if they are missing."""
        self._client = _connected(start)
        self._owner = Owner.of(Path(start.folder), [creation for _, creation in self._creation_metadata()])

    def numbers(self) -> set[int]:
        """Return the numbers of the stored generations; raises Foreign if any collection belongs to another bot."""
        created = self._creation_metadata()
        for _, creation in created:
            self._owner.check(creation)
        return {number for number, _ in created}

    def create(self, number: int, creation: CreationMetadata) -> Collection:
        """Create the collections."""
        return _created(self._client, _suffix(number), {**creation, **asdict(self._owner)})

    def open(self, number: int) -> Collection | None:
        """Open the collection."""
        return self._own(EVENTS + _suffix(number))

    def is_there(self, number: int) -> bool:
        """Return True for every opened generation: the server itself refuses requests to a collection that is gone."""
        return number > 0

    def is_unavailable(self, error: Exception) -> bool:
        """Return whether the connection failed, access was refused, or the database belongs to another bot."""
        return isinstance(error, (Foreign, httpx.HTTPError, ChromaAuthError, AuthorizationError, RateLimitError))

    def close(self, number: int) -> None:
        """Do nothing: all generations share the connection."""

    def remove(self, number: int) -> bool:
        """Delete rows of a generation, and each collection that is empty; return whether all are deleted."""
        for name in (collection + _suffix(number) for collection in COLLECTIONS):
            collection = self._own(name)
            if collection is not None:
                if not _emptied(collection):
                    return False
                self._client.delete_collection(name)
        return True

    def _own(self, name: str) -> Collection | None:
        collection = _found(self._client, name)
        if collection is not None:
            self._owner.check(collection.metadata)
        return collection

    def _creation_metadata(self) -> list[tuple[int, Mapping[str, object]]]:
        named = ((_COLLECTION.fullmatch(str(one.name)), one.metadata) for one in self._client.list_collections())
        return [(int(match[1]), creation or {}) for match, creation in named if match]


def _settings() -> Settings:
    return Settings(anonymized_telemetry=False)


def _suffix(number: int) -> str:
    return f"-{number:04d}"


def _created(client: _Client, suffix: str, creation: CreationMetadata) -> Collection:
    made = [
        client.create_collection(
            name + suffix, embedding_function=None, configuration={"hnsw": dict(_HNSW)}, metadata=dict(creation)
        )
        for name in COLLECTIONS
    ]
    return made[0]


def _found(client: _Client, name: str) -> Collection | None:
    try:
        return client.get_collection(name, embedding_function=None)
    except NotFoundError:
        return None


def _emptied(collection: Collection) -> bool:
    for _ in range(DELETED_AT_ONCE // ROWS_OF_A_DELETE):
        ids = collection.get(limit=ROWS_OF_A_DELETE, include=[])["ids"]
        if not ids:
            return True
        collection.delete(ids=ids)
    return False


def _connected(start: Start) -> _Client:
    settings = _settings()
    settings.chroma_api_impl = "chromadb.api.fastapi.FastAPI"
    settings.chroma_server_host = start.address
    settings.chroma_server_http_port = PORT  # Chroma asks for one, and then reads the address
    settings.chroma_server_headers = start.headers
    tenant, database = start.tenant_name, start.database_name
    _create_database(settings, tenant, database)
    return cast("_Client", Client(tenant, database, settings))


def _create_database(settings: Settings, tenant: str, database: str) -> None:
    admin = AdminClient(settings)
    try:
        admin.get_tenant(tenant)
    except NotFoundError:
        admin.create_tenant(tenant)
    try:
        admin.get_database(database, tenant)
    except NotFoundError:
        admin.create_database(database, tenant)
