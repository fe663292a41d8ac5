"""Models, or what stands in for them without a key."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..domain.event import Statement
from ..domain.people import Anchors
from ..domain.turn import Dialogue, Turn

if TYPE_CHECKING:
    Vector = array[float]
else:  # array("f"): compact, the standard library's, and numpy reads it without a copy; generic only from Python 3.12
    Vector = array


@dataclass(frozen=True)
class Calibration:
    """Where an embedder's cosines lie: the median of unrelated pairs and of paraphrases."""

    unrelated: float
    paraphrase: float

    def similarity(self, cosine: float) -> float:
        """Map a cosine to [0, 1]: unrelated is 0, a paraphrase is 1."""
        return min(max((cosine - self.unrelated) / (self.paraphrase - self.unrelated), 0.0), 1.0)


class Embedder(Protocol):
    """Texts to unit vectors of one length. Raises TransientError or UnavailableError, never answers fewer."""

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


class Historian(Protocol):
    """From what was said to what is so. Touches nothing; raises TransientError or PermanentError."""

    async def rewrite(self, turn: Turn, anchors: Anchors) -> list[Statement]:
        """Turn each observation into an absolute statement, or into itself marked as not absolute; none is dropped."""
        ...

    async def triage(self, dialogue: Dialogue, anchors: Anchors) -> list[Statement]:
        """Find what in a dialogue is worth remembering; often nothing."""
        ...
