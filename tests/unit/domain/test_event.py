"""Tests of the scope of an event and of the key that identifies equal statements."""

from __future__ import annotations

import pytest

from cognitive_memory_core.domain.event import duplicate_key
from cognitive_memory_core.domain.scope import Scope
from tests.support.builders import GROUP, PRIVATE, an_event


def test_an_event_belongs_where_it_was_learned() -> None:
    """An event of a group belongs to the group, a private one to the person, and each to its own agent."""
    assert an_event(scene=GROUP).scope == Scope("default", "group", GROUP.group_id)
    assert an_event(scene=PRIVATE).scope == Scope("default", "private", PRIVATE.user_id)
    assert an_event(scene=PRIVATE, agent="second").scope.agent == "second"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("阿棠喜欢乌龙茶", "阿棠 喜欢乌龙茶。"),
        ("阿棠喜欢乌龙茶", "「阿棠」喜欢，乌龙茶！"),
        ("Python 3.11", "ｐｙｔｈｏｎ ３.１１"),
        ("Straße", "STRASSE"),
        ("①号", "1号"),
        ("a\u0301", "á"),
    ],
)
def test_the_same_statement_has_one_key(one: str, other: str) -> None:
    """Width, case, spaces and punctuation do not change the key of a statement."""
    assert duplicate_key(one) == duplicate_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("阿棠对花生过敏", "阿棠对花生不过敏"),
        ("阿棠同意", "阿棠反对"),
        ("阿棠喜欢小雨", "小雨喜欢阿棠"),
        ("买了 3 本", "买了 4 本"),
        ("先吃饭后洗澡", "先洗澡后吃饭"),
        ("+1", "=1"),
        ("😀", "😭"),
    ],
)
def test_another_statement_has_another_key(one: str, other: str) -> None:
    """A negation, a polarity word, an order, a number, swapped names or a sign change the key of a statement."""
    assert duplicate_key(one) != duplicate_key(other)
