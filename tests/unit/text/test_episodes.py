"""Tests of telling an occurrence from a lasting fact."""

from __future__ import annotations

import pytest

from cognitive_memory_core.text.statements.episodes import is_episode


@pytest.mark.parametrize(
    "said",
    ["阿禾感冒发烧了", "阿禾同意了", "阿禾通过了考试", "去过北京", "要去爬山", "聚会取消", "他将出国", "She WENT home"],
)
def test_what_happens(said: str) -> None:
    """A text about something that happened or will happen is an occurrence."""
    assert is_episode(said)


@pytest.mark.parametrize("said", ["阿禾对花生过敏", "木鱼是小偷，记住", "我喜欢乌龙茶", "住在上海", "I like swill", ""])
def test_what_is_so(said: str) -> None:
    """A text that is true on any day is not an occurrence."""
    assert not is_episode(said)
