"""Tests of lines that lay down a rule of a group."""

from __future__ import annotations

import pytest

from cognitive_memory_core.text.statements.group_rules import lays_down_rule


@pytest.mark.parametrize(
    "line",
    [
        "立个规矩吧 晚上九点以后谁都别催稿",
        "以后周报统一发邮箱",
        "从下周起例会改周三",
        "不许在群里卖东西",
        "例会先停两周",
        "剧透的请奶茶 写进群规",
        "From now on reports go to the wiki",
    ],
)
def test_a_rule_is_laid_down(line: str) -> None:
    """A line that says how the group does something from then on lays down a rule."""
    assert lays_down_rule(line)


@pytest.mark.parametrize(
    "line",
    [
        "以后都要开会吗",
        "能不能以后统一发邮箱",
        "我以后都不喝咖啡了",
        "明天开会",
        "这家店必须预约吗？",
        "今天天气不错",
        "",
    ],
)
def test_questions_and_resolutions_lay_down_nothing(line: str) -> None:
    """A question, a proposal and what somebody resolves for themselves are no rules of the group."""
    assert not lays_down_rule(line)
