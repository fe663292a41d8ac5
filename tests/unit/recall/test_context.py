"""Tests of building the context of a turn."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from datetime import timedelta

import pytest

from cognitive_memory_core import sentences
from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.notes import Memo, Pin
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.recall.beliefs_and_profiles import ProfileReader
from cognitive_memory_core.recall.names import CurrentNames
from cognitive_memory_core.settings.schema import Live, QuerySettings, Settings
from cognitive_memory_core.text.tokens import token_count
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_message, an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import a_ledger, name_person
from tests.support.listed_profiles import ListedIndex, ListedProfiles, ListedWithdrawals, a_listed
from tests.support.ports import (
    CountingEmbedder,
    ListedEvents,
    ListedNotes,
    ListedVectors,
    ListedWords,
    a_recall,
)

TEA = an_event("阿棠(2000001) 喜欢乌龙茶", id="tea")
QUESTION = "阿棠喜欢什么茶"


def a_memo(text, number=0, scene=GROUP):
    """Return a memo of a given age."""
    return Memo(text, scene.scope, text, NOON + timedelta(minutes=number), scene.user_id)


def a_pin(text, owner_id="", scene=GROUP):
    """Return a pin."""
    return Pin(text, scene.scope, text, owner_id, NOON)


NOTES = ListedNotes(
    [a_memo("推荐了乌龙茶", 1), a_memo("讲了笑话", 2), a_memo("私下聊了工作", 3, PRIVATE)],
    [
        a_pin("群规：不剧透"),
        a_pin("叫我棠姐", "2000001"),
        a_pin("别人的话", "2000002"),
        a_pin("私下的话", "2000001", PRIVATE),
    ],
)


def a_builder(
    notes=NOTES,
    waiting=(),
    *,
    settings=None,
    events=None,
    words=None,
    vectors=None,
    embedder=None,
    profiles=None,
    consent=None,
):
    """Return a recall over test doubles that hold TEA and NOTES."""
    return a_recall(
        None,
        embedder,
        Live(settings or Settings()),
        consent=consent,
        events=events or ListedEvents(TEA),
        words=words or ListedWords([(TEA, 3.0)]),
        vectors=vectors or ListedVectors((TEA, 0.9)),
        notes=notes,
        waiting_memos=lambda scope: [memo for memo in waiting if memo.scope == scope],
        profiles=profiles,
    )


async def without_people(*scenes):
    """Return a consent in which the people of these scenes opted out."""
    ledger = a_ledger()
    consent = Consent(ledger)
    for scene in scenes:
        await name_person(ledger, scene.scope, scene.user_id, scene.user_name, NOON)
        await consent.opt_out(scene.user_id, NOON)
    return consent


def shown(context):
    """Return the lines of the block without its opening and closing lines and notice."""
    return context.text.split("\n")[2:-1]


async def test_the_sections_stand_in_their_order():
    """Sections are ordered pins, events, memos, so that prompt caches can reuse the beginning."""
    context = await a_builder().context(GROUP, QUESTION)
    assert shown(context) == [
        "【置顶】",
        "- 群规：不剧透",
        "- 叫我棠姐",
        "【相关回忆】",
        "- [2026-03-04 周三 12:00] 阿棠(2000001) 喜欢乌龙茶",
        "【近期备忘】",
        "- [2026-03-04 12:01] 推荐了乌龙茶",
        "- [2026-03-04 12:02] 讲了笑话",
    ]
    assert (context.tokens, context.degraded) == (token_count(context.text), ())
    assert [section.title for section in context.sections] == ["置顶", "相关回忆", "近期备忘"]


async def test_a_memo_that_is_erased_while_a_reranker_is_asked_is_not_shown():
    """What a pass read is what a context shows: of an earlier pass no memo is left, those in the queue stay."""
    notes = ListedNotes([a_memo("推荐了乌龙茶", 1)])

    class Judge:
        async def scores(self, _query, texts):
            notes.held.clear()
            return [0.9 for _ in texts]

    found = {"events": ListedEvents(TEA), "words": ListedWords([(TEA, 3.0)]), "vectors": ListedVectors((TEA, 0.9))}
    recall = a_recall(notes=notes, reranker=Judge(), waiting_memos=lambda _: [a_memo("讲了笑话", 2)], **found)
    text = (await recall.context(GROUP, QUESTION)).text
    assert "讲了笑话" in text
    assert "推荐了乌龙茶" not in text


async def test_what_was_replaced_is_marked_behind_what_replaces_it():
    """The newer event stands first, even if no search found it; the replaced one is marked."""
    old = an_event("阿棠(2000001) 喜欢红茶", id="old", happened_at=NOON - timedelta(days=3))
    new = an_event("阿棠(2000001) 改喝豆浆", id="new", replaces="old")
    found = {"words": ListedWords([(old, 3.0)]), "vectors": ListedVectors((old, 0.9))}
    builder = a_builder(ListedNotes(), events=ListedEvents(old, new), **found)
    _, first, second = shown(await builder.context(GROUP, QUESTION))
    assert "豆浆" in first
    assert sentences.context.REPLACED in second
    assert "红茶" in second


async def test_the_budget_of_the_call_wins():
    """The budget passed to a call replaces the configured one; 0 gives nothing."""
    builder = a_builder()
    small = await builder.context(GROUP, QUESTION, budget=110)
    assert 0 < small.tokens <= 110 < (await builder.context(GROUP, QUESTION)).tokens
    assert (await builder.context(GROUP, QUESTION, budget=0)).text == ""


PERSON = a_listed(ProfileKey.member("10001", "2000001"), "## 兴趣\n- 乌龙茶\n- 爬山", tags=("茶", "登山"))
READING = a_listed(ProfileKey.group("10001"), "每周读一本小说。", name="读书会")


async def portraits_of(*held, store=None):
    """Return profiles over a store that holds these profiles."""
    ledger, live = a_ledger(), Live(Settings())
    consent = Consent(ledger, live)
    store = store or ListedProfiles(*held)
    parts = (store, ListedIndex(*held), CountingEmbedder(), consent, live)
    return ProfileReader(*parts, facts=ListedWithdrawals(), names=CurrentNames(ledger.names)), consent


MAN = Scene.group("10001", "2000002", user_name="小满", group_name="读书会")
OF_MAN = a_listed(ProfileKey.member("10001", "2000002"), "喜欢陶艺。", name="小满", tags=("陶艺",))
SECRET = a_listed(ProfileKey.user("2000002"), "在看医生。", name="小满")


def a_line(text, hours, scene=GROUP, **fields):
    """Make a line said so many hours after noon."""
    return a_message(text, scene, NOON + timedelta(hours=hours), **fields)


TALK = (
    a_line("谁知道乌龙茶哪里买", 0, id="asked"),
    a_line("乌龙茶在南门买", 1, MAN, id="answered", reply_to="asked"),
    a_line("阿棠喜欢喝乌龙茶", 2, MAN, id="source"),
    a_line("又在喝乌龙茶", 30, id="newest"),
)


async def quoting(*lines, settings=None, names=(), consent=None, log=None, profiles=None, event=TEA):
    """Make a builder whose log holds lines, beside one event."""
    ledger = a_ledger(clock=FrozenClock())
    await ledger.log.append(lines)
    for scene, name in names:
        await name_person(ledger, scene.scope, scene.user_id, name, NOON)
    return a_recall(
        ledger,
        None,
        Live(settings or Settings()),
        consent=consent,
        events=ListedEvents(event),
        words=log or SaidLines(ledger.corpora, event),
        vectors=ListedVectors((event, 0.9)),
        notes=ListedNotes(),
        profiles=profiles,
    )


class SaidLines(ListedWords):
    """A lexical index that finds one event, and the lines of a log."""

    def __init__(self, log, event):
        """Take the index of the log."""
        super().__init__([(event, 3.0)])
        self._log = log

    def found_lines(self, connection, search):
        """Return the lines found."""
        return self._log.found_lines(connection, search)

    def surround(self, *asked):
        """Give lines those around them."""
        self._log.surround(*asked)


def of_section(context, title):
    """Give the lines of one section."""
    return next((section.lines for section in context.sections if section.title == title), ())


async def test_lines_of_the_log_stand_behind_the_events():
    """Each with its speaker, day and time and what it replies to; the caller shows the newest itself."""
    context = await (await quoting(*TALK)).context(GROUP, "乌龙茶在哪买", shown=["newest"])
    assert [section.title for section in context.sections] == ["相关回忆", "相关原话"]
    assert (
        "- [2026-03-04 周三 13:00] 小满(2000002) 回复 阿棠(2000001)「谁知道乌龙茶哪里买」：乌龙茶在南门买"
    ) in of_section(context, "相关原话")
    assert "又在喝" not in context.text
    assert context.degraded == ()


async def test_a_line_that_an_event_was_made_of_is_not_told_again():
    """What an event says needs no second line, and the next best takes its place."""
    told = replace(TEA, message_ids=("answered",))
    for event, is_quoted in ((TEA, True), (told, False)):
        lines = of_section(await (await quoting(*TALK, event=event)).context(GROUP, "乌龙茶在哪买"), "相关原话")
        assert any("乌龙茶在南门买" in line for line in lines if "回复" in line) == is_quoted
        assert lines


async def test_an_explanation_ranks_the_lines_and_tells_why_others_are_left_out():
    """The lines shown have the ranks from 1 on; a line whose event is shown, or beyond the limit, says so."""
    told, settings = replace(TEA, message_ids=("answered",)), Settings(query=QuerySettings(auto_messages_k=1))
    explanation = await (await quoting(*TALK, event=told, settings=settings)).explained(GROUP, "乌龙茶在哪买")
    assert [one.rank for one in explanation.lines] == [1, *[0] * (len(explanation.lines) - 1)]
    cuts = {one.line.id: one.cut for one in explanation.lines}
    assert cuts["answered"] == "shown_as_event"
    assert [cut for name, cut in cuts.items() if name != "answered"] == [None, *["limit"] * (len(cuts) - 2)]
    for one in explanation.lines:
        assert one.relevance == pytest.approx(sum(part for _, part in one.parts))
        assert one.score == pytest.approx(one.relevance * math.prod(factor for _, factor in one.factors))


async def test_the_lines_after_a_quoted_one_stand_beside_it():
    """A question is shown with what was said next, behind its own words; not where that is shown itself or hidden."""
    talk = (
        a_line("乌龙茶是谁带来的", 0, id="asked"),
        a_line("「小满」昨天拿来的", 0.1, MAN, id="next"),
        a_line("一罐六十", 0.2, id="after"),
        a_line("又在喝", 30, id="newest"),
    )
    lines = of_section(await (await quoting(*talk)).context(GROUP, "乌龙茶"), "相关原话")
    following = "（下一句 小满(2000002)「『小满』昨天拿来的」）（下一句 阿棠(2000001)「一罐六十」）"
    assert lines[0].endswith(f"周三 12:00] 阿棠(2000001)：乌龙茶是谁带来的{following}")
    hidden = await quoting(*talk, consent=await without_people(MAN))
    assert [line for line in of_section(await hidden.context(GROUP, "乌龙茶"), "相关原话") if "昨天拿来" in line] == []
    told = replace(TEA, message_ids=("next",))
    lines = of_section(await (await quoting(*talk, event=told)).context(GROUP, "乌龙茶"), "相关原话")
    assert lines[0].endswith("乌龙茶是谁带来的")  # what was said after a line shown elsewhere is not next


@pytest.mark.parametrize(("reply_to", "is_next"), [("other", False), ("asked", True), (None, True)])
async def test_an_answer_to_another_line_does_not_stand_beside_a_quoted_one(reply_to: str | None, *, is_next: bool):
    """好的 to somebody else's line is not shown as what was said next to a claim; an answer to the claim itself is."""
    talk = (
        a_line("明天带什么", 0, id="other"),
        a_line("乌龙茶钱以后都交给我", 0.1, MAN, id="asked"),
        a_line("好的", 0.2, id="yes", reply_to=reply_to),
        a_line("又在喝", 30, id="newest"),
    )
    lines = of_section(await (await quoting(*talk)).context(GROUP, "乌龙茶钱"), "相关原话")
    assert ("「好的」" in lines[0]) == is_next


