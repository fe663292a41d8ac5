"""Tests of detecting amounts of money that the source does not contain."""

from __future__ import annotations

import pytest

from cognitive_memory_core.text.statements.money_amounts import strange_amounts
from tests.support.costs import LINEAR, growth


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("付了67.5元", "67块5"),
        ("付了67元5角", "67.5"),
        ("付了67块5", "67块5买的"),
        ("付了67块5毛", "六十七块五"),
        ("付了3.5元", "三块半"),
        ("付了3200元", "三千二"),
        ("付了3200元", "3k2"),
        ("付了1.2万元", "一万二"),
        ("付了12000元", "1.2w"),
        ("付了1.2万", "12,000"),
        ("付了25000元", "2万5"),
        ("付了四千块钱", "4k"),
        ("付了150元", "一百五"),
        ("付了两百多元", "200多"),
        ("付了1000元", "千把块"),
        ("付了3000元至5000元", "三五千块"),
        ("付了1800元", "1,800"),
        ("交50元3次", "交50 三次"),
        ("付了340元", "500张340"),
        ("付了50美元", "50刀"),
    ],
)
def test_what_was_given_in_another_form(text: str, given: str) -> None:
    """An amount may be written in any form of the number that the source contains."""
    assert strange_amounts(text, given) == []


@pytest.mark.parametrize(
    ("text", "given", "strange"),
    [
        ("付了675元", "67块5", ["675元"]),
        ("付了三百块", "三千", ["三百块"]),
        ("付了12万", "1.2万", ["12万"]),
        ("付了1200元", "1.2万", ["1200元"]),
        ("付了50美元，找回7元", "60", ["50美元", "7元"]),
        ("共225元", "三个人 每人75", ["225元"]),
        ("付了67元9角", "68块", ["67元9"]),
        ("付了9块钱，又付了9块钱", "", ["9块钱"]),
    ],
)
def test_what_nobody_gave(text: str, given: str, strange: list[str]) -> None:
    """A moved, lost or summed digit makes an amount that is not in the source; each is reported once."""
    assert strange_amounts(text, given) == strange


@pytest.mark.parametrize(
    "text", ["分了三块蛋糕", "一块去爬山", "2027元旦放假", "住了9天", "12元素", "年满18岁", "两万五千里", "3月5日", ""]
)
def test_no_money(text: str) -> None:
    """Pieces, days, and numbers without a unit of money are no amounts."""
    assert strange_amounts(text, "") == []


def test_floods_of_amounts() -> None:
    """The time for a text of numbers only is proportional to its length."""
    for piece in ("1", "1,", "千", "1.2万", "三块", "1元", "1 ", "零"):
        assert growth(lambda times, piece=piece: strange_amounts(piece * (times // 8), piece * times), 16_000) < LINEAR
