"""Tests of estimating tokens and of splitting into sentences."""

from __future__ import annotations

import pytest

from cognitive_memory_core.text.tokens import sentences_of, token_count

# The fewest and the most tokens of o200k, DeepSeek, Qwen 2.5, Qwen 3.6 and Mistral's Tekken for each text.
COUNTED = [
    ("阿棠(2000001) 最喜欢喝乌龙茶，不加糖。", 16, 28),
    ("- [2026-02-20 11:08] 周六早上七点在西门集合去爬山", 22, 35),
    ("老陆的猫叫豆包😂😂", 9, 17),
    ("The quick brown fox jumps over the lazy dog.", 10, 10),
    ('{"ok": true, "events": []}', 10, 10),
    ("這個遊戲真的很好玩", 5, 9),
    ("小满(2000005) 的电脑用的是 RTX4090 显卡，1903374426 说 v2.3.1 可以", 31, 47),
    ("懋氽", 3, 4),
]


@pytest.mark.parametrize(("text", "fewest", "most"), COUNTED)
def test_the_estimate_is_not_too_low(text: str, fewest: int, most: int) -> None:
    """The estimate is at least the largest count of these tokenisers and at most three times the smallest."""
    assert most <= token_count(text) <= 3 * fewest


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("没有句号", ["没有句号"]),
        ("一。二！三？", ["一。", "二！", "三？"]),
        ("他说：“好！”然后走了。", ["他说：“好！”", "然后走了。"]),
        ("真的吗？！（笑）好", ["真的吗？！", "（笑）好"]),
        ("一\n二\r\n三\r四", ["一\n", "二\r\n", "三\r", "四"]),
        ("Really? Yes! v2.3.1", ["Really?", " Yes!", " v2.3.1"]),
        ("。。。", ["。。。"]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    """A text is split after full stops with their closing quotes, and at line ends; nothing is lost."""
    assert sentences_of(text) == sentences
    assert "".join(sentences) == text
