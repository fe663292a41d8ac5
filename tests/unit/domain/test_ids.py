"""Tests of ids, which are texts, and of the file names made from them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.domain.ids import ID_LENGTH, checked_id, derived_id, path_component
from cognitive_memory_core.errors import BadArgument


@pytest.mark.parametrize("good", ["1", "2000001", "x" * ID_LENGTH, "群 7", "../../etc", "👩\u200d🚀", "0123", "+123"])
def test_an_id_is_any_short_text(good: str) -> None:
    """Any text of 1 to 128 characters without control characters is a valid id and is kept unchanged."""
    assert checked_id(good, "user_id") == good


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "x" * (ID_LENGTH + 1),
        "1\n",
        "1\x85",
        "1\u2028",
        "1\ud800",
        None,
        2000001,
        True,
        ["1"],
        {"$ne": ""},
    ],
)
def test_nothing_else_is(bad: Any) -> None:
    """A value that is no text, empty, too long or has control characters raises BadArgument that names it."""
    with pytest.raises(BadArgument, match=r"^user_id 必须是"):
        checked_id(bad, "user_id")


@pytest.mark.parametrize(
    "unsafe",
    [
        "..",
        "/etc/passwd",
        "..\\x",
        "C:\\x",
        "CON",
        "%2e%2e",
        "1.md",
        "1A",
        "１２３",
        "阿棠",
        "-1",
        "x-1",
        "1" * 65,
        "1\n",
        "1\ud800",
    ],
)
def test_anything_else_is_hashed(unsafe: str) -> None:
    """Any other id becomes a hash: it cannot leave its folder, be a device name, or depend on the case of letters."""
    component = path_component(unsafe)
    assert component.startswith("x-")
    assert len(component) == 34
    assert set(component[2:]) <= set("0123456789abcdef")


@given(st.text(max_size=140), st.text(max_size=140))
def test_two_ids_never_share_a_file(one: str, other: str) -> None:
    """Different ids have different file names, even on a file system that ignores case."""
    assert (path_component(one).casefold() == path_component(other).casefold()) is (one == other)


def test_parts_do_not_run_into_each_other() -> None:
    """Parts that would be equal when joined give different ids."""
    assert derived_id("ab", "c") != derived_id("a", "bc")
    assert derived_id("a", "") != derived_id("a")
