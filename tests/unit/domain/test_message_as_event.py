"""Tests of logged messages as search results."""

from __future__ import annotations

from dataclasses import replace

from cognitive_memory_core.domain.read_filter import ReadFilter
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_message
from tests.support.clock import NOON


def test_a_message_keeps_who_where_and_when():
    """The event of a message has its id, its text, its speaker and its scope."""
    event = a_message("我喜欢乌龙茶", id="m77").as_event()
    assert (event.id, event.kind, event.text, event.happened_at) == ("m77", "message", "我喜欢乌龙茶", NOON)
    assert (event.sender_id, event.sender_name, event.scope) == (GROUP.user_id, "阿棠", GROUP.scope)
    assert a_message(scene=PRIVATE).as_event().scope == PRIVATE.scope


def test_messages_obey_the_rule_of_scopes():
    """A message of one group is not readable in another, and in private only by its sender."""
    event = a_message().as_event()
    assert ReadFilter(GROUP).admits(event)
    assert ReadFilter(PRIVATE).admits(event)
    assert not ReadFilter(OTHER_GROUP).admits(event)
    assert not ReadFilter(replace(PRIVATE, user_id="2000002")).admits(event)


def test_what_the_bot_said_to_somebody_goes_with_them():
    """A message of the bot has no sender, and is left out together with the person it was said to."""
    event = a_message("你喜欢乌龙茶", is_bot=True).as_event()
    assert (event.sender_id, event.sender_name) == ("", "")
    assert not ReadFilter(PRIVATE).admits(event)
    assert not ReadFilter(GROUP, without=frozenset({GROUP.user_id})).admits(event)
