"""What an operator reaches in all places of their agent, and that another agent's things do not exist for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core
from tests.support.beliefs import CHAT, FRIDAY, a_chat, answered, created, greetings
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE
from tests.support.chats import ScriptedChat
from tests.support.clock import FrozenClock
from tests.support.telling import a_memory, tell

OPERATOR, ANOTHER = core.Scene.operator(), core.Scene.operator("another")
IN_OTHER_GROUP = core.Scene.operator(group_id=OTHER_GROUP.group_id)


async def test_a_belief_is_reached_by_its_id(tmp_path: Path) -> None:
    """An operator without a group shows, retires, restores and weighs a belief by its id; in another place none."""
    clock, chat = FrozenClock(), ScriptedChat(answered(created(FRIDAY, 1, 2)))
    clock.advance(hours=1)
    async with a_memory(tmp_path, chat=chat, clock=clock, background=False) as memory:
        for line in [*greetings(), *a_chat(*CHAT[:2])]:
            await memory.observe(line)
        await memory.evolve(GROUP)
        (belief,) = (await memory.beliefs(GROUP)).beliefs
        assert await memory.belief_history(OPERATOR, belief.id) == [belief]
        assert (await memory.retire_belief(OPERATOR, belief.id, "")).status == "deprecated"
        assert (await memory.restore_belief(OPERATOR, belief.id)).status == "active"
        assert (await memory.set_belief_strength(OPERATOR, belief.id, 0.8)).strength == 0.8
        assert (await memory.reword_belief(OPERATOR, belief.id, "周五晚上看番")).statement == "周五晚上看番"
        for scene in (ANOTHER, IN_OTHER_GROUP, OTHER_GROUP):
            for asked in (
                memory.belief_history(scene, belief.id),
                memory.retire_belief(scene, belief.id, ""),
                memory.restore_belief(scene, belief.id),
                memory.set_belief_strength(scene, belief.id, 0.1),
                memory.reword_belief(scene, belief.id, "x"),
            ):
                with pytest.raises(core.UnknownBelief):
                    await asked
        assert [one.changed_by for one in await memory.belief_changes(GROUP)] == ["", *["operator"] * 4]


async def test_events_are_searched_within_a_list(tmp_path: Path) -> None:
    """An operator searches a group, a chat, a person or a kind; nothing else is found, and no recall is counted."""
    async with a_memory(tmp_path) as memory:
        for scene, said in ((GROUP, "爱喝乌龙茶"), (OTHER_GROUP, "在阳台种了乌龙茶"), (PRIVATE, "乌龙茶过敏，别送")):
            await tell(memory, scene, said)

        async def found(**fields: Any) -> set[core.Scope]:
            hits = (await memory.listings.search(OPERATOR, "乌龙茶", core.EventListing(**fields), 9)).hits
            return {hit.event.scope for hit in hits}

        assert await found() == {GROUP.scope, OTHER_GROUP.scope, PRIVATE.scope}
        for scene in (GROUP, PRIVATE):
            assert await found(place=scene.scope) == {scene.scope}
        assert await found(user_id="nobody") == set()
        assert await found(kind="knowledge") == set()
        [event] = await memory.listings.events(OPERATOR, core.EventListing(GROUP.scope), 9, 0)
        assert await memory.listings.recalled(OPERATOR, event.id) == (0, None)
        with pytest.raises(core.NotPermitted):
            await memory.listings.search(GROUP, "乌龙茶", core.EventListing(), 9)
        assert (await memory.listings.search(ANOTHER, "乌龙茶", core.EventListing(), 9)).hits == ()


async def test_a_pin_is_reached_by_its_id(tmp_path: Path) -> None:
    """An operator without a group changes and removes a pin of any place; another agent's pin is unknown."""
    async with a_memory(tmp_path) as memory:
        pins = [await memory.pin(scene, "记着") for scene in (GROUP, PRIVATE)]
        foreign = await memory.pin(replace(GROUP, agent="another"), "别的机器人的")
        for pin in pins:
            assert (await memory.update_pin(OPERATOR, pin.id, "改了")).text == "改了"
        for scene, pin in ((OPERATOR, foreign), (IN_OTHER_GROUP, pins[0]), (GROUP, pins[1])):
            for asked in (memory.update_pin(scene, pin.id, "x"), memory.unpin(scene, pin.id)):
                with pytest.raises(core.UnknownPin):
                    await asked
        for pin in pins:
            await memory.unpin(OPERATOR, pin.id)
        assert (await memory.pins(GROUP), await memory.pins(PRIVATE)) == ([], [])
