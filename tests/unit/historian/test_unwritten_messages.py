"""Tests of messages that wait to be written to the log."""

from __future__ import annotations

from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.historian.unwritten import UnwrittenMessages
from tests.support.builders import GROUP, OTHER_GROUP, a_message


def texts(messages: list[Message]) -> list[str]:
    """Return the texts of messages."""
    return [message.text for message in messages]


def test_places_take_turns() -> None:
    """A batch takes messages of each place in turn, oldest first, starting with those not served last."""
    unwritten = UnwrittenMessages()
    for text in ("一", "二", "三"):
        unwritten.add(a_message(text))
    unwritten.add(a_message("别处", scene=OTHER_GROUP))
    assert texts(unwritten.piece(3)) == ["一", "别处", "二"]
    unwritten.remove(unwritten.piece(1))
    assert texts(unwritten.piece(3)) == ["别处", "二", "三"]
    assert len(unwritten) == 3


def test_a_full_buffer_drops_the_oldest_of_the_fullest_place() -> None:
    """At the limit, the place with the most messages loses its oldest one."""
    unwritten = UnwrittenMessages(capacity=4, place_capacity=3)
    assert unwritten.add(a_message("别处", scene=OTHER_GROUP))
    assert [unwritten.add(a_message(text)) for text in ("一", "二", "三", "四")] == [True, True, True, False]
    assert not unwritten.add(a_message("第三处", scene=Scene.private("2000009")))
    assert texts(unwritten.of(GROUP.scope)) == ["三", "四"]
    assert texts(unwritten.of(OTHER_GROUP.scope)) == ["别处"]
    assert (unwritten.dropped, len(unwritten)) == (2, 4)


def test_what_came_before_a_number_is_told_from_what_came_after() -> None:
    """It is known whether all messages up to a number are written, even if later ones wait."""
    unwritten = UnwrittenMessages()
    unwritten.add(a_message("一"))
    first = unwritten.newest
    unwritten.add(a_message("二"))
    assert unwritten.holds_up_to(first)
    unwritten.remove(unwritten.piece(1))
    assert not unwritten.holds_up_to(first)
    assert unwritten.holds_up_to(unwritten.newest)
