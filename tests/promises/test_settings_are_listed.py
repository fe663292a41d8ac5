"""README: its table and .env.example list all settings with their defaults."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cognitive_memory_core import Settings
from tests.support.tables import PREFIX, ROOT, Language, env_example, leaves, with_table


@pytest.mark.parametrize(("file", "language"), [("README.md", "zh"), ("README.en.md", "en")])
def test_the_table_is_made_of_the_model(file: str, language: Language) -> None:
    """A README's table equals the one generated from the settings model by ``python -m tests.support.tables``."""
    text = (ROOT / file).read_text("utf-8")
    assert with_table(text, language) == text


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
