"""Tests of when facts are merged."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.historian.merging import due_at
from cognitive_memory_core.settings.schema import ProfileSettings
from cognitive_memory_core.store.facts import PendingFacts
from tests.support.clock import NOON

KEY = ProfileKey.user("2000001")


def wait_of(
    *,
    first: bool = False,
    skips_waiting: bool = False,
    facts: int = 1,
    settings: ProfileSettings | None = None,
    **fields: Any,
) -> float:
    """Return the seconds from noon until facts that wait since noon are due."""
    waiting = PendingFacts(KEY, facts, fields.pop("since", NOON), is_first=first, **fields)
    due = due_at(waiting, settings or ProfileSettings(), NOON, skips_waiting=skips_waiting)
    return (due - NOON).total_seconds()


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ({}, 86400),
        ({"facts": 2}, 86400),
        ({"facts": 3}, 600),
        ({"facts": 2, "settings": ProfileSettings(merge_min_facts=2)}, 600),
        ({"first": True}, 20),
        ({"first": True, "settings": ProfileSettings(merge_delay_seconds=5)}, 5),
        ({"facts": 11}, 600),
        ({"facts": 12}, 0),
        ({"withdrawn": 1}, 0),
        ({"withdrawn": 1, "first": True}, 0),
        ({"withdrawn": 1, "attempts": 1, "failed_at": NOON}, 60),
        ({"skips_waiting": True}, 0),
        ({"settings": ProfileSettings(merge_delay_seconds=0)}, 0),
        ({"attempts": 1, "failed_at": NOON, "skips_waiting": True}, 60),
        ({"attempts": 2, "failed_at": NOON, "facts": 40}, 3600),
        ({"attempts": 3, "failed_at": NOON, "withdrawn": 1}, 3600),
        ({"attempts": 99, "failed_at": NOON, "facts": 40}, 86400),
        ({"attempts": 1, "failed_at": NOON - timedelta(seconds=59), "skips_waiting": True}, 1),
        ({"attempts": 1, "failed_at": NOON, "facts": 3}, 600),
        ({"since": NOON + timedelta(days=3)}, 0),
        ({"attempts": 9, "failed_at": NOON + timedelta(days=3), "skips_waiting": True}, 0),
    ],
)
def test_facts_are_due(given: dict[str, Any], seconds: float) -> None:
    """Facts wait for more, first ones shortly, failed ones longer each time; a wrong clock delays nothing."""
    assert wait_of(**given) == seconds
