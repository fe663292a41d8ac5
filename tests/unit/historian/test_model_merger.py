"""Tests of profiles made by a model: each line rests on facts, and says nothing that they do not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.domain.event import Fact
from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.errors import BadAnswer, PermanentError, UnavailableError
from cognitive_memory_core.historian.model_merger import LEFT_OUT, ModelMerger
from cognitive_memory_core.historian.profile_page import Page
from cognitive_memory_core.historian.rules import RuleMerger
from cognitive_memory_core.ports import MergedLine, MergedLines, MergeInput
from cognitive_memory_core.prompts.library import PromptLibrary
from cognitive_memory_core.settings.schema import Live, Settings
from tests.support.chats import ScriptedChat
from tests.support.clock import NOON
from tests.support.tallies import Counts

KEY, GROUP = ProfileKey.member("620118845", "1840022917"), ProfileKey.group("620118845")
LAN, MU = Person("1840022917", "阿岚"), Person("2000002", "木子", ("老木",))
LIBRARY = PromptLibrary()


def facts(*texts: str, key: ProfileKey = KEY) -> list[Fact]:
    """Return facts of the person, a day apart, oldest first."""
    return [Fact(key, f"e{at}", text, "preference", NOON + timedelta(days=at)) for at, text in enumerate(texts, 1)]


def of_person(*texts: str) -> MergeInput:
    """Return what a merge of a person's facts is made from."""
    return MergeInput(LAN, facts(*texts))


def of_group(*texts: str) -> MergeInput:
    """Return what a merge of a group's facts is made from."""
    return MergeInput(Person("620118845", "木工群"), facts(*texts, key=GROUP), people=(LAN, MU), is_group=True)


def line(text: str, *numbers: int, section: str = "role") -> dict[str, Any]:
    """Return a model's line."""
    return {"section": section, "text": text, "facts": list(numbers)}


async def merged(
    given_facts: MergeInput, *lines: dict[str, Any], counts: Counts | None = None, **answer: Any
) -> MergedLines:
    """Merge facts with a model that answers these lines."""
    chat = ScriptedChat({"lines": list(lines), **answer})
    merger = ModelMerger(chat, LIBRARY, Live(Settings()), RuleMerger(), counts or Counts())
    return await merger.merge(given_facts, NOON + timedelta(days=9))


async def test_a_line_names_the_events_of_its_facts() -> None:
    """A line has the events of the facts that the model numbers, under the heading of its section."""
    drawn = await merged(
        of_person("我在青岛做木工", "我对桐油过敏"),
        line("在青岛做木工", 1),
        line("对桐油过敏", 2, section="pain_points"),
    )
    assert drawn.lines == (MergedLine("身份", "在青岛做木工", ("e1",)), MergedLine("困扰", "对桐油过敏", ("e2",)))


@pytest.mark.parametrize("me", ["", "我"])
async def test_a_line_tells_nothing_of_an_event_that_it_does_not_name(me: str) -> None:
    """Of more facts than a line can name, worded or quoted, the others are not told: they could not be forgotten."""
    told = (
        "青岛做木工",
        "桐油过敏",
        "养两只猫",
        "常爬崂山",
        "周三值夜班",
        "会修古琴",
        "家住城阳",
        "爱喝绿茶",
        "怕打雷天",
    )
    drawn = await merged(of_person(*(f"我{one}" for one in told)), line(me + "，".join(told), *range(1, 10)))
    page = Page(None, is_group=False)
    page.take(drawn)
    profile = Profile(KEY, LAN.name, (), page.text, NOON, sources=page.sources)
    for number, words in enumerate(told, 1):
        assert words not in profile.without_events({f"e{number}"}).summary


async def test_a_line_without_facts_is_left_out() -> None:
    """What the model writes without a fact is left out and counted; it is not asked again."""
    counts = Counts()
    drawn = await merged(
        of_person("我在青岛做木工"), line("是群主"), line("很有钱", 7), line("做木工", 1), counts=counts
    )
    assert [one.text for one in drawn.lines] == ["做木工"]
    assert counts.names[LEFT_OUT] == 2


@pytest.mark.parametrize(
    "text",
    [
        "做木工欠了五千元",
        "花5400元做木工",
        "周五去青岛",
        "2026年8月1日搬到青岛",
        "在青岛听10086的",
        "我做木工",
        "明天去青岛",
        "在青岛偷东西被抓过",
        "偷东西，在青岛做木工",
    ],
)
async def test_what_its_facts_do_not_say_gives_way_to_their_words(text: str) -> None:
    """A line with a figure, day, id or most words of none of its facts, or 我 or 明天, becomes what was said."""
    drawn = await merged(of_person("我在青岛做木工"), line(text, 1))
    assert drawn.lines == (MergedLine("身份", "“我在青岛做木工”（记于 2026-03-05）", ("e1",)),)


async def test_what_was_said_is_written_once() -> None:
    """Several lines that give way to the words of one fact, or repeat each other, leave one line."""
    drawn = await merged(of_person("我在青岛做木工"), line("是青岛的群主", 1), line("青岛最有钱", 1), line("做木工", 1))
    assert [one.text for one in drawn.lines] == ["“我在青岛做木工”（记于 2026-03-05）", "做木工"]


