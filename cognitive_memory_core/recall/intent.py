"""Ranking adjustments by query intent: weights per kind of memory and for the search by words. They never filter."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ..text.statements.intents import Intent


@dataclass(frozen=True)
class IntentWeights:
    """Score factors by kind of memory (1 if not listed); ``words``, from 0 to 1, raises the weight of word search."""

    kinds: Mapping[str, float] = field(default_factory=dict[str, float])
    words: float = 0.0

    def weight(self, lexical_weight: float) -> float:
        """Return the weight of the search by words, raised for the intent; a weight of 0 or 1 does not change."""
        return lexical_weight + self.words * lexical_weight * (1.0 - lexical_weight)


NO_ADJUSTMENT = IntentWeights()
LIFT = 1.1
WEIGHTS_BY_INTENT: Mapping[Intent, IntentWeights] = {
    "identity": IntentWeights({"preference": LIFT}),
    "code": IntentWeights({"experience": LIFT, "knowledge": LIFT}, words=0.6),
    "preference": IntentWeights({"preference": LIFT}),
    "experience": IntentWeights({"experience": LIFT}),
    "knowledge": IntentWeights({"knowledge": LIFT}),
    "general": NO_ADJUSTMENT,
}


def weights_of_intent(intent: Intent, kinds: Collection[str] = ()) -> IntentWeights:
    """Return the weights of an intent; without factors by kind if the search is for one kind only."""
    intent_weights = WEIGHTS_BY_INTENT.get(intent, NO_ADJUSTMENT)
    return IntentWeights(words=intent_weights.words) if len(kinds) == 1 else intent_weights
