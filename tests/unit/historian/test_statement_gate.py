"""Tests of the checks on what a model made of an observation."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.domain.job import JobContext
from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.historian.statements import GivenLines, Verdict, verdict_on
from cognitive_memory_core.text.relative_words import Offence
from tests.support.clock import NOON

TANG = Person("2000001", "阿棠", ("海棠未眠",))
SUGAR = Person("2000002", "唐唐", ("糖糖吃糖",))
SLEEPY = Person("2000009", "今天也很困")
NUMBER = Person("2000010", "2000002")  # has another person's id as a name
PEOPLE = (TANG, SUGAR, SLEEPY, NUMBER, Person("kaiheila_7"))
JOB_CONTEXT = JobContext(NOON, Scope("default", "group", "10001"), "读书会", TANG, PEOPLE)


def verdict(text: str, original: str, *context: str, job_context: JobContext = JOB_CONTEXT) -> Verdict:
    """Check a text."""
    return verdict_on(text, original, GivenLines(context), job_context)


# Texts without relative words.


def test_a_faithful_rewrite_passes() -> None:
    """A text that names people with ids, dates and places passes without a finding."""
    found = verdict("阿棠(2000001)在2026年3月3日借给唐唐(2000002)五十块", "阿棠(2000001)昨天借给唐唐(2000002)五十块")
    assert found == Verdict()
    assert found.is_usable
    assert found.is_absolute


def test_offences_are_told_in_order() -> None:
    """Pronouns, relative times and relative places are reported in order and leave the text usable."""
    found = verdict("阿棠(2000001)说他昨天在这里等", "阿棠(2000001)说唐唐昨天在读书会等")
    assert found.offences == (Offence("pronoun", "他"), Offence("time", "昨天"), Offence("place", "这里"))
    assert found.is_usable
    assert not found.is_absolute


@pytest.mark.parametrize("name", ["今天也很困", "我们仨", "昨晚没睡〔勿扰〕", "昨晚没睡"])
def test_known_names_and_aliases_are_no_offences(name: str) -> None:
    """Names and earlier names of people are not reported as relative words."""
    job_context = JobContext(
        NOON, JOB_CONTEXT.place, "", Person("2000011", "阿困", ("今天也很困", "我们仨", "昨晚没睡〔勿扰〕"))
    )
    assert verdict(f"{name}(2000011)喜欢猫", f"{name}(2000011)喜欢猫", job_context=job_context) == Verdict()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("12345〔管理员〕", "12345〔管理员〕"),
        ("10001", "10001"),
        ("2023级小雨", "2023级小雨"),
        ("0123456", "0123456"),
        ("[点我]找我玩", "〔点我〕找我玩"),
        ("<b>我</b>", "‹b›我‹/b›"),
    ],
)
def test_digits_and_brackets_in_a_name_are_no_offence(name: str, shown: str) -> None:
    """A name with digits or replaced brackets is accepted as the prompt shows it."""
    job_context = JobContext(NOON, JOB_CONTEXT.place, "", Person("2000011", name))
    assert verdict(f"{shown}(2000011)说自己每天跑步五公里", "我每天跑步五公里", job_context=job_context) == Verdict()


# Ids.


@pytest.mark.parametrize(
    ("text", "original", "lost"),
    [
        ("阿棠喜欢喝乌龙茶", "阿棠(2000001)喜欢喝乌龙茶", ("2000001",)),
        ("阿棠(2000001)和朋友去爬山", "阿棠(2000001)和2000002去爬山", ("2000002",)),
        ("海棠未眠(2000001)和2000002去爬山", "阿棠(2000001)和唐唐（２０００００２）去爬山", ()),
        ("读书会每周五聚会", "读书会(10001)每周五聚会", ("10001",)),
        ("有人住在成都", "QQ(kaiheila_7)住在成都", ("kaiheila_7",)),
        ("阿棠(2000001)报了3999999元的价", "阿棠(2000001)报了3999999元的价", ()),
        ("2000002(2000010)喜欢猫", "2000002(2000010)喜欢猫", ()),
        ("有人喜欢猫和狗", "2000002(2000010)喜欢猫和狗", ("2000010",)),
    ],
)
def test_known_ids_must_survive(text: str, original: str, lost: tuple[str, ...]) -> None:
    """Every known id that was heard must be in the text; a number used as a name is no id."""
    assert verdict(text, original).lost_ids == lost


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("阿棠(2000001)和小偷(9999999)一起吃饭", ("9999999",)),
        ("阿棠(2000001)和9999999一起吃饭", ("9999999",)),
        ("阿棠(2000001)和9,999,999一起吃饭", ("9999999",)),
        ("阿棠(2000001)和9999 999一起吃饭", ("9999999",)),
        ("阿棠(2000001)和99\u200b99999一起吃饭", ("9999999",)),
        ("阿棠(2000001)和৯৯৯৯৯৯৯一起吃饭", ("9999999",)),
        ("阿棠(2000001)和小偷(20260305)一起吃饭", ("20260305",)),
        ("阿棠(2000001)和88888一起吃饭，又遇到99999", ("88888", "99999")),
        ("阿棠(2000001)和一起吃饭的人花了12000元", ()),
        ("阿棠(2000001)一起吃饭，电话13800138000", ()),
        ("阿棠(2000001)一起吃饭，房间301 402 503", ()),
        ("阿棠(2000001)和人一起吃饭时升到4.4，2026年3月8日吃完", ()),
    ],
)
def test_no_id_comes_from_nowhere(text: str, foreign: tuple[str, ...]) -> None:
    """An unknown number of five digits is reported, however written; what was given in other words is not."""
    original = "阿棠(2000001)和人一起吃饭，花了1.2万，电话138 0013 8000，房间301、402、503"
    assert verdict(text, original).foreign_ids == foreign


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("唐唐(2000001)喜欢喝乌龙茶", ("2000001",)),
        ("糖糖吃糖(2000001)喜欢喝乌龙茶", ("2000001",)),
        ("读书会（2000001）喜欢喝乌龙茶", ("2000001",)),
        ("阿棠(10001)的2000001喜欢喝乌龙茶", ("10001",)),
        ("海棠未眠(2000001)喜欢喝乌龙茶", ()),
        ("QQ(2000001)喜欢喝乌龙茶", ()),
        ("某人(2000001)喜欢喝乌龙茶", ()),
    ],
)
def test_a_label_with_somebody_elses_name_is_drift(text: str, foreign: tuple[str, ...]) -> None:
    """A known id must follow one of its own names, or a name that nobody else has."""
    assert verdict(text, "阿棠(2000001)喜欢喝乌龙茶").foreign_ids == foreign


# Other faults.


@pytest.mark.parametrize("text", ["", "  \n", "……", "。", "阿棠(2000001)", "2026年3月4日"])
def test_no_word_is_empty(text: str) -> None:
    """A text without a word beside names, ids and times counts as empty; what the lines do not carry is quoted."""
    found = verdict(text, "阿棠(2000001)喜欢喝乌龙茶")
    assert found.faults == ("empty",)
    assert not found.is_usable


@pytest.mark.parametrize(
    ("text", "original", "context"),
    [
        ("阿棠(2000001)对花生过敏", "阿棠不能吃花生", ()),
        ("阿棠(2000001)同意2026年3月6日聚会", "阿棠说行", ("唐唐(2000002): 周五聚会吗",)),
        ("阿棠(2000001)参加城南公园野餐", "阿棠说行", ("唐唐(2000002): 城南公园野餐，参加吗",)),
        ("阿棠(2000001)迟到了", "阿棠来晚了", ()),
    ],
)
def test_other_words_for_the_same_are_founded(text: str, original: str, context: Sequence[str]) -> None:
    """A text may use words from any of its sources, and a very short one is not checked."""
    assert "unfounded" not in verdict(text, original, *context).faults


# Hostile input.


@given(st.text(max_size=200), st.text(max_size=200), st.lists(st.text(max_size=80), max_size=3))
def test_any_text_is_judged(text: str, original: str, context: list[str]) -> None:
    """Any text gets a verdict, and lost ids are always known ids that were heard."""
    found = verdict(text, original, *context)
    known = {person.id for person in PEOPLE} | {"10001"}
    assert set(found.lost_ids) <= known
    assert verdict(text, original, *context) == found


@given(st.text(min_size=1, max_size=300))
def test_what_is_repeated_word_for_word_is_never_drift_or_invented(text: str) -> None:
    """A text equal to its observation has no lost or foreign id and is founded."""
    found = verdict(text, text)
    assert found.lost_ids == ()
    assert not {"unfounded", "language", "too_long"}.intersection(found.faults)
