"""One captured chat line."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.errors import BadArgument
from tests.support.builders import GROUP, a_message
from tests.support.clock import NOON


def test_a_line_is_said_by_the_person_of_its_scene() -> None:
    """A person's line is theirs."""
    assert a_message(scene=GROUP).sender_id == GROUP.user_id


def test_a_bots_line_is_nobodys() -> None:
    """What the bot said is never ascribed to the person it was said to."""
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
    """A line without an id, a text or an instant with its zone is refused before it reaches any store."""
    with pytest.raises(BadArgument):
        Message(identifier, GROUP, text, sent_at)
