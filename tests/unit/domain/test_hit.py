"""Tests of the conditions that every event must meet to be read."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Interval
from tests.support.builders import GROUP, OPERATOR, OTHER_GROUP, an_event
from tests.support.clock import NOON

U, V, W = "2000001", "2000002", "2000003"
FROM_NOON = Interval(NOON, NOON + timedelta(hours=1))
UNTIL_NOON = Interval(NOON - timedelta(hours=1), NOON)


def test_a_retired_event_is_admitted_nowhere() -> None:
    """A withdrawn event is readable by nobody, including the operator."""
    retired = an_event(retired_at=NOON)
    assert not ReadFilter(GROUP).admits(retired)
    assert not ReadFilter(OPERATOR).admits(retired)


@pytest.mark.parametrize(
    ("asked", "admitted"),
    [
        ({"user_id": U}, True),
        ({"user_id": V}, True),
        ({"user_id": W}, True),
        ({"user_id": "2000009"}, False),
        ({"group_id": GROUP.group_id}, True),
        ({"group_id": OTHER_GROUP.group_id}, False),
        ({"kinds": ("preference",)}, True),
        ({"kinds": ("event", "preference")}, True),
        ({"kinds": ("event",)}, False),
        ({"window": FROM_NOON}, True),
        ({"window": UNTIL_NOON}, False),
        ({"user_id": U, "kinds": ("event",)}, False),
    ],
)
def test_everything_else_narrows(asked: dict[str, Any], admitted: bool) -> None:
    """A user id matches whoever was there, spoke or is spoken of; kind, group and time each narrow further."""
    event = an_event(scene=GROUP, user_id=U, sender_id=V, subjects=(W,), kind="preference")
    assert ReadFilter(GROUP, **asked).admits(event) is admitted
