"""Tests of list numbers and of the command limit."""

from __future__ import annotations

from datetime import datetime, timezone

import cognitive_memory_core as core


class Seconds:
    """A manual clock in seconds."""

    now = 0.0

    def __call__(self) -> float:
        """Return the seconds."""
        return self.now


def events(count: int) -> list[core.Event]:
    """Return some events."""
    return [core.Event(f"e{n}", "事", happened_at=datetime.now(timezone.utc)) for n in range(count)]


def test_numbers_grow_old(app: object) -> None:
    """Ten minutes after a list was shown its numbers expire."""
    from nonebot_plugin_cognitive_memory.commands.lists import ShownLists

    clock, scene = Seconds(), core.Scene.group("10001", "2000001")
    lists = ShownLists(clock)
    lists.show(scene, events(3), first=11)
    assert [lists.find(scene, number) is not None for number in (10, 11, 13, 14)] == [False, True, True, False]
    clock.now = 601.0
    assert lists.find(scene, 11) is None


def test_lists_are_bounded(app: object) -> None:
    """Only the latest lists are kept if very many people ask."""
    from nonebot_plugin_cognitive_memory.commands.lists import SCENES, ShownLists

    lists = ShownLists()
    for n in range(SCENES + 10):
        lists.show(core.Scene.private(str(2_000_000 + n)), events(1))
    assert lists.find(core.Scene.private("2000000"), 1) is None
    assert lists.find(core.Scene.private(str(2_000_000 + SCENES + 9)), 1) is not None


def test_pace_is_of_a_minute(app: object) -> None:
    """Ten calls pass in a minute; the next is told when one may pass, which is true, and later ones are told nothing.

    Pages have a limit of their own.
    """
    from nonebot_plugin_cognitive_memory.commands.pacing import CommandRate

    clock = Seconds()
    rate = CommandRate(clock)
    for second in range(10):
        clock.now = float(second)
        assert rate.wait("a") == 0
    clock.now = 20.0
    assert [rate.wait("a"), rate.wait("a")] == [40, None]
    assert rate.wait("b") == 0
    clock.now = 60.0
    assert [rate.wait("a"), rate.wait("a"), rate.wait("a")] == [0, 1, None]
    pages = [rate.wait("a", is_page=True) for _ in range(62)]
    assert pages == [0] * 60 + [60, None]
