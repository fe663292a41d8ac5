"""Tests of list numbers and of the command limit."""

from __future__ import annotations


class Seconds:
    """A manual clock in seconds."""

    now = 0.0

    def __call__(self) -> float:
        """Return the seconds."""
        return self.now


def test_what_lasts_grows_old_and_is_bounded(app: object) -> None:
    """A value is found until its seconds are over; of more than the bound the latest are kept."""
    from nonebot_plugin_cognitive_memory.limits import Lasting

    clock = Seconds()
    lasting = Lasting[int, str](600.0, 3, clock)
    for key in range(4):
        lasting.put(key, "list")
    assert [lasting.find(key) for key in (0, 1, 3, 4)] == [None, "list", "list", None]
    clock.now = 601.0
    assert lasting.find(1) is None


def test_pace_is_of_a_minute(app: object) -> None:
    """Ten calls pass in a minute; the next is told when one may pass, which is true, and later ones are told nothing.

    Pages have a limit of their own.
    """
    from nonebot_plugin_cognitive_memory.limits import CommandRate

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
