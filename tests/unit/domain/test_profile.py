"""Tests of profiles and their keys."""

from __future__ import annotations

from typing import Any

import pytest

from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.errors import BadArgument
from tests.support.clock import NOON


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


def test_a_heading_goes_with_its_last_line() -> None:
    """A line leaves with its event, its heading with its last line; headings that had no line stay."""
    summary = "自己写的\n\n## 身份\n\n- 住在杭州\n\n## 兴趣\n- 养猫\n- 下棋\n\n## 其他"
    sources = {"住在杭州": ("e1",), "养猫": ("e1",), "下棋": ("e2",)}
    profile = Profile(ProfileKey.user("1"), "阿禾", (), summary, NOON, sources=sources)
    assert profile.without_events({"e1"}).summary == "自己写的\n\n## 兴趣\n- 下棋\n\n## 其他"
