"""README: the settings page and .env.example list all settings with their defaults."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from cognitive_memory_core import Settings
from tests.support.tables import ESSENTIAL, INHERITING, PAGES, PREFIX, ROOT, env_example, leaves, with_table


@pytest.mark.parametrize("file", PAGES)
def test_the_table_is_made_of_the_model(file: str) -> None:
    """A table equals the one generated from the settings model by ``python -m tests.support.tables``."""
    text = (ROOT / file).read_text("utf-8")
    assert with_table(text, *PAGES[file]) == text


def test_the_pages_list_every_setting() -> None:
    """The settings page has a row for each setting or for the group that inherits; README lists existing ones."""
    rows = set(re.findall(r"^\| `([\w.]+)` \|", (ROOT / "docs" / "settings.md").read_text("utf-8"), re.MULTILINE))
    keys = {leaf.key for leaf in leaves()}
    assert {key for key in keys if key not in rows and not key.startswith(INHERITING)} == set()
    assert set(ESSENTIAL) <= keys


def test_the_example_is_made_of_the_model() -> None:
    """.env.example lists every setting with its default, and nothing else."""
    text = (ROOT / ".env.example").read_text("utf-8")
    assert text == env_example()
    assert text.count(PREFIX) == len(list(leaves()))


def test_what_the_example_says_is_the_default() -> None:
    """Using every line of .env.example, decoded as NoneBot decodes it, changes no setting."""
    given: dict[str, Any] = {}
    for leaf in leaves():
        *parents, key = leaf.key.split(".")
        group = given
        for parent in parents:
            group = group.setdefault(parent, {})
        group[key] = _decoded(leaf.default)
    assert Settings.from_mapping(given) == Settings()


def _decoded(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text
