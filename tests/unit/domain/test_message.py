"""Tests of a recorded chat message."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.errors import BadArgument
from tests.support.builders import GROUP, PRIVATE, a_message
from tests.support.clock import NOON


def test_a_line_is_said_by_the_person_of_its_scene() -> None:
    """The sender of a person's message is that person."""
    assert a_message(scene=GROUP).sender_id == GROUP.user_id


def test_a_bots_line_is_nobodys() -> None:
    """A message of the bot has no sender id, and not that of the person it was said to."""
    assert a_message(scene=GROUP, is_bot=True).sender_id == ""


@pytest.mark.parametrize(
    ("identifier", "text", "sent_at"),
    [
        ("", "嗯", NOON),
        (12345, "嗯", NOON),
        ("1\n", "嗯", NOON),
        ("1", None, NOON),
        ("1", b"x", NOON),
        ("1", "嗯", datetime(2026, 3, 4)),  # noqa: DTZ001  # a time without a zone is what is refused
        ("1", "嗯", None),
    ],
)
def test_what_no_log_could_keep_is_refused(identifier: Any, text: Any, sent_at: Any) -> None:
    """A message without an id, a text or a time with its zone raises BadArgument."""
    with pytest.raises(BadArgument):
        Message(identifier, GROUP, text, sent_at)


@pytest.mark.parametrize("scene", [None, "10001", GROUP.scope])
def test_a_line_is_said_somewhere(scene: Any) -> None:
    """A message without a scene raises BadArgument."""
    with pytest.raises(BadArgument):
        Message("1", scene, "嗯", NOON)


@pytest.mark.parametrize("reply_to", ["", 7, "1\n"])
def test_a_reply_names_a_message(reply_to: Any) -> None:
    """A message replies to a message id or to nothing."""
    with pytest.raises(BadArgument):
        Message("1", GROUP, "嗯", NOON, reply_to=reply_to)


def test_a_line_is_found_like_an_event() -> None:
    """A message converts to an Event of kind "message" with the message's id, scope and speaker."""
    message = a_message("我喜欢乌龙茶", GROUP, id="m-1")
    event = message.as_event()
    assert (event.id, event.kind, event.text, event.happened_at) == ("m-1", "message", "我喜欢乌龙茶", NOON)
    assert (event.sender_id, event.user_id, event.sender_name) == (GROUP.user_id, GROUP.user_id, GROUP.user_name)
    assert (event.scope, event.subjects, event.message_ids) == (GROUP.scope, (), ("m-1",))
    assert a_message(scene=PRIVATE).as_event().scope == PRIVATE.scope


def test_a_bots_line_speaks_of_whom_it_was_said_to() -> None:
    """A message of the bot converts to an event without a sender, about the person it was said to."""
    event = a_message(scene=GROUP, is_bot=True).as_event()
    assert (event.sender_id, event.sender_name, event.subjects) == ("", "", (GROUP.user_id,))
