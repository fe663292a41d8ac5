"""Tests of merging profiles by rules: a fact is quoted as it was said."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from cognitive_memory_core.domain.event import EventKind, Fact
from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.historian.rules import RuleMerger
from cognitive_memory_core.ports import MergedLine, MergedLines, MergeInput
from tests.support.clock import NOON

KEY = ProfileKey.member("10001", "2000001")
TANG = Person("2000001", "阿棠")


def a_fact(text: str, kind: EventKind = "event", at: datetime = NOON) -> Fact:
    """Return a fact about the person, who said these words."""
    return Fact(KEY, text, text, kind, at)


async def lines(*facts: Fact, is_group: bool = False) -> list[tuple[str, str]]:
    """Merge by rules; return headings and lines."""
    merged = await RuleMerger().merge(MergeInput(TANG, facts, is_group=is_group), NOON + timedelta(days=9))
    return [(line.title, line.text) for line in merged.lines]


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("我不吃辣", ("兴趣", "“我不吃辣”（记于 2026-03-04）")),
        ("我喜欢喝第 3 号茶 你们呢", ("兴趣", "“我喜欢喝第 3 号茶”（记于 2026-03-04）")),
        ("哈哈 我对花生过敏，别给我买", ("兴趣", "“我对花生过敏”（记于 2026-03-04）")),
        ("我在青岛上班", ("身份", "“我在青岛上班”（记于 2026-03-04）")),
        ("我平时用的是neovim", ("常用工具", "“我平时用的是neovim”（记于 2026-03-04）")),
        ("i'm allergic to peanuts", ("兴趣", "“i'm allergic to peanuts”（记于 2026-03-04）")),
    ],
)
async def test_a_fact_gives_its_lasting_clause(said: str, line: tuple[str, str]) -> None:
    """Of a fact the clause stays in which its speaker says something lasting of themselves, however short it is."""
    assert await lines(a_fact(said)) == [line]


@pytest.mark.parametrize(
    "said", ["我今天好累", "我去洗澡了", "我喜欢谁你猜", "我是管理员", "我欠他五百块", "梦见我养了猫"]
)
async def test_what_does_not_last_stays_an_event(said: str) -> None:
    """What passes, asks, supposes, or speaks of rank or debts gives no line."""
    assert await lines(a_fact(said)) == []


async def test_what_a_historian_found_lasting_is_quoted_whole() -> None:
    """A preference or knowledge without such a clause is quoted as it was said; rank and debts are not."""
    assert await lines(a_fact("乌龙茶永远的神", "preference")) == [("兴趣", "“乌龙茶永远的神”（记于 2026-03-04）")]
    assert await lines(a_fact("我可是群主", "knowledge")) == []


async def test_who_takes_something_back_has_both_lines() -> None:
    """Of two facts that contradict each other both stay, each with its day."""
    told = [[a_fact("我吃素")]]
    over = a_fact("我现在不吃素了", at=NOON + timedelta(days=1))
    merged = await RuleMerger().merge(MergeInput(TANG, [over], told), NOON + timedelta(days=9))
    assert merged == MergedLines((MergedLine("兴趣", "“我现在不吃素了”（记于 2026-03-05）", (over.event_id,)),))


async def test_a_groups_fact_is_its_lines() -> None:
    """A fact of a group stands as the lines that were said, each with its speaker."""
    said = "航哥(2000002)：“周会定在每周二21:00” 晴天(2000003)：“行”"
    assert await lines(a_fact(said, "knowledge"), is_group=True) == [("现状", f"{said}（记于 2026-03-04）")]
