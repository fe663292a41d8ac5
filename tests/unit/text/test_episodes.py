"""What happens is told from what is so."""

from __future__ import annotations

import pytest

from cognitive_memory_core.text.statements.episodes import is_episode


@pytest.mark.parametrize(
    "said",
    ["阿禾感冒发烧了", "阿禾同意了", "阿禾通过了考试", "去过北京", "要去爬山", "聚会取消", "他将出国", "She WENT home"],
)
def test_what_happens(said: str) -> None:
    """It happened, or will, and may happen another time."""
    assert is_episode(said)


@pytest.mark.parametrize("said", ["阿禾对花生过敏", "木鱼是小偷，记住", "我喜欢乌龙茶", "住在上海", "I like swill", ""])
def test_what_is_so(said: str) -> None:
    """It says the same on any day."""
    assert not is_episode(said)