async def test_a_tag_stands_in_a_fact() -> None:
    """Only tags that somebody said word by word are taken, each with the events that say it."""
    drawn = await merged(of_person("我在青岛做木工", "木工做久了腰疼"), tags=["木工", "管理员", "青岛"])
    assert drawn.tags == {"木工": ("e1", "e2"), "青岛": ("e1",)}


@pytest.mark.parametrize("said", ["DK是管理员", "我是群主，会木工", "小北欠我五千块"])
async def test_a_claim_to_a_rank_or_a_debt_gives_a_portrait_no_tag(said: str) -> None:
    """Rank is told by the platform only: a line in which somebody claims a rank or a debt gives no tags."""
    drawn = await merged(of_person(said, "我在青岛做木工"), tags=["DK是管理员", "群主", "欠我五千块", "管理员", "木工"])
    assert drawn.tags.keys() == {"木工"}
    assert "e1" not in drawn.tags["木工"]


async def test_a_line_rests_on_facts_that_share_a_word_with_it() -> None:
    """A line that names every fact takes the place of those only with which it shares a word."""
    drawn = await merged(of_person("我在青岛做木工", "我养猫"), line("在青岛做木工", 1, 2), line("永远正确", 1, 2))
    assert drawn.lines == (MergedLine("身份", "在青岛做木工", ("e1",)),)


async def test_a_merge_ends_few_lines() -> None:
    """A model that says of every fact that it no longer holds ends none; of three lines it may end one."""
    told = [[fact] for fact in facts("我做木工", "我养猫", "我吃素")]
    standing = MergeInput(LAN, facts("a", "b", "c", "我改吃肉了")[3:], told)
    assert (await merged(standing, outdated=[1, 2, 3])).outdated == ()
    assert (await merged(standing, outdated=[3])).outdated == ("e3",)


async def test_facts_that_no_longer_hold_are_named() -> None:
    """The model names facts that no longer hold by their numbers."""
    drawn = await merged(of_person("我住青岛", "我搬到烟台了"), line("住烟台", 2), outdated=[1, 9])
    assert (drawn.outdated, [one.event_ids for one in drawn.lines]) == (("e1",), [("e2",)])


async def test_a_groups_line_about_a_member_rests_on_their_own_line() -> None:
    """A line of a group's profile that names a member is left out unless the member said one of its lines."""
    given_facts = of_group(
        "阿岚(1840022917)[管理]：“木子以后管钥匙，周六开门” ", "木子(2000002)[管理]：“钥匙我管” 阿岚(1840022917)：“好”"
    )
    lines = [line(text, number, section="members") for text in ("木子管钥匙", "周六开门") for number in (1, 2)]
    drawn = await merged(given_facts, *lines[:3])
    assert [(one.text, one.event_ids) for one in drawn.lines] == [("木子管钥匙", ("e2",)), ("周六开门", ("e1",))]


async def test_a_groups_line_is_worded_only_from_an_admins_facts() -> None:
    """Words and times of others do not enter a worded line of a group because an admin once spoke of the same."""
    ruled, planted = (
        "木子(2000002)[管理]：“排练每周四晚上七点”",
        "阿岚(1840022917)：“排练改到凌晨三点” 老郑(2000009)：“附议”",
    )
    wanted = [line(text, 1, 2, section="rules") for text in ("排练改到凌晨三点", "排练凌晨三点", "排练每周四晚上七点")]
    drawn = await merged(of_group(ruled, planted), *wanted)
    assert [one.text for one in drawn.lines if one.text.startswith("排练")] == ["排练每周四晚上七点"]
    assert any(planted in one.text for one in drawn.lines)


async def test_the_prompt_has_nobody_elses_words() -> None:
    """The prompt shows the facts and nothing that a model or another person wrote before."""
    chat = ScriptedChat({"lines": []})
    told = [facts("我做木工")]
    await ModelMerger(chat, LIBRARY, Live(Settings()), RuleMerger()).merge(
        MergeInput(LAN, facts("我养猫")[:1], told), NOON
    )
    (ask,) = chat.asks
    assert "<事实>\n1. 2026年3月5日 [行1] “我做木工”\n</事实>" in ask.prompt


async def test_a_refused_fact_is_quoted_by_the_rules() -> None:
    """If a model refuses the facts, the rules merge them; other failures are passed on and the facts wait."""
    given_facts = of_person("我对桐油过敏")
    for error in (BadAnswer("no"), UnavailableError("away")):
        model = ModelMerger(ScriptedChat(error), LIBRARY, Live(Settings()), RuleMerger())
        with pytest.raises(type(error)):
            await model.merge(given_facts, NOON)
    model = ModelMerger(ScriptedChat(PermanentError("refused")), LIBRARY, Live(Settings()), RuleMerger())
    drawn = await model.merge(given_facts, NOON + timedelta(days=9))
    assert drawn.lines == (MergedLine("兴趣", "“我对桐油过敏”（记于 2026-03-05）", ("e1",)),)


@given(
    texts=st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=4),
    numbers=st.lists(st.integers(-1, 9), max_size=4),
)
async def test_whatever_a_model_writes_rests_on_facts(texts: list[str], numbers: list[int]) -> None:
    """Every line is one line of bounded length and names events that were given."""
    drawn = await merged(of_person("我在青岛做木工"), *(line(text, *numbers) for text in texts))
    for one in drawn.lines:
        assert one.event_ids
        assert set(one.event_ids) <= {"e1"}
        assert "\n" not in one.text
        assert len(one.text) <= 150
