"""Tests of hiding people who opted out in what others said."""

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
    """An id is hidden where it stands alone, a name wherever it occurs, and other numbers are kept."""
    assert Redaction.of(["77777"], ["王小明", "小明"])(text) == expected


@pytest.mark.parametrize("name", ["我", "今天", "他们", "a", ""])
def test_a_name_that_is_a_word_unwrites_nobody(name: str) -> None:
    """A person whose name is a common word such as 我 is hidden only where their id follows."""
    hide = Redaction.of(["77777"], [name])
    assert hide("我今天去北京，他们也去，a 也是") == "我今天去北京，他们也去，a 也是"
    if name:
        assert hide(f"{name}(77777)去北京") == "某位成员去北京"


def test_a_short_id_is_hidden_only_as_an_id() -> None:
    """A short id is not hidden inside dates and counts."""
    hide = Redaction.of(["5"], ["老王"])
    assert hide("5月15日，老王(5) 带 5 瓶水") == "5月15日，某位成员 带 5 瓶水"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("22222222", "李四(22222222)对花生过敏"),
        ("20", "11-20 李四说20人到场"),
        ("２０", "来了２０人"),
        ("三十", "来了三十人"),
        ("①②", "选①②"),
        ("😂😂", "笑死😂😂"),
        ("……", "算了……"),
        ("成员", "成员名单"),
        ("an", "banana plan"),
        ("on", "python json"),
        ("Ян", "Яна пришла"),
        ("小明", "小明(20002)和小明（u-20003）喜欢爬山"),
        ("小 明", "小 明(20002)"),
    ],
)
def test_a_name_unwrites_no_other_people(name: str, text: str) -> None:
    """A number, an emoji, a part of a longer word and a name before another person's id are kept."""
    hide = Redaction.of(["77777"], [name])
    assert hide(text) == text
    assert hide(f"{name}(77777)来了，{name}（77777）走了") == "某位成员来了，某位成员走了"


def test_a_name_before_anothers_id_stays_whole_beside_shorter_names() -> None:
    """A shorter name does not change a label of another person, and the person beside it is hidden."""
    hide = Redaction.of(["77777"], ["小明", "小明明"])
    assert hide("小明明(20002)和小明(生病)、小明明(77777)") == "小明明(20002)和某位成员(生病)、某位成员"


def test_names_in_words_apart_are_hidden_as_words() -> None:
    """A Latin name is hidden as a whole word, beside Chinese characters and beside blanks."""
    assert Redaction.of(["77777"], ["Tom"])("Tom来了，问 Tom。Tomorrow") == "某位成员来了，问 某位成员。Tomorrow"


def test_a_name_that_others_bear_hides_only_before_the_id() -> None:
    """A name that several people have is hidden only before the id of the hidden person."""
    hide = Redaction.of(["77777"], ["小明", "小刚"], ["小明"])
    assert hide("小明(77777)找小明和小刚") == "某位成员找小明和某位成员"


def test_any_number_of_names_is_found() -> None:
    """Of thousands of names and ids, those that occur in a text are hidden, including newly added names."""
    hide = Redaction.of(map(str, range(70_000, 80_000)), [f"外号{number}号" for number in range(10_000)])
    text = "外号77号请客，77777 买单，新名字和外号77(77778)作陪"
    assert hide.knowing(["新名字", ""])(text) == "某位成员请客，某位成员 买单，某位成员和外号77(某位成员)作陪"
