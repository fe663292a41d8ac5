"""Tests of which people a question names."""

from __future__ import annotations

import pytest

from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.recall.names import MOST_PEOPLE, NOBODY, READ, CurrentNames, Names
from tests.support.builders import GROUP, OTHER_GROUP
from tests.support.ports import direct

PEOPLE = (
    Person("2000001", "阿棠", ("棠棠", "今天")),
    Person("2000002", "小满满", ("夜航船",)),
    Person("2000003", "小满"),
    Person("2000004", "Ann Lee"),
    Person("2000005", "棠"),
    Person("2000006", "读书-甲"),
    Person("2000007", "读书-乙"),
    Person("bob", "Robert"),
    Person("42", "12345678"),
)


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("阿棠喜欢喝什么", {"2000001"}),
        ("棠棠今天来吗", {"2000001"}),
        ("海棠花开了", set()),
        ("夜航船最近在干嘛", {"2000002"}),
        ("小满满和小满谁高", {"2000002", "2000003"}),
        ("小满满在吗", {"2000002"}),
        ("what does ANN LEE like", {"2000004"}),
        ("Ann's cat", {"2000004"}),
        ("my annual plan, joann", set()),
        ("今天吃什么", set()),
        ("读书会几点", set()),
        ("读书-甲来吗", {"2000006"}),
        ("@2000003 在吗", {"2000003"}),
        ("阿棠(2000001)在吗", {"2000001"}),
        ("2000004喜欢什么", {"2000004"}),
        ("２０００００４喜欢什么", {"2000004"}),
        ("(bob) 在吗", {"bob"}),
        ("bob 在吗", set()),
        ("42 是多少", set()),
        ("@42 在吗", {"42"}),
        ("@87654321 是谁", {"87654321"}),
        ("花了87654321元", set()),
        ("@12345678 在吗", {"12345678"}),
        ("12345678 在吗", {"42"}),
        ("", set()),
    ],
)
def test_people_are_named_by_name_alias_or_id(said, named):
    """The longest name counts, an id in an id position comes before a name of digits, and common words name nobody."""
    assert Names.of(PEOPLE).named(said) == named


PARTS = (
    Person("2000001", "海棠未眠", ("阿棠",)),
    Person("2000002", "齐师傅修船", ("老齐",)),
    Person("2000003", "林晓雨"),
    Person("2000004", "电子木鱼"),
    Person("2000005", "饺子"),
    Person("2000006", "煎饺子侠"),
    Person("2000007", "欠煎饼一份"),
)


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("给海棠看图前要避什么雷", {"2000001"}),
        ("海棠未眠是谁", {"2000001"}),
        ("齐师傅来吗", {"2000002"}),
        ("老齐在吗", {"2000002"}),
        ("晓雨几点到", {"2000003"}),
        ("电子产品买哪个", set()),
        ("饺子呢", {"2000005"}),
        ("煎饺好吃", {"2000006"}),
    ],
)
def test_a_part_of_a_name_that_only_one_person_bears_names_them(said, named):
    """The beginning of a long name and a given name name their only bearer."""
    assert Names.of(PARTS).named(said) == named


def test_only_the_beginning_and_the_latest_are_looked_at():
    """Only the beginning of a long text and the most recent people are considered."""
    crowd = [Person(f"p{number}", f"路人第{number}号") for number in range(MOST_PEOPLE + 1)]
    assert Names.of(crowd).named(f"路人第{MOST_PEOPLE - 1}号在吗") == {f"p{MOST_PEOPLE - 1}"}
    assert Names.of(crowd).named(f"路人第{MOST_PEOPLE}号在吗") == frozenset()
    assert Names.of(PEOPLE).named("字" * READ + "阿棠") == frozenset()


class Book:
    """A store of names that counts its reads."""

    def __init__(self, people=PEOPLE):
        """Know these people in every place."""
        self.people_here = list(people)
        self.read = []

    @direct
    def people(self, _, scope, user_ids=()):
        """Return the same people for every scope."""
        self.read.append(scope)
        return list(self.people_here)


def known_at(known, scene):
    """Return the names known in the place of a scene."""
    return known.at(None, scene)


def test_a_place_is_read_again_once_a_name_was_noted_there():
    """A scope, with names or without, is read once until a name is noted there, or in any place."""
    book = Book(())
    known = CurrentNames(book)
    assert [known_at(known, GROUP) for _ in range(3)] == [NOBODY] * 3
    assert len(book.read) == 1
    book.people_here += PEOPLE
    known.drop([OTHER_GROUP.scope])
    assert known_at(known, GROUP) == NOBODY
    known.drop([GROUP.scope])
    assert [known_at(known, GROUP) for _ in range(3)] == [Names.of(PEOPLE)] * 3
    book.people_here.clear()
    known.drop()
    assert known_at(known, GROUP) == NOBODY
    assert len(book.read) == 3


def test_names_that_are_noted_while_they_are_read_are_read_again():
    """What was read before a name was noted is not kept."""

    class Overtaken(Book):
        @direct
        def people(self, _, scope, user_ids=()):
            known.drop([scope])
            return Book.people.__wrapped__(self, _, scope)

    book = Overtaken()
    known = CurrentNames(book)
    for _ in range(2):
        known_at(known, GROUP)
    assert len(book.read) == 2
