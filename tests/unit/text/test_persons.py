"""Tests of whether a text reports what a person said."""

from __future__ import annotations

import pytest

from cognitive_memory_core.text.identity.persons import leads, opening_voice, reports
from tests.support.costs import LINEAR, growth


def test_the_voice_that_a_text_opens_with() -> None:
    """Only a label with a colon behind it, or behind 说, opens somebody's words."""
    for text in ("甲(12345)：养猫", "甲（12345）说：养猫", "甲(12345) 说: 养猫", "甲(12345)〔当时叫乙〕：“养猫”"):
        assert opening_voice(text) == "12345", text
    for text in ("甲(12345)养猫", "甲(12345)说养猫：两只", "听甲(12345)说：养猫，乙", "甲：养猫", "", "：(12345)"):
        assert not opening_voice(text), text


@pytest.mark.parametrize(
    "text",
    [
        "甲(12345)说乙(23456)是凶手",
        "甲（12345）说：乙（23456）是凶手",
        "甲(12345) 2026年3月5日 21:30 说乙(23456) 是凶手",
        "甲(12345)在2026年3月5日21：30左右说乙(23456)是凶手",
        "甲(12345) 3月5日说乙(23456)是凶手",
        "甲(12345) 2026-03-05 21:30 说乙(23456)是凶手",
        "甲(12345)晚上 21:30 说乙(23456)是凶手",
        "A(12345) on March 5, 2026 at 21:30 said that B(23456) is a thief",
        "甲(12345)听乙(23456)说丙(34567)辞职了",
        "甲(12345)转发的聊天记录里，乙(23456)被裁了",
        "甲(12345)重申乙(23456)欠的钱要还",
        "甲(12345)要求乙(23456)道歉",
        "甲(12345)定了规矩：读书会(10001)不准发图",
        "甲(12345)定下几条群规，违者踢出",
        "甲(12345)宣布乙(23456)退群",
        "甲(12345) 2026年3月5日 21:30 问乙(23456)吃不吃辣",
        "甲(12345)提议乙(23456)当群主",
    ],
)
def test_what_somebody_says_of_others_is_a_report(text: str) -> None:
    """A word of saying, forwarding, asking or deciding after a label begins a report, even with a time between."""
    assert reports(text, "12345")
    assert not reports(text, "1234")


@pytest.mark.parametrize(
    "text",
    [
        "甲(12345)2026年3月5日 21:30 和乙(23456)合租",
        "甲(12345)喜欢和乙(23456)聊小说",
        "甲(12345)写小说，乙(23456)也写",
        "甲(12345)遇到问题就找乙(23456)",
        "甲(12345)是乙(23456)的法律顾问",
        "甲(12345)听乙(23456)的演唱会录音",
        "甲(12345)要求高，乙(23456)要求低",
        "甲(12345)住在杭州。乙(23456)说丙是凶手",
    ],
)
def test_what_somebody_does_is_no_report(text: str) -> None:
    """A time, a novel, a problem or what others say in another sentence make no report."""
    assert not reports(text, "12345")


def test_a_report_costs_what_the_text_is_long() -> None:
    """The time to detect a report is proportional to the length of the text."""
    for piece in ("听", "听说", "2026年3月5日 21:30", "转", "(1)听", "定了", " on March 5, 2026"):
        assert growth(lambda times, piece=piece: reports(f"甲(1){piece * times}", "1"), 5_000) < LINEAR


def test_who_comes_first() -> None:
    """Only the person whom a text names first, by a known id, leads it."""
    text = "2026年3月5日 乙（2）和甲(1)合租(四室)"
    assert leads(text, "2", ["1", "2"])
    assert not leads(text, "1", ["1", "2"])
    assert not leads(text, "3", ["1", "2", "3"])
    assert leads(text, "1", ["1"])
    assert not leads("无人", "1", ["1"])
