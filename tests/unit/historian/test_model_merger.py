"""Tests of profiles made by a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cognitive_memory_core.domain.fact import Fact
from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.errors import BadAnswer, PermanentError, UnavailableError
from cognitive_memory_core.historian.profiles.model_merger import ModelMerger
from cognitive_memory_core.ports.models import ProfileContent
from cognitive_memory_core.prompts.answers import ProfileAnswer
from cognitive_memory_core.prompts.library import PromptLibrary
from cognitive_memory_core.sentences.stored_text import noted_on
from cognitive_memory_core.settings import Live, ProfileSettings, Settings
from tests.support.chats import ScriptedChat
from tests.support.clock import NOON
from tests.support.sizes import sized
from tests.support.tallies import Counts

KEY = ProfileKey.member("620118845", "1840022917")
TANG = Person("1840022917", "阿岚")
LIBRARY = PromptLibrary()
LINES = {
    "role": ("木工师傅，住在青岛",),
    "interests": ("养了一只叫刨花的三花猫", "不接贴皮的活，只做实木"),
    "style": ("回话慢，一次把事说完",),
    "topics": ("存钱买二手平刨，预算六千元",),
    "tools": ("Fusion", "自制夹具"),
    "pain_points": ("对桐油过敏，改用蜂蜡",),
}
NO_LINES: dict[str, list[str]] = {name: [] for name in LINES}
SUMMARY = "阿岚在青岛开一间木工房，养猫。"
FACT = "阿岚(1840022917) 2026年4月18日花5400元买了二手平刨"
BODY = """阿岚在青岛开一间木工房，养猫。

## 身份
- 木工师傅，住在青岛

## 兴趣
- 养了一只叫刨花的三花猫
- 不接贴皮的活，只做实木

## 风格
- 回话慢，一次把事说完

## 近期话题
- 存钱买二手平刨，预算六千元

## 常用工具
- Fusion
- 自制夹具

## 困扰
- 对桐油过敏，改用蜂蜡"""


def a_drawing(**fields: Any) -> dict[str, Any]:
    """Return a model's answer: the existing profile with the new fact, unless fields replace it."""
    topics = ["2026年4月18日花5400元买了二手平刨"]
    return {
        "nothing_new": False,
        "tags": ["木工", "猫"],
        "summary": SUMMARY,
        **{name: list(lines) for name, lines in LINES.items()},
        "topics": topics,
        **fields,
    }


def a_profile(summary: str = BODY, **fields: Any) -> Profile:
    """Return the existing profile."""
    return Profile(KEY, "阿岚", fields.pop("tags", ("木工", "猫")), summary, NOON, version="1", **fields)


def facts_of(*texts: str) -> list[Fact]:
    """Return facts about the person."""
    return [Fact(KEY, f"e{at}", text, "event", NOON) for at, text in enumerate(texts or (FACT,))]


def a_merger(*answers: object, max_chars: int = 800) -> tuple[ModelMerger, ScriptedChat]:
    """Return a merger whose model gives these answers."""
    chat = ScriptedChat(*answers)
    live = Live(Settings(profile=ProfileSettings(max_chars=max_chars)))
    return ModelMerger(chat, LIBRARY, live), chat


async def merged(
    *answers: object, profile: Profile | None = None, facts: tuple[str, ...] = (FACT,), max_chars: int = 800
) -> ProfileContent:
    """Merge once."""
    merger, _ = a_merger(*answers, max_chars=max_chars)
    return await merger.merge(TANG, profile, facts_of(*facts), NOON)


async def composed(drawn: ProfileAnswer) -> ProfileContent:
    """Merge a model's answer into the existing profile."""
    return await ModelMerger(_Drawing(drawn), LIBRARY, Live(Settings())).merge(TANG, a_profile(), facts_of(), NOON)


async def test_a_profile_is_composed_under_fixed_headings() -> None:
    """The answer's fields become a summary and lists under fixed headings; empty ones are left out."""
    facts = tuple(f"阿岚(1840022917) {line}" for lines in LINES.values() for line in lines)
    drawing = a_drawing(topics=list(LINES["topics"]), summary=SUMMARY)
    content = await merged(drawing, facts=facts)
    assert content == ProfileContent(("木工", "猫"), BODY)
    without = await merged({**drawing, "style": [], "tools": []}, facts=facts)
    assert "## 风格" not in without.summary
    assert "## 困扰\n- 对桐油" in without.summary


