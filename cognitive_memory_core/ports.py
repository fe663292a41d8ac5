"""What the core asks of the world: models or what replaces them, the vector store, the clock."""

from __future__ import annotations

from array import array
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from .domain.event import Event, Fact, Statement
from .domain.job import JobContext
from .domain.people import Person
from .domain.reading import ReadFilter
from .domain.turn import Dialogue, Turn

if TYPE_CHECKING:
    Vector = array[float]
else:  # array("f"): compact, the standard library's, and numpy reads it without a copy; generic only from Python 3.12
    Vector = array


T = TypeVar("T")
REFUSED, RETRIED = "gate:", "retry"  # counts of a Tally: rejected by the gate, with the reason; asked again for that
HASHING = "hashing-"  # first characters of the fingerprint of the embedder without a model
LEAST_SPREAD = 0.02  # between the two medians; a smaller spread is noise


@dataclass(frozen=True)
class Calibration:
    """The scale of an embedder's cosines: the medians of unrelated pairs and of paraphrases."""

    unrelated: float
    paraphrase: float

    def similarity(self, cosine: float) -> float:
        """Map a cosine to [0, 1]: unrelated is 0, a paraphrase is 1."""
        share = (cosine - self.unrelated) / (self.paraphrase - self.unrelated)
        return 0.0 if share < 0.0 else min(share, 1.0)

    @property
    def is_usable(self) -> bool:
        """Whether both medians are valid cosines, and that of paraphrases is higher by at least ``LEAST_SPREAD``."""
        return -1.0 <= self.unrelated < self.unrelated + LEAST_SPREAD <= self.paraphrase <= 1.0


GUESS = Calibration(unrelated=0.2, paraphrase=0.75)  # between what current models show; their own medians differ


class Embedder(Protocol):
    """An embedding model: returns one finite, non-zero unit vector per text, all of one length.

    Raises UnavailableError when the model cannot be reached, BadAnswer when it answered badly, PermanentError when it
    refuses these very texts.
    """

    @property
    def fingerprint(self) -> str:
        """Identifier of model, dimensions and instruction; only vectors of equal fingerprints are compared."""
        ...

    @property
    def calibration(self) -> Calibration:
        """The calibration in force for this embedder's cosines."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts that will be searched."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """Embed a search query."""
        ...


def is_hashing(embedder: Embedder) -> bool:
    """Return whether an embedder's vectors know no more than the words."""
    return embedder.fingerprint.startswith(HASHING)


class Tally:
    """Counters for the quality report; these count nothing.

    Those that count never raise or block; the latest counts may be lost when the process dies.
    """

    def count(self, name: str, times: int = 1) -> None:
        """Add ``times`` to the counter of this name."""

    def recalled(self, event_ids: Iterable[str]) -> None:
        """Count events that were shown, in a context or by a search."""


Count = Callable[[str, int, int], None]
"""Adds one call of a model to a purpose, with its tokens and how many of them it wrote; never raises or blocks."""


@dataclass(frozen=True)
class Ask(Generic[T]):
    """One request to a chat model, with the schema and the parser of its answer.

    ``schema`` is the JSON schema of the answer and ``name`` the name of the tool call that carries it; ``parse`` reads
    the answer's JSON text and raises BadAnswer if it is unusable. A ``strict`` answer replaces stored data and is never
    repaired: invalid JSON is a BadAnswer. An answer ``as_lines`` is plain text with one JSON object per line, which
    ``parse`` reads as it was written; it has neither schema nor tool.
    """

    purpose: str
    instructions: str
    prompt: str
    name: str
    schema: Mapping[str, Any]
    parse: Callable[[str], T]
    strict: bool = False
    as_lines: bool = False


class Chat(Protocol):
    """A chat model."""

    async def ask(self, ask: Ask[T]) -> T:
        """Send the request to the model and return its answer as parsed by ``ask.parse``.

        Raises UnavailableError if the model cannot be reached (with the pause that the server asked for as
        ``retry_after``), BadAnswer if the answer is unusable, PermanentError if the model refuses this request.
        """
        ...


class Reranker(Protocol):
    """A model that scores texts against a query."""

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score in [0, 1] for each text, in the given order; raises as :meth:`Chat.ask` does."""
        ...


@dataclass(frozen=True)
class MergedLine:
    """One line of a profile below a heading ("": a paragraph at the beginning), and the events that it rests on."""

    title: str
    text: str
    event_ids: tuple[str, ...]


@dataclass(frozen=True)
class MergedLines:
    """What a merge writes into a profile; a line takes the place of those that rest on one of its events.

    ``tags`` maps each tag to its events. Lines that rest on an ``outdated`` event are removed.
    """

    lines: tuple[MergedLine, ...] = ()
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    outdated: tuple[str, ...] = ()


@dataclass(frozen=True)
class MergeInput:
    """The material of a merge: the profile's person or group, the ``new`` facts, and the facts already in the profile.

    ``told`` holds the latter, one sequence for each line of the profile that rests on facts. ``people`` are the members
    of a group, else ().
    """

    person: Person
    new: Sequence[Fact]
    told: Sequence[Sequence[Fact]] = ()
    people: Sequence[Person] = ()
    is_group: bool = False


class Merger(Protocol):
    """Makes lines of a profile from facts. Has no side effects."""

    async def merge(self, given: MergeInput, now: datetime) -> MergedLines:
        """Return new lines, each with its events; none if nothing is of lasting interest.

        Raises UnavailableError, BadAnswer, PermanentError.
        """
        ...


class Historian(Protocol):
    """Derives statements from conversation. No side effects; raises UnavailableError, BadAnswer or PermanentError."""

    async def statements(self, work: Turn | Dialogue, job_context: JobContext) -> list[Statement]:
        """Return a statement of each observation of a turn, or of what in a dialogue is worth remembering; often none.

        Of an observation that does not stand on its own the statement is marked as not absolute.
        """
        ...


class Clock(Protocol):
    """Source of the current time; replaced in tests."""

    def now(self) -> datetime:
        """Return the current instant, with a time zone."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        """Return the present instant in UTC."""
        return datetime.now(timezone.utc)


Nearest = Callable[[Vector, ReadFilter, int], Awaitable[list[tuple[str, float]]]]
"""Returns the ids of the admitted events nearest to a unit vector, so many at most, with their cosines, best first.

Raises UnavailableError while the index does not contain all events of the ledger.
"""


@dataclass(frozen=True)
class EmbeddedEvent:
    """An event with its vector; ``fingerprint`` is that of the embedding model, "" if there is no vector."""

    event: Event
    fingerprint: str = ""
    vector: Vector | None = None


@dataclass(frozen=True)
class Generation:
    """One complete copy of the ledger's vectors of one model.

    ``number`` identifies its place in the store; ``build_id`` is a random id of this copy, never reused.
    """

    number: int
    build_id: str
    fingerprint: str
    dimensions: int
