"""Requests to the Chroma process and their answers; both sides import this file."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal
from urllib.parse import urlsplit

from ...ports.vectors import Generation
from .frames import BadFrame, Frame
from .read_filter_where import Where

PLAIN, PORT = "http", 8000  # used if the configuration names no other
RowMetadata = dict[str, str | float | bool | list[str] | None]  # a row's metadata; None removes the key's earlier value


@dataclass(frozen=True)
class Start:
    """The place of the vectors: a folder, or a server, whose pointer is kept in the folder."""

    folder: str
    url: str = ""
    tenant: str = ""
    database: str = ""
    token: str = field(default="", repr=False)
    patience: float = 15.0

    @property
    def address(self) -> str:
        """Return the server's full address; a bare host gets Chroma's default port."""
        parts = urlsplit(self.url if "://" in self.url else f"{PLAIN}://{self.url}")
        port = f":{PORT}" if "://" not in self.url and parts.port is None else ""
        return f"{parts.scheme}://{parts.netloc}{port}{parts.path}".rstrip("/")

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers that carry the token."""
        return {"Authorization": f"Bearer {self.token}", "X-Chroma-Token": self.token} if self.token else {}

    @property
    def tenant_name(self) -> str:
        """Return the tenant's name, Chroma's default if none is set."""
        return self.tenant or "default_tenant"

    @property
    def database_name(self) -> str:
        """Return the database's name, Chroma's default if none is set."""
        return self.database or "default_database"


@dataclass(frozen=True)
class FindInUse:
    """Asks which generation is in use; answered with :class:`InUse`."""


@dataclass(frozen=True)
class Open:
    """Opens a generation, anew if it is open, and checks that it is complete; answered with :class:`Opened`."""

    number: int


@dataclass(frozen=True)
class Begin:
    """Creates an empty generation; answered with :class:`Opened`."""

    fingerprint: str
    dimensions: int


@dataclass(frozen=True)
class PutInUse:
    """Puts a generation in use; answered with :class:`Done`."""

    generation: Generation


@dataclass(frozen=True)
class Sweep:
    """Asks to remove generations that are not in use, a part at a time; answered with :class:`Swept`."""


@dataclass(frozen=True)
class Upsert:
    """Writes rows; their vectors are concatenated in ``block``, in single precision. Answered with :class:`Done`."""

    generation: Generation
    ids: list[str]
    texts: list[str]
    metadata: list[RowMetadata]
    block: bytes = field(repr=False)


@dataclass(frozen=True)
class Remove:
    """Removes rows; answered with :class:`Done`."""

    generation: Generation
    ids: list[str]


@dataclass(frozen=True)
class Listing:
    """Asks for the ids of all rows of a generation; answered with :class:`Listed`."""

    generation: Generation


@dataclass(frozen=True)
class Nearest:
    """Searches with the vector in ``block``; answered with :class:`NearestIds`."""

    generation: Generation
    where: Where
    limit: int
    block: bytes = field(repr=False)


@dataclass(frozen=True)
class Ready:
    """The process holds the folder's lock and has loaded Chroma; ``version`` is Chroma's."""

    version: str


@dataclass(frozen=True)
class Done:
    """The request was carried out and has no result."""


@dataclass(frozen=True)
class InUse:
    """The number of the generation in use; None if there is none."""

    number: int | None


@dataclass(frozen=True)
class Opened:
    """The generation that was opened; None if none was, and then ``reason`` may say why."""

    generation: Generation | None
    reason: str = ""


@dataclass(frozen=True)
class Swept:
    """Whether all generations but the one in use are removed, as far as the system allows."""

    is_clean: bool


@dataclass(frozen=True)
class Listed:
    """The ids of all rows of a generation."""

    ids: list[str]


@dataclass(frozen=True)
class NearestIds:
    """Ids with their cosine distances, nearest first."""

    ids: list[str]
    distances: list[float]


@dataclass(frozen=True)
class Failed:
    """Why a request failed.

    "locked": another process holds the folder; "missing": chromadb cannot be imported; "gone": no such generation;
    "foreign": the database, named in ``reason``, holds another bot's collections; "failed": anything else.
    """

    why: Literal["locked", "missing", "gone", "foreign", "failed"]
    reason: str = ""


Request = Start | FindInUse | Open | Begin | PutInUse | Sweep | Upsert | Remove | Listing | Nearest
Answer = Ready | Done | InUse | Opened | Swept | Listed | NearestIds | Failed
_KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in (*Request.__args__, *Answer.__args__)}


@dataclass(frozen=True)
class Envelope:
    """A numbered request or answer; an answer also carries the child's resident bytes, if known."""

    number: int
    body: Request | Answer
    resident: int | None = None


def framed(envelope: Envelope) -> Frame:
    """Encode a request or an answer as a frame."""
    values = {part.name: getattr(envelope.body, part.name) for part in fields(envelope.body)}
    block: bytes = values.pop("block", b"")
    kind = type(envelope.body).__name__
    return Frame({"number": envelope.number, "kind": kind, "resident": envelope.resident, "body": values}, block)


def unframed(frame: Frame) -> Envelope:
    """Decode a request or an answer; raises BadFrame for anything else."""
    header = frame.header
    try:
        kind, values = _KINDS[header["kind"]], dict(header["body"])
        if values.get("generation") is not None:
            values["generation"] = Generation(**values["generation"])
        if frame.block:
            values["block"] = frame.block
        return Envelope(header["number"], kind(**values), header["resident"])
    except (KeyError, TypeError, ValueError) as strange:
        raise BadFrame(type(strange).__name__) from None