@pytest.mark.parametrize(
    "answer",
    [
        {"nothing_new": True, "tags": [], "summary": ""},
        a_drawing(nothing_new=True, topics=list(LINES["topics"]), summary="改写掉一切"),
        *(
            {"nothing_new": False, "tags": ["新标签"], "summary": summary}
            for summary in (
                "没有新信息。",
                "本次没有新的信息可以补充",
                "No new information.",
                "无需更新",
                "（无）",
                "保持不变",
            )
        ),
    ],
)
@pytest.mark.parametrize("profile", [None, a_profile()])
async def test_nothing_new_never_overwrites(answer: dict[str, Any], profile: Profile | None) -> None:
    """Whatever way a model reports nothing new, the profile is unchanged, or still missing."""
    if profile is None:
        answer = {name: value for name, value in answer.items() if name not in LINES}
    content = await merged(*[{**NO_LINES, **answer}] * (1 if profile else 2), profile=profile)
    assert content == (ProfileContent(profile.tags, profile.summary) if profile else ProfileContent((), ""))


@pytest.mark.parametrize("profile", [None, a_profile()])
async def test_a_drawing_of_the_news_counts_whatever_stands_beside_it(profile: Profile | None) -> None:
    """An answer that reports nothing new but contains the news is used if it is acceptable."""
    content = await merged(a_drawing(nothing_new=True), profile=profile, facts=(FACT, *sum(LINES.values(), ())))
    assert "5400" in content.summary
    ruin = {**NO_LINES, "nothing_new": True, "tags": [], "summary": "阿岚买了二手平刨。"}
    if profile:
        with pytest.raises(BadAnswer):
            await merged(ruin, ruin, profile=profile)


async def test_nothing_new_of_somebody_without_a_profile_is_asked_once_more() -> None:
    """Nothing new for a person without a profile is asked again with the reason, unless all facts are occasions."""
    merger, chat = a_merger({"nothing_new": True})
    assert await merger.merge(TANG, None, facts_of(FACT), NOON) == ProfileContent((), "")
    assert chat.calls == 1
    merger, chat = a_merger({"nothing_new": True}, a_drawing())
    facts = [replace(fact, kind="knowledge") for fact in facts_of(FACT, *sum(LINES.values(), ()))]
    content = await merger.merge(TANG, None, facts, NOON)
    assert "5400" in content.summary
    assert "还没有侧写" in chat.asks[1].prompt
    merger, chat = a_merger({"nothing_new": True}, a_drawing(topics=["好友 98765432"]))
    with pytest.raises(BadAnswer):
        await merger.merge(TANG, None, [replace(fact, kind="knowledge") for fact in facts_of()], NOON)


async def test_news_in_the_words_of_no_news_is_news() -> None:
    """A summary that only begins like "nothing new" is used."""
    answer = {
        **NO_LINES,
        "nothing_new": False,
        "tags": [],
        "summary": "花5400元买了二手平刨，此外住处不变",
    }
    assert "平刨" in (await merged(answer, answer)).summary


async def test_a_summary_that_was_left_out_stays() -> None:
    """An answer without a summary keeps the old summary, and one without tags the old tags."""
    content = await composed(
        ProfileAnswer(False, (), "没有新信息", **{**LINES, "topics": ("2026年4月18日买了二手平刨",)})
    )
    assert content.summary.startswith(SUMMARY)
    assert content.tags == ("木工", "猫")
    assert "二手平刨" in content.summary


async def test_tags_are_few_short_and_different() -> None:
    """Tags are cleaned, unique, short and at most twelve."""
    named = [f"标签{number}" for number in range(20)]
    tags = ["#木工", "木工", "ＰＳ", "ps", "很" * 25, "猫\n狗", "a\u202eb", *named]
    facts = (FACT, *(f"阿岚(1840022917) 用 {tag}" for tag in ("ps", "ab", *named)))
    merger = ModelMerger(_Drawing(ProfileAnswer(False, tuple(tags), SUMMARY, **LINES)), LIBRARY, Live(Settings()))
    content = await merger.merge(TANG, a_profile(), facts_of(*facts), NOON)
    assert content.tags[:4] == ("木工", "ＰＳ", "猫 狗", "ab")
    assert len(content.tags) == 12


