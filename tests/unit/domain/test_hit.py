"""Tests of the conditions that every event must meet to be read."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cognitive_memory_core.domain.interval import Interval
from cognitive_memory_core.domain.read_filter import ReadFilter
from tests.support.builders import GROUP, OPERATOR, OTHER_GROUP, PRIVATE, an_event
from tests.support.clock import NOON

U, V, W = "2000001", "2000002", "2000003"
FROM_NOON = Interval(NOON, NOON + timedelta(hours=1))
UNTIL_NOON = Interval(NOON - timedelta(hours=1), NOON)


def test_the_scene_bounds_what_is_read() -> None:
    """An event of another group is not readable, whatever else is requested."""
    event = an_event(scene=OTHER_GROUP)
    assert not ReadFilter(GROUP).admits(event)
    assert not ReadFilter(GROUP, group_id=OTHER_GROUP.group_id).admits(event)
    assert not ReadFilter(GROUP, user_id=event.user_id).admits(event)
    assert ReadFilter(OPERATOR, group_id=OTHER_GROUP.group_id).admits(event)


def test_in_private_only_ones_own_words_of_a_group_are_admitted() -> None:
    """A private chat shows only the person's own words from a group, not what others said about them."""
    assert ReadFilter(PRIVATE).admits(an_event(scene=GROUP, sender_id=U))
    assert not ReadFilter(PRIVATE).admits(an_event(scene=GROUP, sender_id=V, subjects=(U,)))


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


@pytest.mark.parametrize(
    ("sender", "subjects", "admitted"), [(V, (), False), (U, (V,), False), (U, (W, V), False), (U, (W,), True)]
)
def test_who_opted_out_is_left_out(sender: str, subjects: tuple[str, ...], admitted: bool) -> None:
    """Statements by a person who opted out, and statements about them, are readable by nobody."""
    event = an_event(sender_id=sender, subjects=subjects)
    assert ReadFilter(GROUP, without=frozenset({V})).admits(event) is admitted
    assert ReadFilter(OPERATOR, without=frozenset({V})).admits(event) is admitted
