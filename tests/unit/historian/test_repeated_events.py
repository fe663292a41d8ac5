"""Tests of finding related events before observations are rewritten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from cognitive_memory_core.domain.event import Draft, Event
from cognitive_memory_core.domain.scope import Scene, Scope
from cognitive_memory_core.domain.turn import Dialogue, Turn
from cognitive_memory_core.historian.neighbours import MOST_NEAR, RepeatedEvents, is_timeless
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_draft, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import a_ledger
from tests.support.ports import Away, ListedWords

TEA = an_event("阿棠(2000001)喜欢乌龙茶")
QI = Scene.group("10001", "28471095", user_name="老齐")


class ListedFacts:
    """A fact store that returns the same events to everybody and records the queries."""

    def __init__(self, found_before: Mapping[str, Event]) -> None:
        """Return these events."""
        self._heard = found_before
        self.asked: list[tuple[Scope, str, tuple[str, ...]]] = []

    async def events_of_observations(
        self, scope: Scope, sender_id: str, observations: Sequence[str]
    ) -> Mapping[str, Event]:
        """Return all events, because a store may be wrong."""
        self.asked.append((scope, sender_id, tuple(observations)))
        return self._heard


def beside(*events: Event) -> RepeatedEvents:
    """Return a neighbourhood whose word search finds these events, best first."""
    return RepeatedEvents(Away(), ListedWords([(event, 1.0) for event in events]))  # type: ignore[arg-type]  # only heard is asked


def a_turn(*observations: str, scene: Scene = GROUP, **fields: Any) -> Turn:
    """Return a turn."""
    return Turn(scene, observations=observations or ("阿棠喜欢乌龙茶",), **fields)


async def test_neighbours_out_of_a_ledger() -> None:
    """An event that shares words with an observation is a neighbour; others are not."""
    ledger = a_ledger()
    await ledger.events.commit(a_draft(TEA, an_event("阿棠(2000001)养了一只猫")))
    near = await RepeatedEvents(ledger.facts, ledger.corpora).near(a_turn(), (), ["阿棠"])
    assert [event.id for event in near] == [TEA.id]


@pytest.mark.parametrize(
    "event",
    [
        an_event(TEA.text, OTHER_GROUP),
        an_event(TEA.text, PRIVATE),
        an_event(TEA.text, retired_at=NOON),
        an_event(TEA.text, subjects=("7000001",)),
        an_event("今天天气很好"),
    ],
    ids=["another group", "in private", "retired", "of somebody who left", "far"],
)
async def test_no_neighbour(event: Event) -> None:
    """Only valid, related events of the same scope are neighbours, without people who opted out."""
    assert await beside(event).near(a_turn(), {"7000001"}) == ()


async def test_a_group_is_no_private_chat() -> None:
    """In private, the same person's statements in groups are no neighbours."""
    assert await beside(TEA).near(a_turn(scene=PRIVATE), ()) == ()
    own = an_event(TEA.text, PRIVATE)
    assert await beside(TEA, own).near(a_turn(scene=PRIVATE), ()) == (own,)


async def test_names_and_times_make_nothing_near() -> None:
    """An event that shares only a name, a label or a date is no neighbour."""
    event = an_event("阿棠大王(2000001)2026年3月4日去北京")
    said = "阿棠大王（2000001）2026年3月4日换药"
    assert await beside(event).near(a_turn(said), (), ["阿棠大王"]) == ()
    asked = ListedWords([(event, 1.0)])
    await RepeatedEvents(Away(), asked).near(a_turn(said), (), ["阿棠大王"])  # type: ignore[arg-type]  # only words are asked
    assert asked.asked[0][0] == ("换药",)
    assert await beside(event).near(a_turn("阿棠大王 2026年3月4日"), (), ["阿棠大王"]) == ()


@pytest.mark.parametrize(("said", "is_near"), [("晚上吃饺子吧", False), ("饺子请假开题", True)], ids=["thing", "topic"])
async def test_a_word_that_names_somebody_makes_nothing_near(said: str, *, is_near: bool) -> None:
    """An event is near by what it tells, not by the name of the person whom it tells of."""
    event = an_event("饺子(2000001)因开题请假，导师说好吃的都留着", sender_name="饺子")
    assert bool(await beside(event).near(a_turn(said), (), ["煎饺"])) is is_near


