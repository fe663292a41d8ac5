"""Tests of merging facts into one profile."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.errors import BadAnswer, StorageRefused
from cognitive_memory_core.ports import MergedLine, MergedLines
from cognitive_memory_core.profiles.files import Overtaken
from cognitive_memory_core.prompts.rendering import MOST_FACTS
from cognitive_memory_core.settings.schema import Live, ProfileSettings, Settings
from tests.support.clock import NOON
from tests.support.ledgers import name_person
from tests.support.merging import World
from tests.support.profiles import TANG, TANG_THERE, a_profile
from tests.support.sizes import sized

READ = "read"  # in the transaction that records a merge


class Failing:
    """A wrapper of which one method fails once."""

    def __init__(self, part: Any, method: str) -> None:
        """Wrap an object."""
        self._part = part
        self._method = method
        self.failures = 1

    def __getattr__(self, name: str) -> Any:
        if name == self._method and self.failures:
            self.failures -= 1
            return self._fail
        return getattr(self._part, name)

    def _fail(self, *_: object) -> None:
        raise StorageRefused("killed here")


async def test_more_facts_than_fit_are_merged_in_turn() -> None:
    """At most four times merge_max_facts are merged at once, and the rest waits."""
    world = World(settings=Live(Settings(profile=ProfileSettings(merge_max_facts=2))))
    await world.tell(TANG, *(f"第 {number} 件事" for number in range(11)))
    await world.entity.merge(TANG)
    assert [len(new) for _, _, new in world.merger.merged] == [8]
    assert await world.waiting() == 3


async def withdrawn_from(world: World, *texts: str) -> None:
    """Merge facts and withdraw all of them."""
    await world.tell(TANG, *texts)
    facts = await world.ledger.facts.facts(TANG, 99)
    await world.entity.merge(TANG)
    for fact in facts:
        await world.ledger.eraser.forget(fact.event_id, NOON)


async def test_what_is_withdrawn_leaves_while_the_model_is_away() -> None:
    """No model is asked to remove a line: a withdrawn fact leaves at once, also from tags."""
    world = World()
    await withdrawn_from(world, "甲")

    def refuse(_: Person) -> None:
        raise BadAnswer("away")

    world.merger.react = refuse
    await world.entity.merge(TANG)
    profile = await world.profiles.find(TANG)
    assert profile
    assert (profile.summary, profile.tags, profile.source_event_id) == ("", (), "")
    assert await world.ledger.facts.keys_to_update() == frozenset()
    assert await world.waiting() == 0
    assert (await world.ledger.profiles.versions())[TANG] == profile.version


async def test_what_else_a_withdrawn_line_said_is_merged_again() -> None:
    """A line of two facts goes with one of them; the other one is merged again."""
    world = World()
    await world.tell(TANG, "甲", "乙")
    first, second = await world.ledger.facts.facts(TANG, 9)
    world.merger.react = lambda _: MergedLines((MergedLine("", "甲和乙", (first.event_id, second.event_id)),))
    await world.entity.merge(TANG)
    await world.ledger.eraser.forget(first.event_id, NOON)
    world.merger.react = lambda _: None
    await world.entity.merge(TANG)
    assert (await world.summary(TANG), await world.waiting()) == ("乙", 0)


async def test_lines_by_hand_and_older_ones_stay() -> None:
    """A line without facts stays, whatever is merged; it goes only with the withdrawn fact that it tells."""
    world = World()
    await world.profiles.write(a_profile("管理员写的一行\n\n## 兴趣\n- 喜欢乌龙茶", TANG, tags=("茶",)))
    await world.tell(TANG, "养了一只三花猫")
    await world.entity.merge(TANG)
    assert await world.summary(TANG) == "管理员写的一行\n养了一只三花猫\n\n## 兴趣\n- 喜欢乌龙茶"
    await withdrawn_from(world, "喜欢乌龙茶")
    await world.entity.merge(TANG)
    assert await world.summary(TANG) == "管理员写的一行\n养了一只三花猫"


async def test_the_oldest_lines_leave_a_full_profile() -> None:
    """Over the limit the oldest lines go; what a person wrote stays."""
    world = World(settings=Live(Settings(profile=ProfileSettings(max_chars=60))))
    await world.profiles.write(a_profile("管理员写的", TANG))
    for number in range(6):
        world.clock.advance(days=1)
        await world.tell(TANG, f"第 {number} 件事，写得比较长")
        await world.entity.merge(TANG)
    summary = await world.summary(TANG)
    assert summary.startswith("管理员写的")
    assert "第 5 件事" in summary
    assert len(summary) <= 60


async def test_what_is_withdrawn_while_it_is_merged_leaves_with_the_next_merge() -> None:
    """A fact withdrawn during a merge is written, and marked to be removed."""
    world = World()
    await world.tell(TANG, "甲", "乙")
    fact = (await world.ledger.facts.facts(TANG, 9))[0]

    async def retire(_: Person) -> None:
        await world.ledger.eraser.forget(fact.event_id, NOON)

    world.merger.react = retire
    await world.entity.merge(TANG)
    assert await world.summary(TANG) == "甲\n乙"
    assert await world.ledger.facts.facts(TANG, 9) == [replace(fact, is_withdrawn=True)]


@pytest.mark.parametrize(
    ("key", "scope"), [(TANG_THERE, Scope("default", "group", "10001")), (TANG, Scope("default", "private", "2000001"))]
)
async def test_the_name_is_the_latest_in_the_place(key: ProfileKey, scope: Scope) -> None:
    """A profile has its person's latest cleaned name in its own scope, and never one from elsewhere."""
    world = World()
    await name_person(world.ledger, scope, "2000001", "旧名", NOON)
    await name_person(world.ledger, scope, "2000001", "阿棠(管理员)\n\u202e", NOON.replace(hour=13))
    await name_person(world.ledger, Scope("default", "group", "10002"), "2000001", "别处的名字", NOON.replace(hour=14))
    await name_person(world.ledger, scope, "2000002", "米粒", NOON.replace(hour=15))
    await world.tell(key, "甲")
    await world.entity.merge(key)
    assert world.merger.merged[0][0] == Person("2000001", "阿棠〔管理员〕")
    profile = await world.profiles.find(key)
    assert profile
    assert profile.name == "阿棠〔管理员〕"


