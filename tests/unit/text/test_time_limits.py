"""Tests of time limits."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from cognitive_memory_core.text.time.time_limits import time_limit

ZONE = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 3, 4, 15, 0, tzinfo=ZONE)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        *(("30分钟", 0.5), ("半小时", 0.5), ("十分钟", 1 / 6), ("2小时", 2), ("两个小时", 2), ("一个半小时", 1.5)),
        *(
            ("1.5小时", 1.5),
            ("1小时30分", 1.5),
            ("半天", 12),
            ("两天半", 60),
            ("3天", 72),
            ("一周", 168),
            ("一个月", 720),
        ),
        *(("2h", 2), ("30m", 0.5), ("3d", 72), ("1w", 168), ("1h30m", 1.5), ("2 hours", 2), ("30 min", 0.5)),
        *(("2小时后", 2), ("２小时", 2), ("二十四小时", 24), ("1天12小时", 36), (" 2H ", 2)),
    ],
)
def test_a_length_of_time_ends_that_much_later(text: str, hours: float) -> None:
    """Lengths of time are read in Chinese and English, in digits and in words."""
    assert time_limit(text, NOW) == NOW + timedelta(hours=hours)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        *(("到18:00", "03-04 18:00"), ("18:00", "03-04 18:00"), ("到下午5点半", "03-04 17:30")),
        *(("到明天早上8点", "03-05 08:00"), ("到明天8点", "03-05 08:00"), ("到明天早上8:30", "03-05 08:30")),
        *(("到早上8点", "03-05 08:00"), ("到8点", "03-04 20:00"), ("到20点", "03-04 20:00"), ("到零点", "03-05 00:00")),
        *(("到今晚8点", "03-04 20:00"), ("明天晚上12点", "03-06 00:00"), ("到后天上午9点为止", "03-06 09:00")),
        *(
            ("到明天", "03-05 00:00"),
            ("到周五", "03-06 00:00"),
            ("到周五18:00", "03-06 18:00"),
            ("到周三18:00", "03-04 18:00"),
        ),
        *(
            ("到下周一", "03-09 00:00"),
            ("到5号", "03-05 00:00"),
            ("到10月1日", "10-01 00:00"),
            ("到国庆", "10-01 00:00"),
        ),
        *(("until 8pm", "03-04 20:00"), ("until tomorrow 8am", "03-05 08:00"), ("until Friday", "03-06 00:00")),
    ],
)
def test_an_instant_is_the_next_that_fits(text: str, end: str) -> None:
    """Of several days or hours that fit, the next one is meant; a day without an hour is where it begins."""
    assert time_limit(text, NOW) == datetime.strptime(f"2026-{end}", "%Y-%m-%d %H:%M").replace(tzinfo=ZONE)


@pytest.mark.parametrize(
    "text", ["", "2", "随便", "到25:00", "三点到五点", "0分钟", "明年今日此时此刻", "2小时" * 20, "9" * 40]
)
def test_other_texts_are_no_time_limit(text: str) -> None:
    """What names no length and no instant, or several, is refused."""
    assert time_limit(text, NOW) is None


def test_hours_are_counted_over_a_change_of_clocks() -> None:
    """Two hours are two hours, also where the wall clock skips one meanwhile."""
    before = datetime(2026, 3, 29, 1, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    end = time_limit("2小时", before)
    assert end is not None
    assert (end.hour, end.timestamp() - before.timestamp()) == (4, 7200.0)
