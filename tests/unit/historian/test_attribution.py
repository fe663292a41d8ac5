"""Who said it, and of whom it speaks."""

from __future__ import annotations

from cognitive_memory_core.historian.attribution import repeated
from tests.support.builders import an_event


def test_what_is_said_again_is_the_same_event() -> None:
    """A repetition carries the event's words and names it, so that it only raises the count."""
    event = an_event(
        subjects=("2000001",), kind="experience", pain="断网", solution="换线", outcome="好了", confidence=0.4
    )
    statement = repeated(event, ["m7"])
    assert (statement.repeats, statement.text, statement.kind) == (event.id, event.text, event.kind)
    assert (statement.speaker, statement.subjects, statement.confidence) == (event.sender_id, event.subjects, 0.4)
    assert (statement.pain, statement.solution, statement.outcome) == ("断网", "换线", "好了")
    assert (statement.message_ids, statement.is_own, statement.is_absolute) == (("m7",), True, True)