async def test_whoever_is_left_out_keeps_their_facts_to_themselves() -> None:
    """Facts of a person who opted out are not merged, even if they opt out during the model call."""
    world = World(left_out={"2000001"})
    await world.tell(TANG, "甲")
    await world.entity.merge(TANG)
    assert world.merger.merged == []
    world.left_out.clear()
    world.merger.react = lambda _: world.left_out.add("2000001")
    await world.entity.merge(TANG)
    assert await world.profiles.find(TANG) is None
    assert await world.waiting() == 1


ACTS = st.lists(st.sampled_from(["tell", "merge", "edit", "edit meanwhile", f"crash {READ}", "crash write"]))


@settings(max_examples=sized(40, 500), deadline=None)
@given(ACTS)
async def test_no_update_is_ever_lost(acts: list[str]) -> None:
    """After any sequence of facts, merges, edits and crashes, every fact is waiting or merged and no edit is lost."""
    world, told, edits = World(), list[str](), list[str]()

    async def edit(_: Person | None = None) -> None:
        world.merger.react = lambda _: None
        edits.append(f"编辑 {len(edits)}。")
        standing = await world.profiles.find(TANG)
        summary = f"{standing.summary}\n{edits[-1]}" if standing else edits[-1]
        await world.profiles.write(a_profile(summary, TANG, version=standing.version if standing else ""))

    for act in acts:
        kind, _, method = act.partition(" ")
        if kind == "tell":
            told.append(f"事实 {len(told)}。")
            await world.tell(TANG, told[-1])
        elif act == "edit":
            await edit()
        elif method == "meanwhile":
            world.merger.react = edit
        else:
            await _killed_at(world, method)
    waiting = {fact.text for fact in await world.ledger.facts.facts(TANG, 999)}
    kept = set((await world.summary(TANG)).split("\n"))
    assert set(told) <= waiting | kept
    assert set(edits) <= kept


async def _killed_at(world: World, method: str) -> None:
    """Run a merge that crashes in one step, or in none for an empty name."""
    entity = world.entity
    if method:
        entity = replace(entity, store=Failing(world.profiles, method))
    with contextlib.suppress(StorageRefused, Overtaken):
        await entity.merge(TANG)


async def test_no_fact_is_settled_unseen() -> None:
    """However large the setting, only facts that the prompt shows are settled."""
    world = World(settings=Live(Settings(profile=ProfileSettings(merge_max_facts=500))))
    for number in range(60):
        await world.tell(TANG_THERE, f"第 {number} 件事")
    await world.entity.merge(TANG_THERE)
    (_, _, shown), *_ = world.merger.merged
    assert len(shown) < MOST_FACTS
    assert await world.waiting() == 60 - len(shown)
