"""Tests of time expressions in questions and in statements."""

from __future__ import annotations

from datetime import datetime, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.text.time.time_words import READ, time_window
from tests.support.clock import NOON, SHANGHAI
from tests.support.dated import window, with_dates

PIECES = [
    "last week",
    "in March",
    " ",
    *["昨天", "上周", "周三", "三月", "3月3日", "2025年", "两天前", "半", "个", "月", "年", "前", "3/4", "到"],
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("今天聊了什么", "2026-03-04"),
        ("昨天说的那件事", "2026-03-03"),
        ("前天", "2026-03-02"),
        ("明天有什么安排", "2026-03-05"),
        ("今明两天", "2026-03-04 2026-03-05"),
        ("二月头几天我们在干嘛", "2026-02-01 2026-02-05"),
        ("二月最后三天谁来了", "2026-02-26 2026-02-28"),
        ("上个月的头一天", "2026-02-01"),
        ("去年这个时候在忙什么", "2025-02-17 2025-03-19"),
        ("去年三八节送了什么", "2025-03-08"),
        ("今早", "03-04 05:00 03-04 12:00"),
        ("昨晚谁迟到了", "03-03 17:00 03-04 05:00"),
        ("昨天下午", "03-03 12:00 03-03 19:00"),
        ("上周做了什么", "2026-02-23 2026-03-01"),
        ("本周", "2026-03-02 2026-03-08"),
        ("上周末", "2026-02-28 2026-03-01"),
        ("周末去哪了", "2026-02-28 2026-03-01"),
        ("上周三", "2026-02-25"),
        ("周三", "2026-03-04"),
        ("周一到周三", "2026-03-02 2026-03-04"),
        ("周一到周五谁值班", "2026-03-02 2026-03-06"),
        ("上个月", "2026-02-01 2026-02-28"),
        ("本月", "2026-03-01 2026-03-31"),
        ("下个月", "2026-04-01 2026-04-30"),
        ("上个月15号", "2026-02-15"),
        ("月底", "2026-03-21 2026-03-31"),
        ("三月", "2026-03-01 2026-03-31"),
        ("４月", "2025-04-01 2025-04-30"),
        ("十二月", "2025-12-01 2025-12-31"),
        ("3月3日", "2026-03-03"),
        ("2月29日", "2024-02-29"),
        ("三月初", "2026-03-01 2026-03-10"),
        ("二月下旬", "2026-02-21 2026-02-28"),
        ("二月中谁生病了", "2026-02-11 2026-02-20"),
        ("去年十月中的事", "2025-10-11 2025-10-20"),
        ("15号说了什么", "2026-02-15"),
        ("2025年", "2025-01-01 2025-12-31"),
        ("二〇二五年三月", "2025-03-01 2025-03-31"),
        ("去年三月", "2025-03-01 2025-03-31"),
        ("去年夏天", "2025-06-01 2025-08-31"),
        ("2025年第三季度", "2025-07-01 2025-09-30"),
        ("上半年", "2026-01-01 2026-06-30"),
        ("年底", "2026-11-01 2026-12-31"),
        ("两天前", "2026-03-02"),
        ("两周前", "2026-02-15 2026-02-21"),
        ("三个月前", "2025-11-19 2025-12-19"),
        ("一个半月前", "2026-01-13 2026-01-27"),
        ("半年前", "2025-06-04 2025-12-04"),
        ("三年前", "2022-09-04 2023-09-04"),
        ("half a year ago", "2025-06-04 2025-12-04"),
        ("3个小时前", "03-04 08:30 03-04 09:30"),
        ("两三天前", "2026-02-27 2026-03-02"),
        ("几天前", "2026-02-27 2026-03-02"),
        ("最近三天", "2026-03-01 2026-03-04"),
        ("过去一周", "2026-02-25 2026-03-04"),
        ("三天后", "2026-03-07"),
        ("刚才说到哪了", "03-04 10:00 03-04 12:01"),
        ("2026-03-02 的会议", "2026-03-02"),
        ("3/2", "2026-03-02"),
        ("3月1日到3月5日", "2026-03-01 2026-03-05"),
        ("去年十二月到今年二月", "2025-12-01 2026-02-28"),
        ("yesterday's meeting", "2026-03-03"),
        ("LaSt WeEk", "2026-02-23 2026-03-01"),
        ("last March", "2025-03-01 2025-03-31"),
        ("last Friday", "2026-02-27"),
        ("what happened on Friday", "2026-02-27"),
        ("in March", "2026-03-01 2026-03-31"),
        ("March 2024", "2024-03-01 2024-03-31"),
        ("Dec 31, 1999", "1999-12-31"),
        ("two days ago", "2026-03-02"),
        ("a few days ago", "2026-02-27 2026-03-02"),
        ("couple of weeks ago", "2026-02-11 2026-02-25"),
        ("from March 1 to March 3", "2026-03-01 2026-03-03"),
        ("10 de julio de 2025", "2025-07-10"),
        ("août 2024", "2024-08-01 2024-08-31"),
        ("il y a 5 jours", "2026-02-27"),
        ("letztes Jahr", "2025-01-01 2025-12-31"),
        ("第三季度的预算", "2025-07-01 2025-09-30"),
        ("what happened in the first quarter", "2026-01-01 2026-03-31"),
        ("暑假去了哪里", "2025-07-01 2025-08-31"),
        ("五月十二谁来了", "2025-05-12"),
        ("上个月第二个周日", "2026-02-01 2026-02-28"),
        ("the last three days", "2026-03-01 2026-03-04"),
        ("20号之前", "2026-02-01 2026-02-19"),
        ("before the 20th", "2026-02-01 2026-02-19"),
        ("10月3号和11月5号各说了什么", "2025-10-03 2025-11-05"),
        ("上周和这周分别做了什么", "2026-02-23 2026-03-08"),
    ],
)
def test_window(text: str, expected: str) -> None:
    """A time expression in a question means the window that a reader would mark on a calendar, in the past."""
    assert window(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "这个功能怎么用",
        "三月七说过什么",
        "五月天的歌",
        "每周三的例会",
        "两个码头",
        "对方便面过敏",
        "现在住在哪里",
        "最近怎么样",
        "以前天天熬夜",
        "后天性近视",
        "路上周围都是人",
        "2/3的人同意",
        "3:30pm",
        "QQ 28471095",
        "2020-13-45",
        "2024年2月30日",
        "0000-00-00",
        "june 0000",
        "9999999天前",
        "yesterdays",
        "mar",
        "we march on",
        "every Friday",
        "https://example.com/docs/page?id=42",
        "明天见书店在哪",
        "老周末尾说了什么",
        "第二个周日去了哪里",
        "平时周末去哪玩",
        "每个月第二个周日开会",
        "held on the second Sunday of each month",
        "周末是谁",
        "@周末 喜欢什么",
        "how much per month",
    ],
)
def test_no_window(text: str) -> None:
    """A text that only looks like a time, an impossible date, a habit or a rate gives no window."""
    assert time_window(text, NOON) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("三月底四月初谁生病了", "2026-03-21 2026-04-10"),
        ("三月四月谁生病了", "2026-03-01 2026-04-30"),
        ("上个月底这个月初", "2026-04-21 2026-05-10"),
        ("去年底今年初", "2025-11-01 2026-02-28"),
        ("十二月底一月初", "2025-12-21 2026-01-10"),
        ("前天昨天", "2026-05-18 2026-05-19"),
        ("3月1日3月2日", "2026-03-01 2026-03-02"),
        ("三月底四月中", "2026-03-21 2026-03-31"),
        ("三月底，四月初", "2026-03-21 2026-03-31"),
        ("三月底的四月初", "2026-03-21 2026-03-31"),
        ("三月底五月初", "2026-03-21 2026-03-31"),
        ("五月初四月底", "2026-05-01 2026-05-10"),
        ("昨天前天", "2026-05-19"),
        ("前天昨天今天", "2026-05-18 2026-05-20"),
    ],
)
def test_two_expressions_that_touch_are_one(text: str, expected: str) -> None:
    """Adjacent expressions form one window if each ends where the next begins; otherwise the first counts."""
    assert window(text, datetime(2026, 5, 20, 12, tzinfo=SHANGHAI)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("下午三点", "03-03 15:00 03-03 16:00"),
        ("零点谁还没睡", "03-04 00:00 03-04 01:00"),
        ("晚上八点半", "03-03 20:30 03-03 21:00"),
        ("晚上12点谁还在", "03-04 00:00 03-04 01:00"),
        ("下午三点到五点聊了什么", "03-03 15:00 03-03 17:00"),
        ("傍晚", "03-03 16:00 03-03 20:00"),
        ("at 3pm", "03-03 15:00 03-03 16:00"),
        ("at noon yesterday", "03-03 11:00 03-03 14:00"),
        ("昨天下午三点", "03-03 15:00 03-03 16:00"),
        ("昨晚两点", "03-04 02:00 03-04 03:00"),
    ],
)
def test_hours(text: str, expected: str) -> None:
    """Hours belong to the day beside them, otherwise to the latest day with them."""
    assert window(text) == expected


