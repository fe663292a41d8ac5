"""What the bot asks its Chroma process, and what that answers; both sides read this file."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from ...ports.vectors import Generation
from .filters import Where
from .frames import BadFrame, Frame

Blank = dict[str, str | float | bool | list[str] | None]  # a row's metadata; None takes away what stood there


@dataclass(frozen=True)
class Start:
    """Say where the vectors lie: in a folder, or on a server whose pointer is kept in the folder."""

    folder: str
    url: str = ""
    tenant: str = ""
    database: str = ""
    token: str = field(default="", repr=False)
    patience: float = 15.0


@dataclass(frozen=True)
class FindInUse:
    """Ask which generation is in use; answered with :class:`InUse`."""


@dataclass(frozen=True)
class Open:
    """Open a generation anew and look whether it is whole; answered with :class:`Opened`."""

    number: int


@dataclass(frozen=True)
class Begin:
    """Make an empty generation; answered with :class:`Opened`."""

    fingerprint: str
    dimensions: int


@dataclass(frozen=True)
class PutInUse:
    """Put a generation in use."""

    generation: Generation


@dataclass(frozen=True)
class Sweep:
    """Remove a good piece of what is not in use; answered with :class:`Swept`."""


@dataclass(frozen=True)
class Upsert:
    """Write rows; their vectors follow each other in ``block``, in single precision."""

    generation: Generation
    ids: list[str]
    texts: list[str]
    blanks: list[Blank]
    block: bytes = field(repr=False)


@dataclass(frozen=True)
class Remove:
    """Remove rows."""

    generation: Generation
    ids: list[str]


@dataclass(frozen=True)
class Listing:
    """Ask for all ids; answered with :class:`Listed`."""

    generation: Generation


@dataclass(frozen=True)
class Nearest:
    """Search with the vector in ``block``; answered with :class:`NearestIds`."""

    generation: Generation
    where: Where
    limit: int
    block: bytes = field(repr=False)


@dataclass(frozen=True)
class Ready:
    """The process has the folder and Chroma; ``version`` is Chroma's."""

    version: str


@dataclass(frozen=True)
class Done:
    """It is written."""


@dataclass(frozen=True)
class InUse:
    """The number of the generation in use; None while there is none."""

    number: int | None


@dataclass(frozen=True)
class Opened:
    """A generation that is whole; None with the reason why there is none."""

    generation: Generation | None
    reason: str = ""


@dataclass(frozen=True)
class Swept:
    """Whether nothing is left but what is in use, or what the system does not let go of."""

    is_clean: bool


@dataclass(frozen=True)
class Listed:
    """All ids."""

    ids: list[str]


@dataclass(frozen=True)
class NearestIds:
    """Ids with their cosine distances, nearest first."""

    ids: list[str]
    distances: list[float]


@dataclass(frozen=True)
class Failed:
    """Why it could not be done.

    "locked": another process has the folder; "missing": no chromadb; "gone": no such generation;
    "foreign": another bot's collections lie in the database, which ``reason`` names; else "failed".
    """

    why: Literal["locked", "missing", "gone", "foreign", "failed"]
    reason: str = ""


Request = Start | FindInUse | Open | Begin | PutInUse | Sweep | Upsert | Remove | Listing | Nearest
Answer = Ready | Done | InUse | Opened | Swept | Listed | NearestIds | Failed
_KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in (*Request.__args__, *Answer.__args__)}


@dataclass(frozen=True)
class Letter:
    """A request or an answer with its number; an answer tells the bytes of memory that its process has, if it can."""

    number: int
    body: Request | Answer
    resident: int | None = None


def framed(letter: Letter) -> Frame:
    """Put a letter into a frame."""
    values = {part.name: getattr(letter.body, part.name) for part in fields(letter.body)}
    block: bytes = values.pop("block", b"")
    kind = type(letter.body).__name__
    return Frame({"number": letter.number, "kind": kind, "resident": letter.resident, "body": values}, block)


def unframed(frame: Frame) -> Letter:
    """Read a letter; BadFrame for what is none."""
    header = frame.header
    try:
        kind, values = _KINDS[header["kind"]], dict(header["body"])
        if values.get("generation") is not None:
            values["generation"] = Generation(**values["generation"])
        if frame.block:
            values["block"] = frame.block
        return Letter(header["number"], kind(**values), header["resident"])
    except (KeyError, TypeError, ValueError) as strange:
        raise BadFrame(type(strange).__name__) from None
