"""Tests of how the kind of a question changes the ranking."""

from __future__ import annotations

from typing import get_args

import pytest

from cognitive_memory_core.domain.event import MEMORY_KINDS
from cognitive_memory_core.recall.intent import NO_ADJUSTMENT, WEIGHTS_BY_INTENT, IntentWeights, weights_of_intent
from cognitive_memory_core.text.statements.intents import Intent


def test_every_intent_has_a_tilt_that_is_soft():
    """Every kind of question has weights; no kind of memory is excluded, and none is raised by more than a tenth."""
    assert set(WEIGHTS_BY_INTENT) == set(get_args(Intent))
    for tilt in WEIGHTS_BY_INTENT.values():
        assert set(tilt.kinds) <= set(MEMORY_KINDS)
        assert all(1.0 <= factor <= 1.1 for factor in tilt.kinds.values())


def test_a_question_about_code_leans_on_words():
    """A question about code favours word search over meaning, unless one of the two has no weight."""
    tilt = WEIGHTS_BY_INTENT["code"]
    assert 0.5 < tilt.weight(0.5) < 1.0
    assert (tilt.weight(0.0), tilt.weight(1.0)) == (0.0, 1.0)
    assert NO_ADJUSTMENT.weight(0.3) == 0.3


@pytest.mark.parametrize("weight", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_a_share_of_words_stays_a_share(weight):
    """The weight of word search stays between 0 and 1."""
    assert weight <= IntentWeights(words=1.0).weight(weight) <= 1.0


def test_of_one_kind_there_is_nothing_to_choose():
    """If only one kind of memory is searched, none is favoured."""
    assert weights_of_intent("preference", ("preference",)) == NO_ADJUSTMENT
    assert weights_of_intent("preference", ("preference", "event")) == WEIGHTS_BY_INTENT["preference"]
    assert weights_of_intent("general") == NO_ADJUSTMENT
