"""Tests of the key of a profile."""

from __future__ import annotations

from typing import Any

import pytest

from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.errors import BadArgument


def test_a_key_names_one_entity() -> None:
    """A person, the same person in a group, the group, and a person of another agent have different keys."""
    keys = {ProfileKey.user("1"), ProfileKey.member("1", "1"), ProfileKey.group("1"), ProfileKey.user("1", "second")}
    assert len(keys) == 4
    assert ProfileKey.user("1") == ProfileKey("default", "user", user_id="1")
    assert ProfileKey.member("10001", "1") == ProfileKey("default", "member", "10001", "1")
    assert ProfileKey.group("10001") == ProfileKey("default", "group", "10001")


@pytest.mark.parametrize("bad", ["", "x" * 129, "1\n", None, 1])
def test_nobody_has_such_an_id(bad: Any) -> None:
    """An invalid id raises BadArgument for every kind of profile key."""
    for make in (
        lambda: ProfileKey.user(bad),
        lambda: ProfileKey.group(bad),
        lambda: ProfileKey.member(bad, "1"),
        lambda: ProfileKey.member("1", bad),
    ):
        with pytest.raises(BadArgument):
            make()
