"""How people who want to be left out vanish from what others said."""

from __future__ import annotations

import pytest

from cognitive_memory_core.text.redaction import Redaction


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("王小明(77777)请客了", "某位成员请客了"),
        ("王小明请客，77777 买单", "某位成员请客，某位成员 买单"),
        ("@77777 你好", "@某位成员 你好"),
        ("小明请客", "某位成员请客"),
        ("电话 13777770010", "电话 13777770010"),
        ("订单 a77777", "订单 a77777"),
        ("别人的事", "别人的事"),
    ],
)
def test_ids_and_names_are_hidden_whole(text: str, expected: str) -> None:
    """An id is hidden where it stands alone and a name wherever it stands; other numbers stay what they are."""
    assert Redaction.of(["77777"], ["王小明", "小明"])(text) == expected


@pytest.mark.parametrize("name", ["我", "今天", "他们", "a", ""])
def test_a_name_that_is_a_word_unwrites_nobody(name: str) -> None:
    """Whoever calls themselves 我 hides only where their id stands beside it."""
    hide = Redaction.of(["77777"], [name])
    assert hide("我今天去北京，他们也去，a 也是") == "我今天去北京，他们也去，a 也是"
    if name:
        assert hide(f"{name}(77777)去北京") == "某位成员去北京"


def test_a_short_id_is_hidden_only_as_an_id() -> None:
    """A short id does not eat days and counts."""
    hide = Redaction.of(["5"], ["老王"])
    assert hide("5月15日，老王(5) 带 5 瓶水") == "5月15日，某位成员 带 5 瓶水"


def test_nobody_to_hide_changes_nothing() -> None:
    """Without anybody who left, every text stays as it is."""
    assert Redaction()("王小明(77777)") == "王小明(77777)"
