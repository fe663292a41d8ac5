"""Models, or what stands in for them without a key."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from ..domain.event import Statement
from ..domain.fact import Fact
from ..domain.people import Anchors, Person
from ..domain.profile import Profile
from ..domain.turn import Dialogue, Turn

if TYPE_CHECKING:
    Vector = array[float]
else:  # array("f"): compact, the standard library's, and numpy reads it without a copy; generic only from Python 3.12
    Vector = array


T = TypeVar("T")
LEAST_SPREAD = 0.02  # between the two medians; what lies nearer together is measured noise


@dataclass(frozen=True)
class Calibration:
    """Where an embedder's cosines lie: the median of unrelated pairs and of paraphrases."""

    unrelated: float
    paraphrase: float

    def similarity(self, cosine: float) -> float:
        """Map a cosine to [0, 1]: unrelated is 0, a paraphrase is 1."""
        return min(max((cosine - self.unrelated) / (self.paraphrase - self.unrelated), 0.0), 1.0)

    @property
    def is_usable(self) -> bool:
        """Tell whether it is a scale at all: paraphrases clearly nearer than strangers, both where cosines can be."""
        return -1.0 <= self.unrelated < self.unrelated + LEAST_SPREAD <= self.paraphrase <= 1.0


GUESS = Calibration(unrelated=0.2, paraphrase=0.75)  # between what current models show; their own medians differ


class CalibrationBook(Protocol):
    """What was measured of each embedder, by its fingerprint."""

    async def find(self, fingerprint: str) -> Calibration | None:
        """Give what was measured; None for what was never."""
        ...

    async def keep(self, fingerprint: str, calibration: Calibration) -> None:
        """Remember what was measured, in the place of what was known before."""
        ...


class Embedder(Protocol):
    """Texts to unit vectors of one length, as many as texts; a vector is finite and not nothing.

    Raises UnavailableError when the model cannot be reached, BadAnswer when it answered badly, PermanentError when it
    refuses these very texts.
    """

    @property
    def fingerprint(self) -> str:
        """Name model, dimensions and instruction: vectors of different fingerprints never meet."""
        ...

    @property
    def calibration(self) -> Calibration:
        """Say where its cosines lie."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed what is to be found."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """Embed what is asked."""
        ...


class Meter(Protocol):
    """Counts what models cost."""

    def count(self, purpose: str, tokens: int) -> None:
        """Note one call for a purpose; never raises, never waits."""
        ...


@dataclass(frozen=True)
class Ask(Generic[T]):
    """One question to a chat model, with its own answer's form and reading.

    ``schema`` is the JSON schema of the answer and ``name`` what the tool is called that a model answers through;
    ``parse`` reads the answer's JSON text and raises BadAnswer for one that it cannot use. A ``strict`` one, whose
    answer takes the place of something, is never mended: what is not JSON to the letter is a BadAnswer.
    """

    purpose: str
    instructions: str
    prompt: str
    name: str
    schema: Mapping[str, Any]
    parse: Callable[[str], T]
    strict: bool = False


class Chat(Protocol):
    """A chat model."""

    async def ask(self, ask: Ask[T]) -> T:
        """Give the parsed answer.

        Raises UnavailableError when the model cannot be reached (with its own wish when to come back), BadAnswer when
        it answered badly, PermanentError when it refuses this very question.
        """
        ...


class Reranker(Protocol):
    """A model that scores texts against a question."""

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Give a score in [0, 1] for each text, in the order given; raises as :meth:`Chat.ask` does."""
        ...


@dataclass(frozen=True)
class Portrait:
    """What a merger answers: the new content of a profile, never whose it is."""

    tags: tuple[str, ...]
    summary: str


class Merger(Protocol):
    """From a portrait and new facts to the next portrait. Touches nothing."""

    async def merge(self, person: Person, profile: Profile | None, facts: Sequence[Fact], now: datetime) -> Portrait:
        """Give the portrait with the facts worked in; the same one where nothing in them lasts.

        ``person`` is whose portrait it is, a group too. Raises UnavailableError, BadAnswer, PermanentError.
        """
        ...


class Historian(Protocol):
    """From what was said to what is so. Touches nothing; raises UnavailableError, BadAnswer or PermanentError."""

    async def rewrite(self, turn: Turn, anchors: Anchors) -> list[Statement]:
        """Turn each observation into an absolute statement, or into itself marked as not absolute; none is dropped."""
        ...

    async def triage(self, dialogue: Dialogue, anchors: Anchors) -> list[Statement]:
        """Find what in a dialogue is worth remembering; often nothing."""
        ...
