"""Tests of holidays in time expressions."""

from __future__ import annotations

import pytest

from cognitive_memory_core.text.time.time_words import mentions
from tests.support.dated import window


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("元旦去哪玩了", "2026-01-01"),
        ("情人节送的什么", "2026-02-14"),
        ("妇女节谁放假", "2025-03-08"),
        ("清明回老家了吗", "2025-04-04 2025-04-06"),
        ("五一去哪玩了", "2025-05-01 2025-05-05"),
        ("六一送了什么", "2025-06-01"),
        ("高考那几天", "2025-06-07 2025-06-09"),
        ("国庆去哪玩了", "2025-10-01 2025-10-07"),
        ("万圣节扮什么", "2025-10-31"),
        ("双十一买了什么", "2025-11-11"),
        ("双１１买了什么", "2025-11-11"),
        ("平安夜在哪过的", "2025-12-24"),
        ("圣诞谁加班", "2025-12-24 2025-12-25"),
        ("国庆前说要去哪", "2025-09-17 2025-09-30"),
        ("五一以前", "2025-04-17 2025-04-30"),
        ("国庆后谁生病了", "2025-10-08 2025-10-21"),
        ("圣诞节后第一天", "2025-12-26 2026-01-08"),
        ("国庆前后谁请假", "2025-10-01 2025-10-07"),
        ("国庆后台崩了", "2025-10-01 2025-10-07"),
        ("国庆后天气怎么样", "2025-10-01 2025-10-07"),
        ("去年国庆", "2025-10-01 2025-10-07"),
        ("2023年国庆后", "2023-10-08 2023-10-21"),
        ("春节去哪玩", "2026-02-17 2026-02-23"),
        ("去年除夕", "2025-01-28"),
        ("元宵节", "2026-03-03"),
        ("2020年端午", "2020-06-25"),
        ("2023年七夕", "2023-08-22"),
        ("中秋聚餐谁没来", "2025-10-06"),
        ("明年中秋", "2027-09-15"),
        ("重阳节", "2025-10-29"),
        ("国庆到元旦", "2025-10-01 2026-01-01"),
    ],
)
def test_a_holiday_is_the_latest_one_that_began(text: str, expected: str) -> None:
    """A holiday means its own days; before or after it means the two weeks there."""
    assert window(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "五一路堵车",
        "五一广场见",
        "清明上河图",
        "国庆假期作业写完没",
        "二十五一盒",
        "15六一",
        "五一二三",
        "双十一二",
        "周六一起去爬山",
        "三月五一群人",
        "初六一起拜年",
        "三百五一晚",
        "中秋月饼模具",
        "春节序曲",
    ],
)
def test_what_only_looks_like_a_holiday_names_no_days_of_one(text: str) -> None:
    """A street, a number or a weekday that contains the characters of a holiday is none."""
    assert not [mention for mention in mentions(text) if text[mention.start : mention.stop] in _HOLIDAYS]


_HOLIDAYS = ("五一", "六一", "高考", "清明", "国庆", "双11", "双十一", "中秋", "春节")
