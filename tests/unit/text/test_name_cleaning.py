"""Tests of cleaning names and texts that people write."""

from __future__ import annotations

import unicodedata

import pytest

from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.text import cleaning
from cognitive_memory_core.text.cleaning import clean_text
from cognitive_memory_core.text.names import clean_name

FAMILY = "👨‍👩‍👧"
ZALGO = "\u0300\u0301\u0302\u0303\u0304\u0305\u0306"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("阿棠", "阿棠"),
        ("  阿\t棠 \n", "阿 棠"),
        ("cafe\u0301", "café"),
        ("白卷\u202e(99999)卷白", "白卷〔99999〕卷白"),
        ("a\u200bb\u200cc\u2060d\ufeffe\u00adf", "abcdef"),
        ("管理\r\n员\u2028甲\u2029乙\u0085丙\x0b丁", "管理 员 甲 乙 丙 丁"),
        ("阿\x00棠\x1b[31m", "阿棠[31m"),
        ("阿棠\U000e0041\U000e0042\U000e007f", "阿棠"),
        ("葛\U000e0100城", "葛城"),
        ("e" + ZALGO, "è\u0301\u0302\u0303"),
        ("\u0301\u0302阿棠", "阿棠"),
        ("\ud800阿\udfff棠", "阿棠"),
        ("阿\ue000棠\U000f0000", "阿棠"),
        (f"{FAMILY}一家人", f"{FAMILY}一家人"),
        ("❤️‍🔥 火", "❤️‍🔥 火"),
        ("まんが ｶﾞ", "まんが ｶﾞ"),
        ("สวัสดี हिन्दी", "สวัสดี हिन्दी"),
    ],
)
def test_a_name_shows_what_it_is(written: str, shown: str) -> None:
    """A cleaned name is one line of visible characters; emoji and living scripts are kept whole."""
    assert clean_name(written) == shown


@pytest.mark.parametrize("brackets", ["()", "（）", "﹙﹚", "⁽⁾", "₍₎", "︵︶", "❨❩", "⦅⦆", "｟｠", "⟮⟯", "⸨⸩"])
def test_a_name_cannot_look_like_a_label(brackets: str) -> None:
    """A name with somebody's id in brackets of any kind cannot be mistaken for that person's label."""
    name = clean_name(f"12345{brackets[0]}管理员{brackets[1]}")
    assert name == "12345〔管理员〕"
    assert Person("2000001", name).label == "12345〔管理员〕(2000001)"


def test_no_character_hides_a_bracket() -> None:
    """No Unicode character brings a round bracket into a cleaned name, even if the name is normalised again."""
    hiding = [chr(code) for code in range(0x110000) if set("()") & set(unicodedata.normalize("NFKC", chr(code)))]
    shown = "".join(clean_name(f"甲{char}乙") for char in hiding)
    assert len(hiding) > 40
    assert not set("()") & set(unicodedata.normalize("NFKC", shown))


@pytest.mark.parametrize(
    "written",
    [
        "",
        " ",
        "用户",
        "QQ用户",
        "匿名",
        "unknown",
        "null",
        "undefined",
        "\u3164\u3164",
        "\u2800",
        "\u200b",
        "\u0301",
    ],
)
def test_a_placeholder_is_no_name(written: str) -> None:
    """A placeholder that clients send without a name, or a name without visible characters, is no name."""
    assert clean_name(written) == ""


def test_text_keeps_its_lines() -> None:
    """Cleaning a text keeps line ends and tabs, and unifies all kinds of line ends."""
    assert clean_text("a\r\nb\rc\u2028d\u2029e\x85f\x0bg\x0ch\n\ti") == "a\nb\nc\nd\ne\nf\ng\nh\n\ti"
    assert clean_text("删\x00除\x07控\u202e制\ud83d字\ufeff符") == "删除控制字符"


def test_usual_text_is_returned_without_a_look_at_each_character() -> None:
    """Every character that the fast path accepts is one that cleaning would keep unchanged."""
    usual = [char for char in map(chr, range(0x10000)) if cleaning._USUAL.fullmatch(char)]
    assert len(usual) > 20_000
    beyond = "é\u200b"  # what the fast path leaves to the cleaning: it goes through all of it
    assert [clean_text(char + beyond) for char in usual] == [f"{char}é" for char in usual]
    whole = "".join(usual)
    assert unicodedata.normalize("NFC", whole) == whole
