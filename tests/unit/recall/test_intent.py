"""What a question is after tilts its answer."""

from __future__ import annotations

from typing import get_args

import pytest

from cognitive_memory_core.domain.event import MEMORY_KINDS
from cognitive_memory_core.recall.intent import TILTS, UPRIGHT, Tilt, tilt_of
from cognitive_memory_core.text.statements.intents import Intent


def test_every_intent_has_a_tilt_that_is_soft():
    """No kind is filtered, and none is lifted by more than a tenth."""
    assert set(TILTS) == set(get_args(Intent))
    for tilt in TILTS.values():
        assert set(tilt.kinds) <= set(MEMORY_KINDS)
        assert all(1.0 <= factor <= 1.1 for factor in tilt.kinds.values())


def test_a_question_about_code_leans_on_words():
    """Words go before meaning there, unless one of the two counts for nothing."""
    tilt = TILTS["code"]
    assert 0.5 < tilt.weight(0.5) < 1.0
    assert (tilt.weight(0.0), tilt.weight(1.0)) == (0.0, 1.0)
    assert UPRIGHT.weight(0.3) == 0.3


@pytest.mark.parametrize("weight", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_a_share_of_words_stays_a_share(weight):
    """However far it leans, a weight stays in [0, 1]."""
    assert weight <= Tilt(words=1.0).weight(weight) <= 1.0


def test_of_one_kind_there_is_nothing_to_choose():
    """Where one kind alone is asked for, none is lifted."""
    assert tilt_of("preference", ("preference",)) == UPRIGHT
    assert tilt_of("preference", ("preference", "event")) == TILTS["preference"]
    assert tilt_of("general") == UPRIGHT
