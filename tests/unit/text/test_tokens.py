"""What a text costs, and where it may be cut."""

from __future__ import annotations

import pytest

from cognitive_memory_core.text.tokens import sentences_of, token_count


@pytest.mark.parametrize(
    ("text", "cl100k", "o200k"),
    [
        ("阿棠(2000001) 最喜欢喝乌龙茶，不加糖。", 29, 18),
        ("- [2026-02-20 11:08] 周六早上七点在西门集合去爬山", 33, 27),
        ("老陆的猫叫豆包😂😂", 15, 9),
        ("The quick brown fox jumps over the lazy dog.", 10, 10),
        ('{"ok": true, "events": []}', 10, 10),
        ("這個遊戲真的很好玩", 15, 7),
        ("小满(2000005) 的电脑用的是 RTX4090 显卡，1903374426 说 v2.3.1 可以", 40, 31),
    ],
)
def test_the_estimate_is_seldom_too_low(text: str, cl100k: int, o200k: int) -> None:
    """The estimate is at most a few percent under what real vocabularies need, and about twice it at the most."""
    assert 0.93 * max(cl100k, o200k) <= token_count(text) <= 2.1 * min(cl100k, o200k)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("的", 2), ("word", 1), ("你好吗", 4), ("\n", 1)])
def test_the_rule_is_plain(text: str, tokens: int) -> None:
    """The estimate is the sum of what each character counts, rounded up."""
    assert token_count(text) == tokens


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
    """A text parts after its full stops, with the quotes they close, and at line ends; nothing is lost."""
    assert sentences_of(text) == sentences
    assert "".join(sentences) == text