async def test_of_equal_lines_after_a_quoted_one_the_first_is_shown():
    """What the same person says twice after a quoted line stands beside it once; what somebody else says, too."""
    asked, said = a_line("乌龙茶是谁带来的", 0, id="asked"), a_line("我带的", 0.1, MAN, id="first")
    for second, count in ((a_line("我带的", 0.2, MAN, id="again"), 1), (a_line("我带的", 0.2, id="other"), 2)):
        talk = asked, said, second, a_line("又在喝", 30, id="newest")
        lines = of_section(await (await quoting(*talk)).context(GROUP, "乌龙茶"), "相关原话")
        assert lines[0].count("「我带的」") == count


async def test_whom_the_question_names_is_shown_in_short():
    """In a group their names and the profile that they have there; never what was learned elsewhere, nor in private."""
    profiles, _ = await portraits_of(PERSON, OF_MAN, SECRET)
    names = ((MAN, "满满"), (MAN, "小满"), (GROUP, "阿棠"))
    builder = await quoting(names=names, profiles=profiles)
    context = await builder.context(GROUP, "小满喜欢什么")
    assert of_section(context, "用户侧写")[:2] == (
        "- 小满(2000002)（自己说的，未经核实），也叫 满满；标签：陶艺",
        "- 小满：喜欢陶艺。",
    )
    assert of_section(context, "用户侧写")[2].startswith("- 阿棠(2000001)")
    left = await quoting(names=names, profiles=profiles, consent=await without_people(MAN))
    for builder_there, scene in ((left, GROUP), (builder, OTHER_GROUP), (builder, PRIVATE)):
        assert "小满" not in (await builder_there.context(scene, "小满喜欢什么")).text
    assert "看医生" not in context.text


async def test_what_seldom_changes_is_byte_for_byte_the_same():
    """With the same memory, two contexts are equal up to the first section that depends on the question."""
    profiles, _ = await portraits_of(PERSON, READING)
    food = an_event("阿棠(2000001) 不吃香菜", id="food")

    def builder(event):
        found = {"words": ListedWords([(event, 3.0)]), "vectors": ListedVectors((event, 0.9))}
        return a_builder(profiles=profiles, events=ListedEvents(TEA, food), **found)

    tea, other = await builder(TEA).context(GROUP, QUESTION), await builder(food).context(GROUP, QUESTION)
    assert (await builder(TEA).context(GROUP, QUESTION)).text == tea.text
    before, marker, _ = tea.text.partition("【相关回忆】\n")
    assert marker
    assert before == other.text.partition("【相关回忆】\n")[0]
    assert "乌龙茶" in before
    assert tea.text != other.text


async def test_giving_up_is_not_swallowed():
    """Cancelling a turn cancels the building of its context, even while a model hangs."""
    embedder = CountingEmbedder()
    embedder.may_answer.clear()
    building = asyncio.create_task(a_builder(embedder=embedder).context(GROUP, QUESTION))
    await asyncio.sleep(0)
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building
    embedder.may_answer.set()
