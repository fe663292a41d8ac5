"""Tests of which texts refer to somebody by name, and of adding ids behind names."""

from __future__ import annotations

import pytest

from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.text.callnames import callnames, ids_of, labelled


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("阿棠", ("阿棠",)),
        ("Betty", ("betty",)),
        ("陈皮(已还魂)", ("陈皮〔已还魂〕", "陈皮")),
        ("Ａｎｎ Lee", ("ann lee", "ann")),
        ("123456", ("123456",)),
    ],
)
def test_a_name_calls_its_bearer(name, called):
    """A person is called by their name in any width and case, and by its beginning if it has an addition."""
    assert callnames(name) == called


@pytest.mark.parametrize(
    "name", ["", "棠", "A", "今天", "大家", "什么", "我们", "本人", "2026", "me", "OK", "群主", "QQ用户", "🐱"]
)
def test_what_everybody_says_calls_nobody(name):
    """A single character, a small number, a placeholder and a very common word refer to nobody."""
    assert callnames(name) == ()


PEOPLE = (
    Person("1", "阿棠", ("小棠",)),
    Person("2", "老齐"),
    Person("3", "周末"),
    Person("4", "小满"),
    Person("5", "小满"),
    Person("6", "Bob"),
    Person("7", "老齐头"),
    Person("8", "陈皮〔已还魂〕"),
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("阿棠养猫", "阿棠(1)养猫"),
        ("小棠养猫，和老齐合租", "阿棠(1)养猫，和老齐(2)合租"),
        ("老齐头养猫", "老齐头(7)养猫"),
        ("陈皮养猫", "陈皮〔已还魂〕(8)养猫"),
        ("Bob has a cat", "Bob(6) has a cat"),
        ("阿棠(1)说小棠养猫", "阿棠(1)说小棠养猫"),
        ("阿棠(9)养猫", "阿棠(9)养猫"),
        ("小满养猫", "小满养猫"),
        ("周末养猫", "周末养猫"),
        ("Bobby has a cat", "Bobby has a cat"),
        ("买了阿棠牌面包", "买了阿棠牌面包"),
        ("", ""),
    ],
)
def test_ids_stand_behind_names_of_one_person(text: str, written: str) -> None:
    """A name of one known person gets its id; shared names, common words and parts of words are left alone."""
    assert labelled(text, PEOPLE) == written


def test_what_is_listed_by_name_is_found_by_id() -> None:
    """A person whom a model lists by an unambiguous name is that person; everything else stays as it is."""
    assert ids_of(("阿棠", "2", "小满", "谁"), PEOPLE) == ("1", "2", "小满", "谁")
