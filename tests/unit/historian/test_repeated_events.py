"""Tests of finding related events before observations are rewritten."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from cognitive_memory_core.domain.event import Draft, Event, Quote
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Dialogue, Turn
from cognitive_memory_core.historian.pipeline import MOST_NEAR, Surroundings, is_timeless
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_draft, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, a_ledger, name_person
from tests.support.pipelines import surroundings_of

TEA = an_event("阿棠(2000001)喜欢乌龙茶")
QI = Scene.group("10001", "28471095", user_name="老齐")


async def around(ledger: Ledger, work: Turn | Dialogue, *names: str) -> Surroundings:
    """Read what surrounds a job in a place where somebody has these names."""
    for number, name in enumerate(names):
        await name_person(ledger, work.scene.scope, f"800000{number}", name, NOON)
    return await surroundings_of(ledger, work)


async def near(work: Turn | Dialogue, *events: Event, names: tuple[str, ...] = ()) -> list[str]:
    """Return the texts of the neighbours of a job among these events."""
    ledger = a_ledger()
    await ledger.events.commit(a_draft(*events))
    return [event.text for event in (await around(ledger, work, *names)).job_context.neighbours]


def a_turn(*observations: str, scene: Scene = GROUP, **fields: Any) -> Turn:
    """Return a turn."""
    return Turn(scene, observations=observations or ("阿棠喜欢乌龙茶",), **fields)


async def test_neighbours_out_of_a_ledger() -> None:
    """An event that shares words with an observation is a neighbour; others are not."""
    assert await near(a_turn(), TEA, an_event("阿棠(2000001)养了一只猫"), names=("阿棠",)) == [TEA.text]


@pytest.mark.parametrize(
    "event",
    [
        an_event(TEA.text, OTHER_GROUP),
        an_event(TEA.text, PRIVATE),
        an_event(TEA.text, retired_at=NOON),
        an_event("今天天气很好"),
    ],
    ids=["another group", "in private", "retired", "far"],
)
async def test_no_neighbour(event: Event) -> None:
    """Only valid, related events of the same scope are neighbours."""
    assert await near(a_turn(), event) == []


async def test_nobody_who_left_is_near() -> None:
    """What is about somebody who opted out is no neighbour, also if it was stored before."""
    ledger = a_ledger()
    await ledger.events.commit(a_draft(an_event(TEA.text, subjects=("7000001",))))
    await ledger.consent.opt_out("7000001", NOON)
    assert (await around(ledger, a_turn())).job_context.neighbours == ()


async def test_names_and_times_make_nothing_near() -> None:
    """An event that shares only a name, a label or a date is no neighbour."""
    event, name = an_event("阿棠大王(2000001)2026年3月4日去北京"), ("阿棠大王",)
    assert await near(a_turn("阿棠大王（2000001）2026年3月4日换药"), event, names=name) == []
    assert await near(a_turn("阿棠大王 2026年3月4日"), event, names=name) == []


async def test_what_the_same_voice_may_change_is_near() -> None:
    """One word in common makes an event near that the sender of a line said themselves: a change needs no more."""
    trip = an_event("阿棠(2000001)：“7月6号去成都实习，猫要人喂”", sender_id="2000001")
    newer = [an_event(f"新事{number}", QI, happened_at=NOON.replace(day=5)) for number in range(MOST_NEAR)]
    line = a_message("实习推迟了，改成7月13号走，别的安排都照旧不变", GROUP)
    assert (await near(Dialogue(GROUP, (line,)), trip, *newer))[0] == trip.text
    assert trip.text not in await near(Dialogue(QI, (a_message(line.text, QI),)), trip, *newer)


async def test_what_the_same_voice_may_change_is_near_by_its_quotes() -> None:
    """The word in common may stand in the quotes only, since a model words an event in words of its own."""
    quote = Quote("m1", "2000001", "My flight is at 7:40", "", NOON)
    trip = an_event("阿棠(2000001) flies home in the morning", sender_id="2000001", quotes=(quote,))
    newer = [an_event(f"新事{number}", QI, happened_at=NOON.replace(day=5)) for number in range(MOST_NEAR)]
    line = a_message("flight moved", GROUP)
    assert (await near(Dialogue(GROUP, (line,)), trip, *newer))[0] == trip.text
    assert trip.text not in await near(Dialogue(QI, (a_message(line.text, QI),)), trip, *newer)


async def test_a_damaged_event_hides_no_job() -> None:
    """If events cannot be read, there are no neighbours and no shortcuts, but the job is read all the same."""
    ledger = a_ledger()
    await ledger.events.commit(Draft("j", (TEA,), observations={TEA.id: "阿棠喜欢乌龙茶"}))
    with closing(sqlite3.connect(ledger.database.path)) as damage, damage:
        damage.execute("UPDATE events SET happened_at = 'never'")
    found = await around(ledger, a_turn(), "阿棠")
    assert (found.job_context.neighbours, found.told_before, found.asked) == ((), {}, ("阿棠喜欢乌龙茶",))
    assert [person.name for person in found.job_context.people] == ["阿棠"]


async def test_heard_before() -> None:
    """Words that the same person said here before are found with their event, and are not asked again."""
    ledger = a_ledger()
    await ledger.events.commit(Draft("j", (TEA,), observations={TEA.id: "阿棠喜欢乌龙茶"}))
    found = await around(ledger, a_turn("阿棠 喜欢乌龙茶。", "阿棠养猫"))
    assert {said: event.id for said, event in found.told_before.items()} == {"阿棠 喜欢乌龙茶。": TEA.id}
    assert found.asked == ["阿棠养猫"]


@pytest.mark.parametrize(
    "event",
    [
        an_event(TEA.text, OTHER_GROUP),
        an_event(TEA.text, QI),
        an_event(TEA.text, PRIVATE),
        an_event(TEA.text, retired_at=NOON),
        an_event(TEA.text, subjects=("7000001",)),
    ],
    ids=["another place", "another person", "in private", "retired", "of somebody who left"],
)
async def test_what_nobody_said_here_is_not_heard_before(event: Event) -> None:
    """Only valid events of this person and scope stand for an observation."""
    ledger = a_ledger()
    await ledger.events.commit(Draft("j", (event,), observations={event.id: "木鱼是小偷"}))
    await ledger.consent.opt_out("7000001", NOON)
    assert (await around(ledger, a_turn("木鱼是小偷"))).told_before == {}


@pytest.mark.parametrize(
    "said", ["木鱼是小偷", "我喜欢乌龙茶", "I like tea", "其他人没来", "老齐的电脑是2024年3月4日买的", ""]
)
def test_timeless(said: str) -> None:
    """Words that mean the same on any day are timeless."""
    assert is_timeless(said)


@pytest.mark.parametrize(
    "said",
    [
        "明天去北京",
        "他是小偷",
        "我们决定了",
        "群里不许剧透",
        "3月4日交稿",
        "老齐说“明天见”",
        "《明天》我看过",
        "you like tea",
    ],
)
def test_not_timeless(said: str) -> None:
    """Words that mean something else on another day, elsewhere or by others are not timeless, even in quotes."""
    assert not is_timeless(said)
