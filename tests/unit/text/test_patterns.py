"""A pattern is searched only in texts that may have it, and finds there what its expression finds."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import cognitive_memory_core.text as text_package
import cognitive_memory_core.text.needed_characters as needed_characters_module
from cognitive_memory_core.text.lexical.folding import folded
from cognitive_memory_core.text.needed_characters import needed_characters
from cognitive_memory_core.text.patterns import Pattern
from cognitive_memory_core.text.time.timerule import Rule

SENTENCES = sorted(
    {
        folded(cell.strip())
        for table in Path(__file__).parent.glob("*.tsv")
        for line in table.read_text().splitlines()
        for cell in line.split("\t")
    }
)


def _patterns() -> Iterator[Pattern]:
    """Yield every pattern of the text package, those of tables and of time rules included."""
    for module in pkgutil.walk_packages(text_package.__path__, f"{text_package.__name__}."):
        waiting = [value for name, value in vars(importlib.import_module(module.name)).items() if name[:2] != "__"]
        while waiting:
            value = waiting.pop()
            if isinstance(value, Pattern):
                yield value
            elif isinstance(value, Rule):
                waiting.append(value.pattern)
            elif isinstance(value, tuple | list):
                waiting += value


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("昨天?", "昨"),
        ("[今明]天?", "今明"),
        ("(?:不|没有?)去", "去"),
        ("(?:不|没有?)", "不没"),
        ("[0-9]{1,2}月", "月"),
        ("next|今", "n今"),
        ("(?<=周)末?|初", "周初"),
        ("(?P<one>[上下])个?(?P=one)", "上下"),
    ],
)
def test_every_match_has_one_of_the_needed_characters(source: str, needed: str) -> None:
    """Of each alternative the rarest part that no match lacks is needed; what is optional is not."""
    assert needed_characters(source) == set(needed)


@pytest.mark.parametrize("source", ["", "[^，]", "不?", r"\d", "(?!不)", "(?i)no", "不|.", "[一-鿿]"])
def test_an_expression_that_may_match_without_any_character_needs_none(source: str) -> None:
    """What may match in any text is searched in every text."""
    assert needed_characters(source) is None
    assert Pattern(source).is_in("not 2") == bool(re.search(source, "not 2"))


@pytest.mark.parametrize("parser", ["no_such_module", "json", "string"])
def test_a_python_that_parses_otherwise_searches_every_text(parser: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the parser, or with one of another form, an expression is searched in every text and finds the same."""
    monkeypatch.setattr(needed_characters_module, "_PARSER", parser)
    assert needed_characters("昨天") is None
    assert Pattern("昨天").is_in("昨天去了")
    assert not Pattern("昨天").is_in("今天去")


@pytest.mark.parametrize("at", range(4))
def test_patterns_find_in_labelled_sentences_what_their_expressions_find(at: int) -> None:
    """No sentence that an expression matches lacks the characters that the expression is said to need."""
    for pattern in list(dict.fromkeys(_patterns()))[at::4]:
        for sentence in SENTENCES:
            assert pattern.is_in(sentence) == bool(pattern.compiled.search(sentence)), (pattern.source, sentence)
            assert pattern.replaced(sentence, "#") == pattern.compiled.sub("#", sentence)
            found = [match.span() for match in pattern.finditer(sentence)]
            assert found == [match.span() for match in pattern.compiled.finditer(sentence)]
