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


def test_a_burst_passes_at_once_and_then_one_at_a_time(app: object) -> None:
    """Ten calls pass at once; the next is told when one will pass, which is true; callers do not share a limit."""
    from nonebot_plugin_cognitive_memory.limits import TokenBuckets

    clock = Seconds()
    buckets = TokenBuckets(10, 10, clock)
    assert [buckets.wait("a", take=True) for _ in range(10)] == [0.0] * 10
    assert buckets.wait("a", take=True) == 6.0
    assert buckets.wait("b", take=True) == 0.0
    clock.now = 6.0
    assert [buckets.wait("a", take=True), buckets.wait("a", take=True)] == [0.0, 6.0]
