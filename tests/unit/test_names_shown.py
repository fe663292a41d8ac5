"""Stored statements name people as they are called when somebody reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cognitive_memory_core import CognitiveMemory, Scene, Turn
from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.recall.names import CurrentNames, with_present_names
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_message, an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import a_ledger, later, name_person
from tests.support.ports import direct
from tests.support.telling import EXACT, say
from tests.support.waiting import PATIENCE

OTHER = Scene.group("10001", "2000002", user_name="老齐", group_name="读书会")
SHOWN = "海棠未眠(2000001)：“我对花生过敏”"


async def renamed(memory: CognitiveMemory, clock: FrozenClock) -> Scene:
    """Store a statement of somebody who wears another card afterwards; return their present scene."""
    await say(memory, GROUP, "我对花生过敏", at=clock.now())
    clock.advance(days=1)
    scene = replace(GROUP, user_name="海棠未眠")
    await memory.observe(a_message("换个名字", scene, clock.now()))
    assert await memory.drain(PATIENCE)
    return scene


async def test_present_names_stand_everywhere(tmp_path: Path) -> None:
    """Context, search hits, the list of events and the profile show the present name with the one of that time."""
    clock = FrozenClock()
    async with CognitiveMemory.open(EXACT, tmp_path, clock=clock) as memory:
        scene = await renamed(memory, clock)
        assert SHOWN in (await memory.context(OTHER, "谁对花生过敏？")).text
        (hit,) = await memory.search_events(OTHER, "谁对花生过敏？")
        assert (hit.event.sender_name, hit.event.quotes[0].sender_name) == ("海棠未眠", "海棠未眠")
        (event,) = await memory.events(OTHER)
        assert event.text == "海棠未眠(2000001)〔当时叫阿棠〕：“我对花生过敏”"
        profile = await memory.get_profile(scene, "user", scene.user_id)
        assert profile is not None
        assert profile.name == "海棠未眠"


async def test_rank_stands_beside_a_name(tmp_path: Path) -> None:
    """Whom a question names has their rank in the portrait, as the platform told it with their latest line."""
    clock = FrozenClock()
    async with CognitiveMemory.open(EXACT, tmp_path, clock=clock) as memory:
        for is_admin in (True, False):
            scene = replace(GROUP, is_admin=is_admin)
            await memory.observe(a_message(f"在的 {is_admin}", scene, clock.now()))
            await say(memory, scene, "我对花生过敏", at=clock.now())
            text = (await memory.context(OTHER, "阿棠对什么过敏")).text
            assert ("阿棠(2000001)（群主或管理员）（自己说的，未经核实）" in text) is is_admin
            assert "阿棠(2000001)（" in text
            clock.advance(hours=1)


async def test_a_profile_names_people_as_they_are_called_now() -> None:
    """The text and the tags of a profile follow the names of its place; a group's and a member's share it."""
    ledger = a_ledger()
    await name_person(ledger, GROUP.scope, "2000001", "阿棠", NOON)
    await name_person(ledger, GROUP.scope, "2000001", "海棠未眠", later(hours=1))
    for key in (ProfileKey.group("10001"), ProfileKey.member("10001", "2000002")):
        profile = Profile(key, "读书会", ("阿棠(2000001)的朋友",), "和阿棠(2000001)爬山", NOON)
        (shown,) = await CurrentNames(ledger.names).of([profile])
        assert shown.summary == "和海棠未眠(2000001)〔当时叫阿棠〕爬山"
        assert shown.tags == ("海棠未眠(2000001)〔当时叫阿棠〕的朋友",)


async def test_who_left_is_not_named_again(tmp_path: Path) -> None:
    """Present names do not bring back who opted out or was forgotten: they stay somebody."""
    clock = FrozenClock()
    async with CognitiveMemory.open(EXACT, tmp_path, clock=clock) as memory:
        await renamed(memory, clock)
        await memory.remember(Turn(OTHER, observations=["老齐(2000002)和阿棠(2000001)去爬山"]))
        assert await memory.drain(PATIENCE)
        await memory.opt_out("2000001")
        told = (await memory.context(OTHER, "谁去爬山？")).text
        assert "某位成员" in told
        assert not {"海棠未眠", "阿棠", "2000001"} & set(told.split("(")), told
        await memory.opt_in("2000001")
        await memory.forget_user(GROUP, "2000001")
        (event,) = await memory.events(OTHER)
        assert event.text == "机器人记：老齐(2000002)和某位成员去爬山"


async def test_names_are_those_of_the_events_own_place() -> None:
    """In private somebody's words of a group name people as that group does; lines of the log stay as they were."""
    ledger = a_ledger()
    for scope, name in ((GROUP.scope, "海棠"), (OTHER_GROUP.scope, "棠棠"), (PRIVATE.scope, "小棠")):
        await name_person(ledger, scope, "2000001", "阿棠", NOON)
        await name_person(ledger, scope, "2000001", name, later(hours=1))
    text = "阿棠(2000001)来了"
    line = a_message(text).as_event()
    events = [*(an_event(text, scene) for scene in (GROUP, OTHER_GROUP, PRIVATE)), line]
    shown = await CurrentNames(ledger.names).of(events)
    assert [event.text.partition("(")[0] for event in shown] == ["海棠", "棠棠", "小棠", "阿棠"]
    assert shown[3] == line


async def test_a_book_that_is_away_leaves_what_was_written() -> None:
    """Without the name book everything is shown under the names that it was written with."""

    class Away:
        """A name book that cannot be read."""

        database = a_ledger().database

        @direct
        def people(self, _: object, scope: Scope, user_ids: object = ()) -> list[Person]:
            """Refuse."""
            raise UnavailableError(f"{scope} {user_ids}")

    names = CurrentNames(Away())  # type: ignore[arg-type]  # only people() is asked
    event = an_event("阿棠(2000001)来了")
    known = {event.scope: {"2000001": Person("2000001", "海棠未眠", ("阿棠",))}}
    read = await Away.database.read(names.people, [event], known)  # a turn has read the people of its place already
    assert with_present_names(event, read[event.scope]).text == "海棠未眠(2000001)〔当时叫阿棠〕来了"
    profile = Profile(ProfileKey.group("10001"), "读书会", ("阿棠(2000001)的群",), "阿棠(2000001)建的", NOON)
    assert await names.of([event]) == [event]
    assert await names.of([profile]) == [profile]
