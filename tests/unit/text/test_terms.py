"""Tests of the terms of texts and of questions."""

from __future__ import annotations

from datetime import datetime

import pytest

from cognitive_memory_core.text.terms import ASKED, index_terms, indexed_text, query_terms
from tests.support.clock import SHANGHAI


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("喜欢茶", ["喜", "欢", "茶", "喜欢", "欢茶"]),
        ("茶，茶", ["茶", "茶"]),
        ("猫", ["猫"]),
        ("Hello，世界", ["hello", "世", "界", "世界"]),
        ("v2.3.1", ["v231", "v2", "3", "1"]),
        ("GPT-4o", ["gpt4o", "gpt", "4o"]),
        ("84bpm", ["84bpm", "84", "bpm"]),
        ("阿棠(2000001)", ["阿", "棠", "阿棠", "2000001"]),
        ("ＱＱ２０００００１", ["qq2000001", "qq", "2000001"]),
        ("Café naïve", ["cafe", "naiv"]),
        ("コーヒー", ["コ", "ー", "ヒ", "ー", "コー", "ーヒ", "ヒー"]),
        ("好🍵喝", ["好", "u1f375", "喝"]),
        ("❤️", ["u2764"]),
        ("𠮷野", ["𠮷", "野", "𠮷野"]),
        ("don't", ["dont", "don", "t"]),
        ("後來說過週五", ["后", "来", "说", "过", "周", "五", "后来", "来说", "说过", "过周", "周五"]),
        ("discussions elections", ["discuss", "elect"]),
        ("", []),
        ("！？…\n", []),
        ("\ud800\x00\ue000", []),
    ],
)
def test_index_terms(text: str, terms: list[str]) -> None:
    """A text is indexed by characters, pairs, whole words and their parts, whole numbers, and emoji."""
    assert index_terms(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("喜欢茶", ["喜欢", "欢茶"]),
        ("茶", ["茶"]),
        ("茶？茶！", ["茶"]),
        ("猫 喜欢", ["喜欢"]),
        ("v2.3.1 出了", ["v231", "v2", "出了"]),
        ("2000001 是谁", ["2000001", "是谁"]),
        ("喜欢喜欢", ["喜欢", "欢喜"]),
        ("🍵", ["u1f375"]),
        ("我们 what did 老齐 say", ["老齐"]),
        ("什么", ["什么"]),
        ("", []),
    ],
)
def test_query_terms(text: str, terms: list[str]) -> None:
    """A question gives each pair and word once; single characters and common words only if there is nothing else."""
    assert query_terms(text) == terms


def test_one_form_on_both_sides() -> None:
    """Traditional and simplified characters give equal terms, and so do different endings of a word."""
    for one, other in (("誰說過後來請客", "谁说过后来请客"), ("Discussing elections", "discussed election")):
        assert set(index_terms(one)) == set(index_terms(other))


def test_a_question_finds_what_it_repeats() -> None:
    """All terms of a question that repeats a text are terms of that text."""
    text = "小满(2000005) 的电脑用 RTX4090，QQ2000001 说 GPT-4o 的 🍵 在𠮷野家"
    assert set(query_terms(text, characters=True)) <= set(index_terms(text))


def test_terms_are_bounded() -> None:
    """A long message, a long question and a long word give a bounded number of bounded terms."""
    assert len(index_terms("长短" * 1_000_000)) == 4_000
    assert len(query_terms("".join(chr(0x4E00 + number) for number in range(5_000)))) == ASKED
    assert max(map(len, index_terms("x" * 100_000 + " " + "y." * 50_000))) <= 64


LATE = datetime(2026, 2, 17, 23, 30, tzinfo=SHANGHAI)


@pytest.mark.parametrize("question", ["阿棠", "2026-02-17", "2月17日", "17日", "2026-02-17谁去陶艺课"])
def test_speaker_day_and_words_are_looked_for(question: str) -> None:
    """The speaker's name, the date in two formats and the message itself are indexed."""
    terms = set(index_terms(indexed_text("阿棠", LATE, "谁去陶艺课")))
    assert set(query_terms(question, characters=True)) <= terms