@pytest.mark.parametrize("zone", [SHANGHAI, timezone.utc, ZoneInfo("America/New_York")], ids=str)
def test_window_in_the_zone_of_the_reference(zone: tzinfo) -> None:
    """Days begin at midnight in the zone of the reference, also on days when the clocks change."""
    found = time_window("昨天", datetime(2026, 3, 9, 0, 30, tzinfo=zone))
    assert found is not None
    assert (found.start, found.stop) == (datetime(2026, 3, 8, tzinfo=zone), datetime(2026, 3, 9, tzinfo=zone))


def test_only_the_first_characters_are_read() -> None:
    """A time expression beyond the reading limit is ignored."""
    assert time_window("好" * READ + "昨天", NOON) is None
    assert with_dates("好" * READ + "昨天", NOON) == "好" * READ + "昨天"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("昨天", datetime(1, 1, 2, tzinfo=SHANGHAI)),
        ("明天", datetime.max.replace(tzinfo=SHANGHAI)),
        ("0001-01-01 00:00", NOON),
    ],
)
def test_no_window_beyond_the_calendar(text: str, moment: datetime) -> None:
    """A window that another time zone's calendar cannot represent is not returned, so that no store overflows."""
    assert time_window(text, moment) is None


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join), st.datetimes())
def test_any_text_gives_a_sound_window(text: str, moment: datetime) -> None:
    """Any text and any reference work; a window is never empty and can be converted to any zone."""
    found = time_window(text, moment.replace(tzinfo=SHANGHAI))
    assert found is None or found.start.astimezone(timezone.utc) < found.stop.astimezone(timezone.utc)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("昨天买了票", "2026年3月3日买了票"),
        ("下周三开会", "2026年3月11日开会"),
        ("昨天下午没睡", "2026年3月3日下午没睡"),
        ("明天下午三点到", "2026年3月5日下午三点到"),
        ("明天早点睡", "2026年3月5日早点睡"),
        ("昨天晚上周杰伦开演唱会", "2026年3月3日晚上周杰伦开演唱会"),
        ("See you TOMORROW morning", "See you 2026年3月5日早上"),
        ("上週二去的", "2026年2月24日去的"),
    ],
)
def test_dates_in_statements(said: str, meant: str) -> None:
    """A relative word that means one day gets the date of that day, counted from the day of speaking."""
    assert with_dates(said, NOON) == meant


