"""Beliefs through the façade: a run, its history, what admins do, and what a turn is shown."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core
from tests.support.beliefs import (
    CHAT,
    FRIDAY,
    LIN,
    MO,
    TEA,
    a_chat,
    answered,
    created,
    deleted,
    greetings,
    kept,
    updated,
)
from tests.support.builders import GROUP, PRIVATE
from tests.support.chats import ScriptedChat
from tests.support.clock import NOON, FrozenClock
from tests.support.puppet import MERGE, TRIAGE, Puppet, Question, shaped, statement

LIVE = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"))


@asynccontextmanager
async def opened(tmp_path: Path, *answers: object) -> AsyncIterator[tuple[Any, FrozenClock]]:
    """Open a memory with a scripted model; the clock stands an hour after the first lines."""
    clock = FrozenClock()
    clock.advance(hours=1)
    chat = ScriptedChat(*answers) if answers else None
    async with core.CognitiveMemory.open(LIVE, tmp_path / "data", background=False, clock=clock, chat=chat) as memory:
        for line in greetings():
            await memory.observe(line)
        yield memory, clock


@asynccontextmanager
async def read_by(reader: Callable[[Question], object], tmp_path: Path) -> AsyncIterator[tuple[Any, FrozenClock]]:
    """Open an empty memory whose model is a function."""
    clock, chat = FrozenClock(), Puppet(reader)
    async with core.CognitiveMemory.open(LIVE, tmp_path / "data", background=False, clock=clock, chat=chat) as memory:
        yield memory, clock


async def settled(memory: Any, clock: FrozenClock, *texts: str, first: int = 1) -> core.Scene:
    """Let an admin say lines now and the historian consider them; return the scene they stand in."""
    lines = a_chat(*((TEA, text) for text in texts), at=clock.now(), first=first)
    lines = [replace(line, scene=replace(line.scene, is_admin=True)) for line in lines]
    for line in lines:
        await memory.observe(line)
    await memory.consider(lines[0].scene, lines)
    assert await memory.drain(30)
    return lines[0].scene


async def said(memory: Any, *lines: tuple[tuple[str, str], str], at: Any = NOON, first: int = 1) -> None:
    """Log lines of the group."""
    for line in a_chat(*lines, at=at, first=first):
        await memory.observe(line)


async def test_without_a_model_nothing_changes(tmp_path: Path) -> None:
    """Without a model, or if it answers nothing usable, the message says so and no belief changes."""
    async with opened(tmp_path) as (memory, _):
        await said(memory, *CHAT)
        assert "还没接大模型" in (await memory.evolve(GROUP)).message
    async with opened(tmp_path, "这不是JSON") as (memory, _):
        assert "没有变化" in (await memory.evolve(GROUP)).message
        assert (await memory.beliefs(GROUP, status="all")).total == 0


async def test_only_groups_have_beliefs(tmp_path: Path) -> None:
    """In a private chat every call answers with one sentence; an unknown belief is an error of its own."""
    async with opened(tmp_path, "x") as (memory, _):
        for asked in (
            memory.beliefs(PRIVATE),
            memory.evolve(PRIVATE),
            memory.search_beliefs(PRIVATE, "规矩"),
            memory.belief_changes(PRIVATE),
            memory.retire_belief(PRIVATE, "b", ""),
        ):
            with pytest.raises(core.BadArgument, match="群记忆只在群里有"):
                await asked
        for asked in (memory.belief_history(GROUP, "b"), memory.set_belief_strength(GROUP, "b", 0.5)):
            with pytest.raises(core.UnknownBelief):
                await asked


async def test_an_admins_wording_is_nobodys_word(tmp_path: Path) -> None:
    """A reworded belief is a new version without a source; the older one is restored with its supporters."""
    async with opened(tmp_path, answered(created(FRIDAY, 1, 2), created("不讨论政治", 4, 5))) as (memory, _):
        await said(memory, *CHAT)
        await memory.evolve(GROUP)
        first = (await memory.search_beliefs(GROUP, FRIDAY, threshold=0.3))[0].belief
        reworded = await memory.reword_belief(GROUP, first.id, " 周六晚上讨论新番 ")
        assert (reworded.statement, reworded.version, reworded.supporters) == ("周六晚上讨论新番", 2, ())
        text = (await memory.context(GROUP, "什么时候讨论新番")).text
        assert "周六晚上讨论新番（归纳于 2026-03-04）" in text
        assert FRIDAY not in [one.statement for one in (await memory.beliefs(GROUP)).beliefs]
        for statement, error in (
            ("不讨论政治", core.MistakeError),
            ("长" * 301, core.BadArgument),
            (" ", core.BadArgument),
        ):
            with pytest.raises(error):
                await memory.reword_belief(GROUP, first.id, statement)
        back = await memory.restore_belief(GROUP, first.id)
        assert (back.statement, back.supporters) == (FRIDAY, first.supporters)


async def test_a_turn_is_shown_the_beliefs(tmp_path: Path) -> None:
    """Beliefs are shown, to agents too, with the words of who said them first; those asleep are left out."""
    answer = answered(created(FRIDAY, 1, 2, 3), created("不讨论政治", 4, 5))
    async with opened(tmp_path, answer) as (memory, _):
        await said(memory, *CHAT)
        await memory.evolve(GROUP)
        context = await memory.context(GROUP, "我们来讨论一下政治吧")
        (section,) = [one for one in context.sections if one.title == "群记忆"]
        assert sorted(section.lines) == sorted(
            f"- {text}（据 {who} 2026-03-04「{line}」，归纳于 2026-03-04）"
            for text, who, line in (("不讨论政治", "阿墨(2000003)", CHAT[3][1]), (FRIDAY, "豆沙(2000001)", CHAT[0][1]))
        )
        told = await core.tools.agent_answer(core.tools.ToolCaller(memory, GROUP, core.Settings()), "beliefs", {})
        assert {one["text"]: one["words"] for one in told["beliefs"]} == {
            "不讨论政治": f"阿墨(2000003) 2026-03-04「{CHAT[3][1]}」",
            FRIDAY: f"豆沙(2000001) 2026-03-04「{CHAT[0][1]}」",
        }
        taboo = (await memory.search_beliefs(GROUP, "不讨论政治", threshold=0.3))[0].belief
        await memory.set_belief_strength(GROUP, taboo.id, 0.1)
        left = [one for one in (await memory.context(GROUP, "我们来讨论一下政治吧")).sections if one.title == "群记忆"]
        assert not any("政治" in line for one in left for line in one.lines)
        assert "群记忆" not in (await memory.context(PRIVATE, "政治")).text


async def test_a_belief_is_shown_with_who_said_it(tmp_path: Path) -> None:
    """Lists, searches, versions and changes hold the lines of who said a belief first; what is taken back is gone."""
    saturday = "每周六晚上讨论新番"
    answers = answered(created(FRIDAY, 1, 2)), answered(updated("B1", saturday, 1, 2)), answered(deleted("B1", 1, 2))
    first, second = CHAT[0][1], "新番讨论改到每周六晚上吧"
    async with opened(tmp_path, *answers) as (memory, clock):
        await said(memory, *CHAT[:2])
        (made,) = (await memory.evolve(GROUP)).changes
        clock.advance(hours=25)
        await said(memory, (TEA, second), (LIN, "好，改到周六晚上"), at=clock.now() - timedelta(minutes=9), first=11)
        (changed,) = (await memory.evolve(GROUP)).changes
        seen = [((), (first,)), ((first,), (second,))]
        assert [_said_in(one) for one in (made, changed)] == seen
        assert [_said_in(one) for one in await memory.belief_changes(GROUP)] == seen
        (belief,) = (await memory.beliefs(GROUP)).beliefs
        (hit,) = await memory.search_beliefs(GROUP, saturday, threshold=0.3)
        history = await memory.belief_history(core.Scene.operator(), belief.id)
        stronger = await memory.set_belief_strength(GROUP, belief.id, 0.9)
        for one in (belief, hit.belief, history[-1], stronger):
            assert [(quote.sender_id, quote.sender_name, quote.text) for quote in one.quotes] == [(*TEA, second)]
        retired = await memory.retire_belief(GROUP, belief.id, "")
        assert [quote.text for quote in retired.quotes] == [second]
        assert _said_in((await memory.belief_changes(GROUP))[-1]) == ((second,), ())
        file = tmp_path / "all.jsonl"
        await memory.export(file)
        rows = [row for row in map(json.loads, file.read_text("utf-8").splitlines()) if "message_ids" in row]
        assert not any("quotes" in row for row in rows if row["type"] == "belief")
        await memory.recall_message(GROUP, "m1")
        assert _said_in((await memory.belief_changes(GROUP))[0]) == ((), (CHAT[1][1],)), "who agreed"
        await memory.opt_out(TEA[0])
        assert second not in str(await memory.belief_changes(GROUP)) + str(await memory.beliefs(GROUP, status="all"))
        await memory.opt_out(LIN[0])
        assert await memory.belief_changes(GROUP) == [], "nobody is left who said it"
        restored = await memory.restore_belief(GROUP, belief.id)
        assert (restored.statement, restored.quotes, restored.supporters) == ("某位成员", (), ())


async def test_a_change_is_confirmed_though_its_words_cannot_be_read(tmp_path: Path) -> None:
    """What is stored is told as done, without the lines it rests on, if the ledger refuses to read these just then."""

    async def refused(*_: object) -> list[core.Message]:
        raise core.UnavailableError("away")

    async with opened(tmp_path, answered(created(FRIDAY, 1, 2))) as (memory, _):
        await said(memory, *CHAT[:2])
        memory._opened.buffer.find = refused
        (made,) = (await memory.evolve(GROUP)).changes
        assert (made.new_statement, made.new_quotes) == (FRIDAY, ())
        retired = await memory.retire_belief(GROUP, made.belief_id, "")
        assert (retired.statement, retired.status, retired.quotes) == (FRIDAY, "deprecated", ())


def _said_in(change: core.Change) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(quote.text for quote in quotes) for quotes in (change.old_quotes, change.new_quotes))


async def test_newer_events_stand_beside_a_belief(tmp_path: Path) -> None:
    """What replaced the events of a belief since it was last confirmed is shown with it, as the lines that say so."""

    def reader(question: Question) -> object:
        if question.name != TRIAGE:
            return answered(created(FRIDAY, 1))
        is_change = "周六" in question.prompt
        said = statement(1, "讨论新番改到每周六晚上" if is_change else FRIDAY, [GROUP.group_id], TEA[0], lines=[1])
        return shaped(question, {**said, "replaces": int(is_change)}, should_remember=True, reason="定了")

    async with read_by(reader, tmp_path) as (memory, clock):
        scene = await settled(memory, clock, CHAT[0][1])
        clock.advance(hours=1)
        assert (await memory.evolve(scene)).created == 1
        clock.advance(days=1)
        await settled(memory, clock, "讨论新番改到每周六晚上吧", first=2)
        clock.advance(days=1)
        context = await memory.context(GROUP, "哪天讨论新番")
        (section,) = [one for one in context.sections if one.title == "群记忆"]
        (line_shown,) = section.lines
        assert line_shown.startswith(
            f"- {FRIDAY}（据 豆沙(2000001) 2026-03-04「{CHAT[0][1]}」，归纳于 2026-03-04）（2026-03-05 后来："
        )
        assert line_shown.endswith("后来：豆沙(2000001)：“讨论新番改到每周六晚上吧”）")


async def test_the_words_of_a_belief_outlive_the_log(tmp_path: Path) -> None:
    """A belief whose lines the log has no more is shown with what its events quote, until these are forgotten.

    Issue 31: quotes outlive the log, as statements do.
    """
    prompts: list[str] = []

    def reader(question: Question) -> object:
        if question.name == TRIAGE:
            said = statement(1, FRIDAY, [GROUP.group_id], TEA[0], lines=[1])
            return shaped(question, said, should_remember=True, reason="定了")
        prompts.append(question.prompt)
        return answered(created(FRIDAY, 1))

    async with read_by(reader, tmp_path) as (memory, clock):
        scene = await settled(memory, clock, CHAT[0][1])
        clock.advance(hours=1)
        assert (await memory.evolve(scene)).created == 1
        await memory._opened.ledger.log.prune(clock.now())
        assert await memory.recent_messages(GROUP, 9) == []
        (belief,) = (await memory.beliefs(GROUP)).beliefs
        assert [(one.sender_id, one.text) for one in belief.quotes] == [(TEA[0], CHAT[0][1])]
        assert f"据 豆沙(2000001) 2026-03-04「{CHAT[0][1]}」" in (await memory.context(GROUP, "哪天讨论新番")).text
        await memory.observe(a_chat((LIN, "今天吃什么"), at=clock.now(), first=9)[0])
        await memory.evolve(GROUP)
        assert f"{FRIDAY}（原话“{CHAT[0][1]}”）" in prompts[-1]
        await memory.forget_event(scene, belief.event_ids[0])
        assert CHAT[0][1] not in str(await memory.beliefs(GROUP)) + (await memory.context(GROUP, "哪天讨论新番")).text


async def test_a_group_profile_does_not_repeat_its_beliefs(tmp_path: Path) -> None:
    """A line of the group's profile that rests on a shown belief's events alone is left out; others stay."""
    tea, both = "每周五晚上讨论新番", "周五讨论新番，不剧透"

    def reader(question: Question) -> object:
        if question.name == TRIAGE:
            told = [statement(n, text, [GROUP.group_id], TEA[0], lines=[n]) for n, text in ((1, FRIDAY), (2, "不剧透"))]
            return shaped(question, *told, should_remember=True, reason="定了")
        if question.name == MERGE:
            lines = [
                {"section": "rules", "text": tea, "facts": [1]},
                {"section": "rules", "text": both, "facts": [1, 2]},
            ]
            return {"lines": lines, "tags": [], "outdated": []}
        return answered(created(FRIDAY, 1))

    async with read_by(reader, tmp_path) as (memory, clock):
        scene = await settled(memory, clock, CHAT[0][1], "群里不剧透")
        before = (await memory.context(GROUP, "哪天讨论新番")).text
        assert f"规矩：{tea}" in before
        assert (await memory.evolve(scene)).created == 1
        after = (await memory.context(GROUP, "哪天讨论新番")).text
        assert f"规矩：{tea}" not in after
        assert f"规矩：{both}" in after


async def test_a_person_who_opts_out_leaves_the_beliefs(tmp_path: Path) -> None:
    """Their name is hidden in what others support too, and they support nothing."""
    answer = answered({**created(f"小林({LIN[0]})提的：每周五晚上讨论新番", 2), "agreed": [6, 7]}, kept("B9"))
    async with opened(tmp_path, answer) as (memory, _):
        await said(memory, *CHAT, (TEA, "每周五晚上讨论新番可以"), (MO, "好，每周五讨论新番"))
        assert (await memory.evolve(GROUP)).created == 1
        await memory.opt_out(LIN[0])
        (belief,) = (await memory.beliefs(GROUP)).beliefs
        assert "小林" not in belief.statement
        assert LIN[0] not in belief.supporters


async def test_nothing_forgotten_is_readable_through_a_belief(tmp_path: Path) -> None:
    """A belief outlives a forgotten event, but its evidence leads to neither the event nor the lines hidden with it."""
    async with opened(tmp_path) as (memory, clock):
        await said(memory, *CHAT)
        await memory.remember(core.Turn(GROUP, observations=(FRIDAY,), message_ids=("m1",), happened_at=clock.now()))
        await memory.drain(60)
    async with opened(tmp_path, answered(created(FRIDAY, 1, 2, 3))) as (memory, _):
        await memory.evolve(GROUP)
        (belief,) = (await memory.beliefs(GROUP)).beliefs
        assert "m1" in belief.message_ids
        (event_id,) = belief.event_ids
        await memory.forget_event(GROUP, event_id)
        (left,) = (await memory.beliefs(GROUP)).beliefs
        assert "m1" not in [one.id for one in await memory.find_messages(GROUP, left.message_ids)]
        with pytest.raises(core.UnknownEvent):
            await memory.find_event(GROUP, event_id)
        await memory.recall_message(GROUP, "m2")
        (left,) = (await memory.beliefs(GROUP)).beliefs
        assert "m2" not in left.message_ids
