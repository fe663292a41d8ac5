"""Tests of finding relative words in statements; each line of gate_sentences.tsv is a labelled sentence."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from cognitive_memory_core.text.relative_words import Offence, is_talk, offences

_OFFENCE = re.compile("(pronoun|time|place):(.*?)(?= (?:pronoun|time|place):|$)")


@dataclass(frozen=True)
class Labelled:
    """A sentence, the relative words that it contains, and the known names."""

    sentence: str
    expected: tuple[tuple[str, str], ...]
    names: tuple[str, ...]

    @property
    def found(self) -> tuple[tuple[str, str], ...]:
        """The relative words that the code finds."""
        return tuple((offence.kind, offence.word) for offence in offences(self.sentence, names=self.names))


def labelled(line: str) -> Labelled:
    """Parse a line: the sentence, its relative words in order, known names; the last two may be missing."""
    sentence, expected, names, *_ = [*line.split("\t"), "", ""]
    words = tuple((match[1], match[2]) for match in _OFFENCE.finditer(expected.strip()))
    return Labelled(sentence, words, tuple(name for name in names.split(",") if name))


LINES = Path(__file__).with_name("gate_sentences.tsv").read_text("utf-8").splitlines()
SET = [labelled(line) for line in LINES if line and not line.startswith("#")]


def test_precision_and_recall() -> None:
    """On the labelled set precision is at least 98 % and recall at least 95 %; half of the set contains none."""
    expected = sum((Counter((case.sentence, *word) for word in case.expected) for case in SET), Counter())
    found = sum((Counter((case.sentence, *word) for word in case.found) for case in SET), Counter())
    hits = (expected & found).total()
    chinese = [case for case in SET if re.search("[一-龥]", case.sentence)]
    assert hits / found.total() >= 0.98
    assert hits / expected.total() >= 0.95
    assert len(chinese) >= 300
    assert sum(not case.expected for case in chinese) / len(chinese) >= 0.4


def test_a_pronoun_as_a_name_disarms_nothing() -> None:
    """A person called 我 is recognised only if their id follows the name."""
    found = offences("我(2000010)说我喜欢猫", names=["我"])
    assert found == (Offence("pronoun", "我"),)


@pytest.mark.parametrize("name", ["我们", "昨天", "这里", "2026", "他"])
def test_a_word_as_a_name_disarms_nothing(name: str) -> None:
    """A nickname that is a relative word, or only digits, does not hide that word elsewhere."""
    assert offences(f"{name}昨天来了", names=[name]) == offences(f"{name}昨天来了")


def test_words_of_whoever_speaks_are_talk() -> None:
    """I and you are words of a line; he, she and yesterday may stand in a statement that is not absolute."""
    for text in ("我养猫", "你养猫", "咱们养猫", "I have a cat"):
        assert [is_talk(one) for one in offences(text)] == [True], text
    for text in ("他养猫", "昨天养猫", "She has a cat"):
        assert [is_talk(one) for one in offences(text)] == [False], text


def test_quotations_pass() -> None:
    """Relative words in titles and quotations are ignored; an unclosed quotation mark is no quotation."""
    assert offences("《我》“昨天”「这里」都是歌名") == ()
    assert offences("“我昨天没有收尾") == (Offence("pronoun", "我"), Offence("time", "昨天"))