async def test_no_line_of_a_model_changes_the_form() -> None:
    """Headings, rules, line breaks and repetitions in a model's fields are flattened."""
    summary = "## 木工房\n---\n# 阿岚在青岛开一间木工房\n```\n养猫"
    lines = ["- 不接贴皮的活，只做实木\n## 实木", "不接贴皮的活，只做实木 实木", "### 养了一只叫刨花的三花猫", "  "]
    drawn = ProfileAnswer(False, (), summary, **{**LINES, "interests": tuple(lines)})
    content = await composed(drawn)
    assert content.summary.startswith("木工房\n阿岚在青岛开一间木工房\n养猫\n\n## 身份")
    assert "## 兴趣\n- 不接贴皮的活，只做实木 ## 实木\n- 养了一只叫刨花的三花猫\n\n## 风格" in content.summary


INVENTED = "2026年3月在面试别家公司"


async def test_a_first_profile_holds_no_line_that_no_fact_says() -> None:
    """The model is asked again with the line; if it insists, line and tag are left out, counted and logged."""
    tally = Counts()
    answer = {**NO_LINES, "nothing_new": False, "tags": ["面试中", "木工"], "summary": f"{FACT}。{INVENTED}。"}
    chat = ScriptedChat(answer, answer)
    merger = ModelMerger(chat, LIBRARY, Live(Settings()), tally)
    content = await merger.merge(TANG, None, facts_of(FACT, "阿岚(1840022917) 是木工师傅"), NOON)
    assert content == ProfileContent(("木工",), f"{FACT}。")
    assert INVENTED in chat.asks[1].prompt
    assert +tally.names == {"gate:profile": 2}


async def test_a_second_answer_without_the_line_is_taken_whole() -> None:
    """A model that mends its answer loses nothing, and nothing is counted."""
    tally = Counts()
    answer = {**NO_LINES, "nothing_new": False, "tags": [], "summary": INVENTED}
    merger = ModelMerger(ScriptedChat(answer, {**answer, "summary": FACT}), LIBRARY, Live(Settings()), tally)
    assert (await merger.merge(TANG, None, facts_of(), NOON)).summary == FACT
    assert +tally.names == {}


async def test_the_day_that_the_prompt_shows_with_a_fact_is_supported() -> None:
    """A fact without a day of its own is shown with the day on which it was said, which the profile may repeat."""
    answer = {**NO_LINES, "nothing_new": False, "tags": [], "summary": "2026年3月4日说只投三家，两家杭州一家广州"}
    assert (await merged(answer, facts=("阿岚(1840022917) 只投三家，两家杭州一家广州",))).summary == answer["summary"]


async def test_a_first_profile_of_inventions_alone_is_refused() -> None:
    """If no fact says anything of both answers, the facts wait and nothing is written."""
    answer = {**NO_LINES, "nothing_new": False, "tags": [], "summary": INVENTED}
    with pytest.raises(BadAnswer, match="没有事实"):
        await merged(answer, answer)


async def test_what_people_wrote_under_their_own_headings_stays() -> None:
    """A section with a heading of its own is neither shown to the model nor changed."""
    by_hand = "## 备注\n- 群主说他**不接**急单\n\n1. 别问价\n### 更多\n- 到 2027 年"
    merger, chat = a_merger(a_drawing())
    content = await merger.merge(TANG, a_profile(f"{BODY}\n\n{by_hand}\n"), facts_of(), NOON)
    assert content.summary.endswith("\n\n" + by_hand)
    assert "急单" not in chat.asks[0].prompt
    assert "二手平刨" in content.summary


