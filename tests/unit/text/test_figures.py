"""Tests of the figures of a statement against those of its lines, by kind and value."""

from __future__ import annotations

from datetime import datetime

import pytest

from cognitive_memory_core.text.numbers import Line, strange_figures, values_of

WEDNESDAY = datetime(2026, 3, 4, 15, 0)  # noqa: DTZ001  # wall-clock time of the place


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("欠300元", "欠我三百块"),
        ("花了12000元", "花了1.2万"),
        ("2026年3月5日交", "明天交"),
        ("2026年3月13日交", "下周五交"),
        ("2026年3月6日交", "周五交"),
        ("2026年3月21日交", "改到21"),
        ("2026年3月4日说不来", "我不来了"),
        ("20:00开会", "晚上8点开会"),
        ("15:30到", "下午三点半到"),
        ("9:00到", "那就9吧"),
        ("每周四开会", "周四开会"),
        ("阿棠(2000001)一起去", "一起去"),
        ("moved to March 5, 2026", "let's do it tomorrow"),
        ("on the night of March 4, 2026", "not tonight"),
        ("电费386.5元，每人77.3元", "电费386块5，每人77块3"),
        ("在3号场", "3号场见"),
        ("每月25号前交", "提前到25号前交"),
        ("away from March 9 to 11, 2026", "I'm away March 9 to 11"),
        ("off on Fridays from April 2026", "From April I'm off on Fridays"),
    ],
)
def test_a_figure_of_the_lines_is_given(statement: str, line: str) -> None:
    """The same value is given however it is written, and the hints of a line give the days that they mean."""
    assert strange_figures(statement, [Line(line, WEDNESDAY)]) == []


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("每月24号前交", "提前到25号前交"),
        ("七人去", "九人去，不是7号"),
        ("欠21元", "21号还你"),
        ("欠3元", "3月4日还你"),
        ("2026年3月14日交", "下周五交"),
        ("21:00开会", "晚上8点开会"),
        ("每周六开会", "每周三开会"),
        ("欠400元", "欠我三百块"),
        ("v1.5.8", "升到v1.5.9"),
        ("pays 60", "pays 50"),
        ("away from March 9 to 11, 2026", "I'm away March 19 to 21"),
    ],
)
def test_another_figure_is_strange(statement: str, line: str) -> None:
    """A changed value is found, and a figure of one kind vouches for none of another kind."""
    assert strange_figures(statement, [Line(line, WEDNESDAY)])


def test_the_hour_of_a_line_vouches_only_where_it_tells_no_time() -> None:
    """What was said at 15:20 may be told as 3点; a line with a time of its own gives that time and no other hour."""
    said_at = WEDNESDAY.replace(minute=20)
    assert strange_figures("3点到家", [Line("到家了", said_at)]) == []
    assert strange_figures("3点开会", [Line("4点开会", said_at)])


def test_figures_are_compared_between_statements() -> None:
    """Two statements have equal figures however these are written."""
    assert values_of("欠300元，20:00还") == values_of("晚上8点还三百块")
    assert values_of("欠300元") != values_of("欠400元")