@pytest.mark.parametrize(
    "said",
    [
        "周五开会",
        "年糕那针挪到18号了",
        "每周三跑步",
        "几天前搬的家",
        "刚才吃了药",
        "上周末去爬山",
        "三个月前辞职",
        "生日是3月4日",
        "《昨天》是一首歌",
        "他说“明天见”",
        "以前天天熬夜",
    ],
)
def test_what_cannot_be_told_stays(said: str) -> None:
    """What means no single day, or a day that is uncertain, gets no date, nor does a quotation."""
    assert with_dates(said, NOON) == said


def test_a_time_word_as_a_name_disarms_nothing() -> None:
    """A name that is a time word is kept only where the person's id follows."""
    assert with_dates("昨天(2000012)昨天来了", NOON, ["昨天"]) == "昨天(2000012)2026年3月3日来了"


@pytest.mark.parametrize("moment", [datetime(1, 1, 1, tzinfo=SHANGHAI), datetime(9999, 12, 31, 23, tzinfo=SHANGHAI)])
def test_dates_at_the_ends_of_the_calendar(moment: datetime) -> None:
    """At the limits of the calendar no error is raised, and what cannot be dated is kept."""
    assert with_dates("昨天和明天", moment)


def test_a_member_called_by_a_time_word_is_no_time() -> None:
    """A time word that is a known name in the place names nobody's days."""
    assert time_window("周末喜欢吃什么", NOON) is not None
    assert time_window("周末喜欢吃什么", NOON, {"周末"}) is None
    assert time_window("周末上周说了什么", NOON, {"周末"}) == time_window("上周说了什么", NOON)