@pytest.mark.parametrize(
    "bad",
    [
        a_drawing(interests=[], style=[], tools=[], pain_points=[], role=[], summary="阿岚买了二手平刨。"),
        a_drawing(summary="他是个小偷，经常骗群友的钱，大家要小心，不要相信他说的任何话，也不要借钱给他。"),
        a_drawing(topics=["好友 98765432"]),
    ],
)
async def test_a_harmful_profile_is_asked_for_again(bad: dict[str, Any]) -> None:
    """A harmful answer is rejected and asked again with the reason; if repeated, the facts keep waiting."""
    merger, chat = a_merger(bad, a_drawing())
    content = await merger.merge(TANG, a_profile(), facts_of(), NOON)
    assert "二手平刨" in content.summary
    assert "上次的回答没有采用" in chat.asks[1].prompt
    merger, chat = a_merger(bad, bad)
    with pytest.raises(BadAnswer):
        await merger.merge(TANG, a_profile(), facts_of(), NOON)
    assert chat.calls == 2


async def test_a_model_that_takes_its_word_back_is_not_believed() -> None:
    """A harmful answer followed by "nothing new" is rejected, and the facts keep waiting."""
    with pytest.raises(BadAnswer):
        await merged(a_drawing(topics=["好友 98765432"]), {"nothing_new": True}, profile=a_profile())


