"""Tests of the job that carries a turn or a dialogue."""

from __future__ import annotations

from datetime import timedelta

from cognitive_memory_core.domain.turn import Dialogue, Job, Turn
from tests.support.builders import GROUP, PRIVATE, a_message
from tests.support.clock import NOON

LATER = NOON + timedelta(hours=3)


def test_a_job_works_for_the_place_of_its_turn() -> None:
    """A job belongs to the scope of its turn or dialogue."""
    assert Job("1", Turn(GROUP, memo="x"), NOON).scope == GROUP.scope
    assert Job("2", Dialogue(PRIVATE, ()), NOON).scope == PRIVATE.scope


def test_a_turn_happened_when_it_says() -> None:
    """A turn has its own time even if its job waited, and without one the time of acceptance."""
    assert Job("1", Turn(GROUP, memo="x", happened_at=NOON), LATER).happened_at == NOON
    assert Job("1", Turn(GROUP, memo="x"), LATER).happened_at == LATER


def test_a_dialogue_happened_when_its_last_line_was_said() -> None:
    """A dialogue has the time of its last line, and an empty one the time of its acceptance."""
    lines = (a_message(sent_at=NOON - timedelta(hours=1)), a_message(sent_at=NOON))
    assert Job("1", Dialogue(GROUP, lines), LATER).happened_at == NOON
    assert Job("1", Dialogue(GROUP, ()), LATER).happened_at == LATER
