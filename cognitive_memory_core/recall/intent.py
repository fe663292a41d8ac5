"""What a question is after tilts its answer a little: towards a kind of memory, or towards words. It never filters."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ..text.statements.intents import Intent


@dataclass(frozen=True)
class Tilt:
    """By what factor each kind of memory counts, and how far words go before meaning: 0 not at all, 1 as far as can be.

    Kinds that are not named count as they are.
    """

    kinds: Mapping[str, float] = field(default_factory=dict[str, float])
    words: float = 0.0

    def weight(self, lexical_weight: float) -> float:
        """Give the share of words in relevance; where one leg counts for nothing, it goes on doing so."""
        return lexical_weight + self.words * lexical_weight * (1.0 - lexical_weight)


UPRIGHT = Tilt()
LIFT = 1.1
TILTS: Mapping[Intent, Tilt] = {
    "identity": Tilt({"preference": LIFT}),
    "code": Tilt({"experience": LIFT, "knowledge": LIFT}, words=0.6),
    "preference": Tilt({"preference": LIFT}),
    "experience": Tilt({"experience": LIFT}),
    "knowledge": Tilt({"knowledge": LIFT}),
    "general": UPRIGHT,
}


def tilt_of(intent: Intent, kinds: Collection[str] = ()) -> Tilt:
    """Give an intent's tilt; where only one kind is asked for there is nothing between which to choose."""
    tilt = TILTS.get(intent, UPRIGHT)
    return Tilt(words=tilt.words) if len(kinds) == 1 else tilt
