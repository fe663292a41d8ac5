"""Ranking adjustments by query intent: weights per kind of memory and for the search by words. They never filter."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ..text.statements.intents import Intent


@dataclass(frozen=True)
class Tilt:
    """Score factors by kind of memory, and the extra lexical weight ``words``: 0 none, 1 the most.

    Kinds that are not listed have factor 1.
    """

    kinds: Mapping[str, float] = field(default_factory=dict[str, float])
    words: float = 0.0

    def weight(self, lexical_weight: float) -> float:
        """Return the weight of the search by words after the tilt; a weight of 0 or 1 is unchanged."""
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
    """Return an intent's tilt, without kind factors if only one kind is requested."""
    tilt = TILTS.get(intent, UPRIGHT)
    return Tilt(words=tilt.words) if len(kinds) == 1 else tilt