async def test_a_long_profile_is_condensed_and_never_cut() -> None:
    """An answer over the limit is asked again once, shorter; then a little over is accepted and more is not."""
    limit = len(BODY)
    longer = a_drawing(topics=["2026年4月18日花5400元买了二手平刨", "存钱买二手平刨，预算六千元"])
    shorter = a_drawing()
    merger, chat = a_merger(longer, shorter, max_chars=limit)
    content = await merger.merge(TANG, a_profile(), facts_of(), NOON)
    assert "预算" not in content.summary
    assert f"最多 {limit} 个" in chat.asks[1].prompt
    content = await merged(longer, longer, profile=a_profile(), max_chars=limit)
    assert "预算六千元" in content.summary
    with pytest.raises(BadAnswer):
        await merged(longer, longer, profile=a_profile(), max_chars=limit // 2)


async def test_a_condensed_profile_that_lost_too_much_is_not_taken() -> None:
    """If the shortened answer lost too much, the first one is used if it is only a little too long."""
    longer = a_drawing(topics=["2026年4月18日花5400元买了二手平刨", "存钱买二手平刨，预算六千元"])
    ruin = {**NO_LINES, "nothing_new": False, "tags": [], "summary": "阿岚买了二手平刨。"}
    content = await merged(longer, ruin, profile=a_profile(), max_chars=len(BODY))
    assert "预算六千元" in content.summary


FORGETS = a_drawing(pain_points=[], tools=[])


@pytest.mark.parametrize(
    "forgets",
    [FORGETS, a_drawing(pain_points=[]), a_drawing(interests=[], summary="阿岚在青岛开一间木工房。")],
    ids=["two sections", "a section", "the only trace"],
)
async def test_a_profile_that_forgot_lines_is_asked_for_again(forgets: dict[str, Any]) -> None:
    """Lines lost without a reason are named to the model, and its second answer is used if it is no worse."""
    merger, chat = a_merger(forgets, a_drawing())
    content = await merger.merge(TANG, a_profile(), facts_of(), NOON)
    assert "## 困扰" in content.summary
    assert "漏掉了原有的" in chat.asks[1].prompt
    assert "Fusion" in content.summary
    assert "二手平刨" in (await merged(forgets, forgets, profile=a_profile())).summary


async def test_of_two_profiles_that_forgot_the_fuller_one_is_taken() -> None:
    """Of two answers that lost lines, the one with fewer losses is used."""
    fuller = a_drawing(pain_points=[])
    for worse in (FORGETS, a_drawing(topics=["好友 98765432"]), {"nothing_new": True}):
        content = await merged(fuller, worse, profile=a_profile())
        assert "Fusion" in content.summary
        assert "二手平刨" in content.summary


@pytest.mark.parametrize(
    ("drawing", "facts"),
    [
        (a_drawing(topics=["2026年5月2日去了趟威海"]), ("阿岚(1840022917) 2026年5月2日去了趟威海",)),
        (a_drawing(tools=["Fusion"]), (FACT,)),
        (a_drawing(pain_points=[]), (FACT, "阿岚(1840022917) 的桐油过敏好了")),
        (a_drawing(pain_points=[], role=["住在青岛的木工，对桐油过敏，用蜂蜡"]), (FACT,)),
    ],
    ids=["a topic passed", "one line of many", "a fact speaks of it", "it moved"],
)
async def test_what_goes_for_a_reason_costs_no_second_question(drawing: dict[str, Any], facts: tuple[str, ...]) -> None:
    """Lines lost for a reason, such as an old topic, a joined line or a newer fact, are not asked about."""
    merger, chat = a_merger(drawing)
    await merger.merge(TANG, a_profile(), facts_of(*facts), NOON)
    assert chat.calls == 1


async def test_noted_lines_become_a_profile() -> None:
    """Lines noted by rules may be reworded by a model later."""
    notes = [noted_on(line, "2026-03-04") for lines in LINES.values() for line in lines]
    body = "（更早的 3 条没有列在这里，仍可搜到）\n\n## 近期话题\n" + "\n".join(notes)
    content = await merged(a_drawing(), profile=a_profile(body, tags=()))
    assert "记于" not in content.summary
    assert "更早的" not in content.summary


GONE = "阿岚(1840022917) 对桐油过敏，改用蜂蜡"
WITHOUT = a_drawing(topics=list(LINES["topics"]), pain_points=[])


def gone(text: str = GONE) -> Fact:
    """Return a fact that must be removed from the profile."""
    return Fact(KEY, f"gone {text}", text, "event", NOON, is_withdrawn=True)


async def left(*answers: object, profile: Profile | None = None, facts: tuple[Fact, ...] = (gone(),)) -> ProfileContent:
    """Merge withdrawn facts."""
    merger, _ = a_merger(*answers)
    return await merger.merge(TANG, profile or a_profile(), facts, NOON)


async def test_what_is_withdrawn_leaves_the_profile() -> None:
    """A withdrawn fact is removed from text and tags, the rest stays, and new facts are merged."""
    content = await left(WITHOUT, profile=a_profile(tags=("木工", "桐油过敏")))
    assert content == ProfileContent(("木工", "猫"), BODY.removesuffix("\n\n## 困扰\n- 对桐油过敏，改用蜂蜡"))
    content = await left({**a_drawing(), "pain_points": []}, facts=(gone(), *facts_of()))
    assert "5400" in content.summary
    assert "桐油" not in content.summary


@pytest.mark.parametrize(
    "kept",
    [
        a_drawing(topics=list(LINES["topics"])),
        {**WITHOUT, "tags": ["木工", "桐油过敏"]},
        {**WITHOUT, "summary": f"{SUMMARY}她对桐油过敏，只用蜂蜡。"},
        {"nothing_new": True},
        {**NO_LINES, "nothing_new": False, "tags": [], "summary": ""},
        {**NO_LINES, "nothing_new": False, "tags": ["木工"], "summary": "木工。"},
    ],
    ids=["all", "a tag", "in other words", "nothing new", "nothing left", "hardly anything left"],
)
async def test_a_profile_that_still_tells_it_is_asked_for_again(kept: dict[str, Any]) -> None:
    """An answer that still contains it, or lost everything else, is asked again; repeated, the facts wait."""
    merger, chat = a_merger(kept, WITHOUT)
    content = await merger.merge(TANG, a_profile(), [gone()], NOON)
    assert "桐油" not in content.summary
    assert "上次的回答没有采用" in chat.asks[1].prompt
    with pytest.raises(BadAnswer):
        await left(kept, kept)


async def test_a_complaint_quotes_what_must_go() -> None:
    """The second question quotes what must be removed."""
    merger, chat = a_merger({**WITHOUT, "topics": ["因为桐油过敏改用了蜂蜡"]}, WITHOUT)
    await merger.merge(TANG, a_profile(), [gone()], NOON)
    assert "「因为桐油过敏改用了蜂蜡」" in chat.asks[1].prompt


async def test_what_is_told_in_parts_is_still_told() -> None:
    """A withdrawn statement that is spread over several lines still counts as contained."""
    statement = "阿岚(1840022917) 每逢暴雨必在阁楼弹奏祖父留下的月琴"
    spread = ["下暴雨就待在阁楼，翻书听唱片", "偶尔弹奏月琴给朋友们助兴热闹", "一直想念故去多年的祖父留下的老房子"]
    old = a_drawing(topics=list(LINES["topics"]))
    merger, chat = a_merger({**old, "interests": [*LINES["interests"], *spread]}, old)
    body = BODY.replace("## 兴趣\n", "## 兴趣\n- 每逢暴雨必在阁楼弹奏祖父留下的月琴\n")
    content = await merger.merge(TANG, a_profile(body), [gone(statement)], NOON)
    assert f"「{statement[:40]}" in chat.asks[1].prompt
    assert content.summary == BODY


async def test_what_a_new_fact_tells_as_well_may_stay() -> None:
    """A statement repeated by a new fact may stay after its withdrawal."""
    again = facts_of("阿岚(1840022917) 对桐油过敏，改用蜂蜡")
    content = await left(a_drawing(topics=list(LINES["topics"])), facts=(gone(), *again))
    assert "桐油" in content.summary


async def test_a_profile_of_which_nothing_is_left_is_empty() -> None:
    """If everything was withdrawn, an empty answer is accepted, and no earlier tag or sentence returns."""
    profile = a_profile("她对桐油过敏，改用蜂蜡。", tags=("桐油过敏",))
    empty = {**NO_LINES, "nothing_new": False, "tags": [], "summary": ""}
    assert await left(empty, profile=profile) == ProfileContent((), "")
    with pytest.raises(BadAnswer):
        await left({"nothing_new": True}, {"nothing_new": True}, profile=profile)


async def test_nothing_new_is_believed_where_nothing_tells_it() -> None:
    """Nothing new is accepted if the profile does not contain the withdrawn statement."""
    assert await left({"nothing_new": True}, facts=(gone("阿岚(1840022917) 昨晚弄丢了门卡"),)) == ProfileContent(
        ("木工", "猫"), BODY
    )


@pytest.mark.parametrize("answer", [WITHOUT, {**WITHOUT, "nothing_new": True}], ids=["drawn", "nothing new"])
async def test_what_people_wrote_loses_it_too(answer: dict[str, Any]) -> None:
    """A withdrawn sentence is removed by code from sections that people wrote."""
    by_hand = "## 备注\n- 群主说她**不接**急单\n- 对桐油过敏，别送她桐油。下雨天不来"
    body = BODY.removesuffix("\n\n## 困扰\n- 对桐油过敏，改用蜂蜡")
    content = await left(answer, profile=a_profile(f"{body}\n\n{by_hand}"))
    assert content.summary.endswith("\n\n## 备注\n- 群主说她**不接**急单\n- 下雨天不来")


@pytest.mark.parametrize("error", [UnavailableError("away"), PermanentError("no"), BadAnswer("broken")])
async def test_a_models_failure_is_passed_on(error: Exception) -> None:
    """A model's error is raised to the caller."""
    with pytest.raises(type(error)):
        await merged(error)


class _Drawing:
    """A chat model that gives the same answer to every question."""

    def __init__(self, drawn: ProfileAnswer) -> None:
        """Give this answer."""
        self._drawn = drawn

    async def ask(self, ask: object) -> Any:
        """Return the answer."""
        return self._drawn


TRAITS = [
    f"第{number}件长处是{chr(0x4E00 + 97 * number)}{chr(0x5000 + 89 * number)}{chr(0x6000 + 83 * number)}"
    for number in range(12)
]
TEXTS = st.lists(st.sampled_from(TRAITS) | st.text(max_size=60), max_size=12).map(tuple)
DRAWINGS = st.builds(
    ProfileAnswer,
    st.booleans(),
    TEXTS,
    st.text(max_size=300) | st.lists(st.sampled_from(TRAITS)).map("。".join),
    *(TEXTS for _ in LINES),
)


@settings(max_examples=sized(100, 1_000), deadline=None)
@given(DRAWINGS, st.integers(0, 11))
async def test_a_puppet_keeps_nothing_that_is_withdrawn(drawn: ProfileAnswer, number: int) -> None:
    """Whatever a model answers, withdrawn statements are removed and half of the rest is kept."""
    old = a_profile("阿岚。\n\n## 兴趣\n" + "\n".join(f"- {trait}" for trait in TRAITS), tags=("木工", TRAITS[number]))
    merger = ModelMerger(_Drawing(drawn), LIBRARY, Live(Settings()))
    try:
        content = await merger.merge(TANG, old, [gone(f"阿岚(1840022917) 的{TRAITS[number]}")], NOON)
    except BadAnswer:
        return
    told = "\n".join((*content.tags, content.summary))
    assert TRAITS[number] not in told
    assert sum(trait in told for trait in TRAITS) >= len(TRAITS) // 2 - 1


@settings(max_examples=sized(100, 1_000), deadline=None)
@given(DRAWINGS)
async def test_a_puppet_destroys_no_profile(drawn: ProfileAnswer) -> None:
    """Whatever a model answers, a profile keeps half of its lines, its tags and its limits."""
    old = a_profile("阿岚。\n\n## 兴趣\n" + "\n".join(f"- {trait}" for trait in TRAITS))
    merger = ModelMerger(_Drawing(drawn), LIBRARY, Live(Settings()))
    try:
        content = await merger.merge(TANG, old, facts_of(), NOON)
    except BadAnswer:
        return
    left = sum(trait in content.summary or trait in content.tags for trait in TRAITS)
    assert left >= len(TRAITS) // 2 - 1
    assert len(content.summary) <= 1000
    assert len(content.tags) <= 12
    assert content.tags
    assert "\u202e" not in content.summary


OLD_GROUP = "读科幻的群。\n\n## 身份\n- 读书会不许发链接\n\n## 公告\n- 手写的\n\n## 近期话题\n- 在读《沙丘》"
GROUP_ANSWER = {
    "nothing_new": False,
    "tags": ["科幻"],
    "summary": "读科幻的群。",
    "rules": ["不许发链接", "每周五读书"],
    "state": ["在读《沙丘》"],
    "topics": [],
    "members": [],
}


async def test_a_groups_profile_has_headings_of_its_own() -> None:
    """An older group's profile is shown to the model whole and comes back under the group's headings."""
    key = ProfileKey.group("620118845")
    chat = ScriptedChat(GROUP_ANSWER)
    merger = ModelMerger(chat, LIBRARY, Live(Settings()))
    fact = Fact(key, "e1", "阿岚(1840022917) 说：读书会(620118845)每周五读书", "event", NOON)
    old = Profile(key, "读书会", (), OLD_GROUP, NOON, version="1")
    content = await merger.merge(Person("620118845", "读书会"), old, [fact], NOON)
    assert content.summary == (
        "读科幻的群。\n\n## 规矩\n- 不许发链接\n- 每周五读书\n\n## 现状\n- 在读《沙丘》\n\n## 公告\n- 手写的"
    )
    (asked,) = chat.asks
    assert "读书会不许发链接" in asked.prompt
    assert "手写的" not in asked.prompt
    assert "阿岚(1840022917) 说：" in asked.prompt
    assert {"rules", "state", "topics", "members"} < asked.schema["properties"].keys()
    assert not {"role", "pain_points"} & asked.schema["properties"].keys()


@pytest.mark.parametrize(
    ("line", "title", "kept"),
    [
        ("- - 2026年4月18日买了二手平刨（记于 2026-04-18）", "近期话题", "2026年4月18日买了二手平刨"),
        ("1. 2026年4月18日买了二手平刨（2026年4月18日）", "近期话题", "2026年4月18日买了二手平刨"),
        ("2026-04-18 买了二手平刨", "近期话题", "2026-04-18 买了二手平刨"),
        ("2026年4月起改做实木二手平刨", "兴趣", "2026年4月起改做实木二手平刨"),
        ("• 喜欢二手平刨（记于 2026-04-18）", "兴趣", "喜欢二手平刨（记于 2026-04-18）"),
    ],
)
async def test_lasting_traits_stand_apart_from_dated_items(line: str, title: str, kept: str) -> None:
    """A line that begins with a day stands among the recent topics, with one date and one bullet."""
    answer = a_drawing(interests=[*LINES["interests"], line], topics=list(LINES["topics"]))
    merger = ModelMerger(ScriptedChat(answer), LIBRARY, Live(Settings()))
    summary = (await merger.merge(TANG, a_profile(), facts_of(FACT, line), NOON)).summary
    assert f"\n- {kept}\n" in summary.partition(f"## {title}")[2].partition("##")[0]
    assert summary.count("平刨") == LINES["topics"][0].count("平刨") + 1
