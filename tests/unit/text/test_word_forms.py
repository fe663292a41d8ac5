"""Tests of unifying forms of one word."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from cognitive_memory_core.text.terms import index_terms, stem


@pytest.mark.parametrize(
    ("char", "simple"),
    [
        ("龍", "龙"),
        ("學", "学"),
        ("陶", "陶"),
        ("体", "体"),
        ("體", "体"),
        ("臺", "台"),
        ("a", "a"),
        ("😀", "😀"),
        ("々", "々"),
    ],
)
def test_traditional_characters_become_simplified(char: str, simple: str) -> None:
    """A traditional character maps to its simplified form, and any other character to itself."""
    assert index_terms(char)[:1] == index_terms(simple)[:1]


@pytest.mark.parametrize(
    "words",
    [
        ("test", "tests", "tested", "testing"),
        ("discuss", "discusses", "discussion", "discussing"),
        ("memory", "memories"),
        ("plan", "plans", "planned", "planning"),
    ],
)
def test_endings_of_english_words_go(words: tuple[str, ...]) -> None:
    """All forms of an English word have one stem."""
    assert len({stem(word) for word in words}) == 1


@pytest.mark.parametrize(
    "word",
    [
        "",
        "is",
        "bus",
        "gas",
        "abs",
        "ads",
        "kobe24s",
        "a" * 32 + "s",
        "v231",
        "rtx4090",
        "gpt4os",
        "señores",
        "тесты",
        "s" * 33,
        "龙",
    ],
)
def test_codes_short_and_other_words_stay(word: str) -> None:
    """Anything but an English word of four letters or more is its own stem."""
    assert stem(word) == word


def test_words_are_stemmed_in_many_threads() -> None:
    """The stemmer has state, and still gives each of several threads its own result."""
    words = [f"{chr(97 + a)}{chr(97 + b)}{chr(97 + c)}talks" for a in range(26) for b in range(26) for c in range(6)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(stem, words, chunksize=16)) == [word[:-1] for word in words]


def test_the_libraries_are_imported_when_they_are_needed() -> None:
    """Importing the module loads neither library; preparing loads both, so that the first question does not wait."""
    code = (
        "import sys\n"
        "from cognitive_memory_core.text import terms\n"
        "known = {'opencc', 'snowballstemmer'} & set(sys.modules)\n"
        "terms.prepare()\n"
        "print(sorted(known), sorted({'opencc', 'snowballstemmer'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[] ['opencc', 'snowballstemmer']"
