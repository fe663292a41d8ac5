"""The durable envelope of work."""

from __future__ import annotations

from datetime import timedelta

from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.domain.turn import Dialogue, Turn
from tests.support.builders import GROUP, PRIVATE, a_message
from tests.support.clock import NOON

LATER = NOON + timedelta(hours=3)


def test_a_job_works_for_the_place_of_its_turn() -> None:
    """What comes of a job belongs where the turn or the dialogue took place."""
    assert Job("1", Turn(GROUP, memo="x"), NOON).scope == GROUP.scope
    assert Job("2", Dialogue(PRIVATE, ()), NOON).scope == PRIVATE.scope


def test_a_turn_happened_when_it_says() -> None:
    """A turn that waited happened when it happened, and one that does not say when it was accepted."""
    assert Job("1", Turn(GROUP, memo="x", happened_at=NOON), LATER).happened_at == NOON
    assert Job("1", Turn(GROUP, memo="x"), LATER).happened_at == LATER


def test_a_dialogue_happened_when_its_last_line_was_said() -> None:
    """A dialogue is dated by its last line, and an empty one by its acceptance."""
    lines = (a_message(sent_at=NOON - timedelta(hours=1)), a_message(sent_at=NOON))
    assert Job("1", Dialogue(GROUP, lines), LATER).happened_at == NOON
    assert Job("1", Dialogue(GROUP, ()), LATER).happened_at == LATER