async def test_the_nearest_come_first_and_only_so_many() -> None:
    """At most eight neighbours are returned, each once, the closest first."""
    others = [an_event(f"阿棠(2000001)喜欢第{index}种红茶") for index in range(20)]
    near = await beside(*others, TEA).near(a_turn("阿棠喜欢红茶", "阿棠喜欢乌龙茶"), ())
    assert len(near) == MOST_NEAR
    near = await beside(*others[:3], TEA).near(a_turn("阿棠喜欢乌龙茶"), ())
    assert near[0] == TEA
    assert len(near) == len(set(near))


async def test_an_event_is_as_near_as_to_the_nearest_observation() -> None:
    """The similarity to the closest observation counts for each event."""
    cat = an_event("阿棠(2000001)养了一只猫")
    near = await beside(TEA, cat).near(a_turn("阿棠喜欢乌龙茶", "阿棠养了一只会飞的大猫和小狗", "阿棠喜欢一壶浓茶"), ())
    assert [event.id for event in near] == [TEA.id, cat.id]


async def test_what_the_same_voice_may_change_is_near() -> None:
    """One word in common makes an event near that the sender of a line said themselves: a change needs no more."""
    trip = an_event("阿棠(2000001)：“7月6号去成都实习，猫要人喂”", sender_id="2000001")
    line = a_message("实习推迟了，改成7月13号走，别的安排都照旧不变", GROUP)
    assert await beside(trip).near(Dialogue(GROUP, (line,)), ()) == (trip,)
    assert await beside(trip).near(Dialogue(QI, (a_message(line.text, QI),)), ()) == ()


async def test_an_index_that_is_away_knows_no_neighbours() -> None:
    """If a store fails, there are no neighbours and no shortcuts, but the job continues."""
    away = RepeatedEvents(Away(), Away())  # type: ignore[arg-type]  # both are away
    assert await away.near(a_turn(), ()) == ()
    assert await away.found_before(a_turn(), (), ()) == {}


async def test_heard_before() -> None:
    """Words that the same person said here before are found with their event."""
    ledger = a_ledger()
    await ledger.events.commit(Draft("j", (TEA,), observations={TEA.id: "阿棠喜欢乌龙茶"}))
    found_before = await RepeatedEvents(ledger.facts, ledger.corpora).found_before(
        a_turn("阿棠 喜欢乌龙茶。", "阿棠养猫"), (), ()
    )
    assert {said: event.id for said, event in found_before.items()} == {"阿棠 喜欢乌龙茶。": TEA.id}


async def test_only_timeless_words_are_looked_up() -> None:
    """Words that depend on the moment are not looked up."""
    facts = ListedFacts({})
    await RepeatedEvents(facts, Away()).found_before(a_turn("明天去北京", "木鱼是小偷"), (), ())  # type: ignore[arg-type]  # a part of the port
    assert facts.asked == [(GROUP.scope, "2000001", ("木鱼是小偷",))]


@pytest.mark.parametrize(
    "event",
    [
        an_event(TEA.text, OTHER_GROUP),
        an_event(TEA.text, QI),
        an_event(TEA.text, retired_at=NOON),
        an_event(TEA.text, subjects=("7000001",)),
    ],
    ids=["another place", "another person", "retired", "of somebody who left"],
)
async def test_a_book_that_errs_is_not_believed(event: Event) -> None:
    """Only valid events of this person and scope are accepted from the store."""
    facts = ListedFacts({"木鱼是小偷": event})
    assert await RepeatedEvents(facts, Away()).found_before(a_turn("木鱼是小偷"), (), {"7000001"}) == {}  # type: ignore[arg-type]  # a part of the port


async def test_a_private_chat_has_heard_nothing_in_groups() -> None:
    """What a person said in a group does not count as said in private."""
    facts = ListedFacts({"木鱼是小偷": TEA})
    assert await RepeatedEvents(facts, Away()).found_before(a_turn("木鱼是小偷", scene=PRIVATE), (), ()) == {}  # type: ignore[arg-type]  # a part of the port


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


def test_a_name_is_no_time() -> None:
    """A known name that contains a time word is timeless."""
    assert is_timeless("今天也很困喜欢猫", ("今天也很困",))
    assert not is_timeless("今天也很困喜欢猫")
