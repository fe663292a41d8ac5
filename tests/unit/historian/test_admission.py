"""Tests of limiting how much is accepted from one person and one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import QueueFull
from cognitive_memory_core.historian.admission import MANY, Admission
from cognitive_memory_core.settings.schema import Live, QueueSettings, Settings
from tests.support.builders import GROUP, OTHER_GROUP
from tests.support.clock import FrozenClock


def admission(clock: FrozenClock, **bounds: Any) -> Admission:
    """Return the admission with these limits."""
    return Admission(Live(Settings(queue=QueueSettings(**bounds))), clock.elapsed)


def admitted(admit: Callable[[Scene], None], scene: Scene, number: int) -> int:
    """Submit a number of items at the same time and return how many were accepted."""
    taken = 0
    for _ in range(number):
        try:
            admit(scene)
        except QueueFull:
            continue
        taken += 1
    return taken


def member(number: int) -> Scene:
    """Return the scene of one of many people in the group."""
    return Scene.group(GROUP.group_id, str(3_000_000 + number))


def test_full_buckets_are_forgotten(clock: FrozenClock):
    """Full buckets are removed, so that memory is bounded for any number of people."""
    door = admission(clock, turns_per_minute=60, turn_burst=3)
    for number in range(5 * MANY):
        clock.advance(seconds=0.1)
        door.admit_dialogue(Scene.group(str(number), "2000001"))
    assert len(door._full_at) <= MANY + 1


def test_a_place_is_taken_up_to_its_burst_and_then_at_its_rate(clock: FrozenClock):
    """A group's items beyond its burst are refused; after a minute, a minute's items are accepted."""
    door = admission(clock, turns_per_minute=12, turn_burst=20)
    people = [member(number) for number in range(5)]
    assert sum(admitted(door.admit_turn, scene, 10) for scene in people) == 20
    clock.advance(seconds=60)
    assert sum(admitted(door.admit_turn, scene, 10) for scene in people) == 12


def test_one_person_leaves_room_to_the_others_of_a_group(clock: FrozenClock):
    """One person may use half of a place's limit, over all places."""
    door = admission(clock, turns_per_minute=12, turn_burst=20)
    assert admitted(door.admit_turn, GROUP, 30) == 10
    assert admitted(door.admit_turn, OTHER_GROUP, 30) == 0
    assert admitted(door.admit_turn, member(1), 30) == 10


def test_dialogues_take_no_turns(clock: FrozenClock):
    """Dialogues have their own limit and do not reduce that of turns."""
    door = admission(clock, turns_per_minute=12, turn_burst=20)
    assert admitted(door.admit_dialogue, GROUP, 100) == 20
    assert admitted(door.admit_turn, GROUP, 100) == 10


def test_no_bound_refuses_nothing(clock: FrozenClock):
    """A limit of zero means no limit."""
    door = admission(clock, turns_per_minute=0, turn_burst=1)
    assert admitted(door.admit_turn, GROUP, 5000) == admitted(door.admit_dialogue, GROUP, 5000) == 5000


def test_a_refusal_says_what_to_do(clock: FrozenClock):
    """The refusal names the limit, the seconds to wait and the setting."""
    door = admission(clock, turns_per_minute=6, turn_burst=2)
    door.admit_turn(GROUP)
    with pytest.raises(QueueFull, match=r"每人每分钟最多记 3 轮.*20 秒后再试.*queue\.turns_per_minute"):
        door.admit_turn(GROUP)
    door.admit_turn(member(1))
    with pytest.raises(QueueFull, match=r"这里每分钟最多记 6 轮.*10 秒后再试"):
        door.admit_turn(member(2))
