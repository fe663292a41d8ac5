"""Tests of a recorded chat message."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.errors import BadArgument
from tests.support.builders import GROUP
from tests.support.clock import NOON


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
