"""Tests of the turns and dialogues that a chat plugin passes in."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from cognitive_memory_core.domain.turn import Dialogue, Turn, TurnLimits
from cognitive_memory_core.errors import BadArgument
from tests.support.builders import GROUP, OPERATOR, OTHER_GROUP, PRIVATE, a_message

LIMITS = TurnLimits()


@pytest.mark.parametrize(
    "fields",
    [
        {"observations": 5},
        {"recent_messages": [None]},
        {"happened_at": datetime.max.replace(tzinfo=timezone.utc)},
        {"memo": 3},
        {"observations": [1]},
        {"observations": [None]},
        {"source_message": b"x"},
        {"message_ids": [5]},
        {"message_ids": [""]},
        {"happened_at": datetime(2026, 3, 4)},  # noqa: DTZ001  # a time without a zone is what is refused
    ],
)
def test_what_cannot_be_written_down_is_refused(fields: dict[str, Any]) -> None:
    """A field of a wrong type raises BadArgument when the turn is created, not when its job runs."""
    with pytest.raises(BadArgument):
        Turn(GROUP, **fields)


def test_an_operator_has_no_turn() -> None:
    """An operator's scene raises BadArgument in a turn and in a dialogue."""
    with pytest.raises(BadArgument):
        Turn(OPERATOR, memo="x")
    with pytest.raises(BadArgument):
        Dialogue(OPERATOR, ())


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({"memo": "答" * 501}, {"memo": "答" * 499 + "…"}),
        ({"observations": ["观" * 501]}, {"observations": ("观" * 499 + "…",)}),
        ({"observations": ["观"] * 21}, {"observations": ("观",) * 20}),
        ({"source_message": "源" * 801}, {"source_message": "源" * 799 + "…"}),
        ({"recent_messages": ["行" * 241]}, {"recent_messages": ("行" * 239 + "…",)}),
        ({"recent_messages": [str(n) for n in range(13)]}, {"recent_messages": tuple(str(n) for n in range(1, 13))}),
    ],
)
def test_what_is_cut_ends_in_an_ellipsis(fields: dict[str, Any], kept: dict[str, Any]) -> None:
    """Each field is cut to its own limit, and the newest recent lines are kept."""
    cut = Turn(GROUP, **fields).within(LIMITS)
    assert {name: getattr(cut, name) for name in kept} == kept


@pytest.mark.parametrize("value", [7, b"x", {"a": 1}, True])
def test_what_is_no_list_is_refused(value: Any) -> None:
    """A number, bytes or a mapping in place of a list of observations raises BadArgument."""
    with pytest.raises(BadArgument):
        Turn(GROUP, observations=value)


def test_lines_of_other_places_are_left_out() -> None:
    """Messages of another group or of a private chat are left out of a turn and of a dialogue."""
    here, there, alone = a_message(scene=GROUP), a_message(scene=OTHER_GROUP), a_message(scene=PRIVATE)
    assert Turn(GROUP, recent_messages=[there, here, "早", alone]).recent_messages == (here, "早")
    assert Dialogue(GROUP, [there, here, alone]).messages == (here,)
    assert Dialogue(PRIVATE, [there, here, alone]).messages == (alone,)


def test_a_blank_request_is_no_request() -> None:
    """An empty request id counts as none, so that such turns do not become one job."""
    assert Turn(GROUP, request_id="").request_id is None
    assert Turn(GROUP, request_id="r-1").request_id == "r-1"
