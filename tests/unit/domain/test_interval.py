"""Tests of time intervals."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest

from cognitive_memory_core.domain.instants import Interval, checked_instant
from cognitive_memory_core.errors import BadArgument
from tests.support.clock import NOON


def test_an_interval_is_half_open() -> None:
    """The start of an interval is included and its stop is not, so that neighbouring days share no instant."""
    day = Interval(NOON, NOON + timedelta(days=1))
    assert NOON in day
    assert NOON + timedelta(hours=23, minutes=59, seconds=59, microseconds=999_999) in day
    assert NOON + timedelta(days=1) not in day
    assert NOON - timedelta(microseconds=1) not in day


@pytest.mark.parametrize("bad", [datetime(2026, 3, 4), None, "2026-03-04T12:00:00+08:00", date(2026, 3, 4), 0])  # noqa: DTZ001  # a time without a zone is what is refused
def test_a_time_without_a_zone_is_refused(bad: Any) -> None:
    """A time without a zone at either end raises BadArgument with the argument's name."""
    with pytest.raises(BadArgument, match=r"^sent_at 必须带时区"):
        checked_instant(bad, "sent_at")
    for start, stop in ((bad, NOON), (NOON, bad)):
        with pytest.raises(BadArgument):
            Interval(start, stop)


@pytest.mark.parametrize("year", [1, 9999])
def test_a_time_that_some_zone_cannot_tell_is_refused(year: int) -> None:
    """A time in a year that not every time zone can represent raises BadArgument."""
    with pytest.raises(BadArgument, match="2 到 9998 年"):
        checked_instant(datetime(year, 6, 1, tzinfo=timezone.utc), "sent_at")
