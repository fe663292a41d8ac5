"""The access check of reads: what a broken store returns does not leave the memory."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.belief import Belief, BeliefPage, Change, logged
from cognitive_memory_core.domain.consent import PlaceSwitch
from cognitive_memory_core.domain.event import Event, Quote
from cognitive_memory_core.domain.notes import Memo, Pin
from cognitive_memory_core.domain.profile import ProfileHit, ProfileKey, Revision
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene, Scope
from cognitive_memory_core.errors import UnknownEvent
from cognitive_memory_core.evolution.suggesting import Suggesting
from cognitive_memory_core.memory.cognitive_memory import CognitiveMemory
from cognitive_memory_core.memory.reads import Reads
from cognitive_memory_core.ports import Tally
from cognitive_memory_core.recall.beliefs_and_profiles import BeliefSearch, TurnProfiles
from cognitive_memory_core.recall.names import CurrentNames
from cognitive_memory_core.recall.one_pass import Sources
from cognitive_memory_core.recall.recall import Recall
from cognitive_memory_core.settings.schema import Live, Settings
from cognitive_memory_core.store.search.lines import FoundLine, FoundLines
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_message, an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import a_ledger, name_person
from tests.support.listed_profiles import a_listed
from tests.support.ports import CountingEmbedder, direct

HIDDEN = Scene.group(GROUP.group_id, "2000003", user_name="豆沙")
ANOTHER_AGENT = replace(GROUP, agent="another")
FOREIGN = (OTHER_GROUP, HIDDEN, ANOTHER_AGENT, PRIVATE)
OWN = "自己的事，豆沙也在"
SECRET = "密语"
TOLD = "自己的事，某位成员也在"  # OWN without the person who opted out


def key_of(scene: Scene) -> ProfileKey:
    """Return the key of a scene's person there."""
    return ProfileKey.asked(scene, "user", scene.user_id)


@dataclass
class Leaky:
    """All read ports in one object, which returns the rows of all ``scenes`` to everybody."""

    scenes: tuple[Scene, ...]
    told: str
    line_id: str = "1"

    def events(self) -> list[Any]:
        """Return an event of each scene."""
        return [an_event(self.told, scene, happened_at=NOON) for scene in self.scenes]

    def facts(self) -> list[Event]:
        """Return an event of each scene on which a line of a profile may rest, in the words of the profile's person."""
        words = (Quote("1", GROUP.user_id, self.told, "", NOON),)
        return [replace(event, id="e1", quotes=words) for event in self.events()]

    async def fetch(self, *_: Any) -> list[Event]:
        """Return the events of lines of profiles."""
        return self.facts()

    def messages(self) -> list[Any]:
        """Return a message of each scene."""
        return [a_message(self.told, scene, id=self.line_id) for scene in self.scenes]

    async def find(self, *_: Any, **__: Any) -> Any:
        """Return messages to a request by id."""
        return self.messages()

    async def recent(self, asked: object, *_: Any, **__: Any) -> Any:
        """Return events for a reading, and messages for a place."""
        return self.events() if isinstance(asked, ReadFilter) else self.messages()

    async def made_of(self, lines: Sequence[tuple[Scope, str]], _: ReadFilter) -> list[Event]:
        """Return an event of each scene, made of the lines."""
        return [replace(event, message_ids=tuple(line for _, line in lines)) for event in self.events()]

    async def forgotten(self, *_: Any) -> list[Event]:
        """Return a forgotten event of each scene, all said by the asker."""
        asker = GROUP.user_id
        return [
            an_event(self.told, scene, sender_id=asker, happened_at=NOON, retired_at=NOON)
            if scene.user_id == asker
            else event
            for scene, event in zip(self.scenes, self.events(), strict=True)
        ]

    def notes(self) -> list[Memo]:
        """Return a memo of each scene."""
        return [Memo(str(at), one.scope, self.told, NOON, one.user_id) for at, one in enumerate(self.scenes)]

    async def pins(self, *_: Any) -> list[Pin]:
        """Return a pin of each scene's person."""
        return self.own_pins()

    def own_pins(self) -> list[Pin]:
        """Return a pin of each scene's person."""
        return [Pin(str(at), one.scope, self.told, one.user_id, NOON) for at, one in enumerate(self.scenes)]

    def profiles(self) -> list[Any]:
        """Return the profile of each scene's person there."""
        return [a_listed(key_of(scene), self.told) for scene in self.scenes]

    async def search(self, *_: Any, **__: Any) -> Any:
        """Return profiles."""
        return [ProfileHit(profile, 0.5) for profile in self.profiles()]

    async def revisions(self, *_: Any) -> list[Revision]:
        """Return a past profile of each."""
        return [Revision("1", profile) for profile in self.profiles()]

    async def unrepeatable(self) -> list[Event]:
        """Return that nothing was forgotten."""
        return []

    async def decisions(self, *_: Any) -> list[Any]:
        """Return no decisions."""
        return []

    def of_turn(self, *_: Any) -> TurnProfiles:
        """Return the last profile as the asker's and as the group's."""
        return TurnProfiles(self.profiles()[-1], self.profiles()[-1])


class LeakyBeliefs(Leaky):
    """The beliefs of all scenes, and the clock and the book beside them."""

    @property
    def beliefs(self) -> LeakyBeliefs:
        """Return itself as the book."""
        return self

    @property
    def database(self) -> Any:
        """Return a database that carries out a read at once."""

        async def read(work: Any, *given: Any) -> Any:
            return work(None, *given)

        return SimpleNamespace(read=read)

    @property
    def clock(self) -> FrozenClock:
        """Return a clock that stands."""
        return FrozenClock()

    def grown(self) -> list[Belief]:
        """Return a belief of each scene's place, said by its person."""
        return [
            Belief(
                str(at),
                one.scope,
                self.told,
                supporters=(one.user_id,),
                message_ids=("m",),
                created_at=NOON,
                updated_at=NOON,
            )
            for at, one in enumerate(self.scenes)
            if one.kind == "group"
        ]

    async def page(self, *_: Any) -> BeliefPage:
        """Return the beliefs."""
        return BeliefPage(tuple(self.grown()), len(self.scenes))

    async def stored(self, *_: Any) -> Belief:
        """Return any belief."""
        return Belief("0", GROUP.scope, self.told, created_at=NOON, updated_at=NOON)

    async def history(self, *_: Any) -> list[Belief]:
        """Return the beliefs as versions of one."""
        return self.grown()

    async def versions(self, *_: Any) -> list[Belief]:
        """Return the beliefs as versions that changed."""
        return self.grown()

    async def changes(self, *_: Any) -> list[Change]:
        """Return the creation of each belief, unless only a person who opted out said it."""
        grown = (one for one in self.grown() if one.supporters != (HIDDEN.user_id,))
        return [change for one in grown if (change := logged("create", one, None, "", NOON).change)]

    @direct
    def near(self, *_: Any) -> list[tuple[Belief, None]]:
        """Return the beliefs without vectors."""
        return [(one, None) for one in self.grown()]


class LeakyProfiles(Leaky):
    """The reader of profiles: its ``asked`` returns a profile."""

    async def asked(self, *_: Any) -> Any:
        """Return the last profile."""
        return self.profiles()[-1]


class LeakyExperiences(Leaky):
    """The event ledger of suggestions: a problem of each scene, met on two days."""

    async def recent(self, *_: Any, **__: Any) -> list[Event]:
        """Return the experiences."""
        told = {"pain": self.told, "solution": self.told, "count": 2, "last_seen_at": NOON + timedelta(days=2)}
        return [an_event(self.told, scene, kind="experience", **told) for scene in self.scenes]

    async def fetch(self, *_: Any) -> list[Event]:
        """Return no events: nothing was decided."""
        return []


class LeakyTables:
    """A ledger whose tables return the rows of all scenes to everybody, on a connection."""

    def __init__(self, leaky: Leaky, profiles: Leaky) -> None:
        """Take the rows."""
        self.leaky, self.profiles = leaky, profiles
        ledger = a_ledger()
        self.database, self.names = ledger.database, ledger.names
        self.events = self.corpora = self.notes = self

    def load(self) -> None:
        """Load nothing."""

    def found_events(self, *_: Any) -> list[tuple[Event, float]]:
        """Return the events."""
        return [(event, 1.0) for event in self.leaky.events()]

    def found_lines(self, *_: Any) -> FoundLines:
        """Return the lines, each with all others beside it."""
        lines = tuple(self.leaky.messages())
        return FoundLines(
            tuple(FoundLine(line, 1.0, (("age", 1.25),), after=lines, replied=lines[0]) for line in lines)
        )

    def surround(self, *_: Any) -> None:
        """Leave the lines as they are."""

    def found_nearest(self, *_: Any) -> list[tuple[Event, float]]:
        """Return the events."""
        return self.found_events()

    @direct
    def replacing(self, *_: Any) -> list[Event]:
        """Return an event of each scene in place of each event found."""
        events = self.leaky.events()
        return [replace(event, replaces=one.id) for event in events for one in events]

    @direct
    def fetch(self, *_: Any) -> list[Event]:
        """Return the events of lines of profiles."""
        return self.leaky.facts()

    @direct
    def made_of(self, *_: Any) -> list[Event]:
        """Return the events."""
        return self.leaky.events()

    @direct
    def memos(self, *_: Any, **__: Any) -> list[Memo]:
        """Return a memo of each scene."""
        return self.leaky.notes()

    @direct
    def pins(self, *_: Any) -> list[Pin]:
        """Return a pin of each scene's person."""
        return self.leaky.own_pins()


async def reads_of(*scenes: Scene, told: str, **settings: Any) -> tuple[CognitiveMemory, Consent]:
    """Build a memory over sources that leak; one person has opted out."""
    live, ledger = Live(Settings(**settings)), a_ledger()
    consent = Consent(ledger, live)
    await name_person(ledger, HIDDEN.scope, HIDDEN.user_id, "豆沙", NOON)
    await consent.opt_out(HIDDEN.user_id, NOON)
    leaky: Any = Leaky(scenes, told)
    profiles: Any = LeakyProfiles(scenes, told)
    tables: Any = LeakyTables(leaky, profiles)
    beliefs: Any = LeakyBeliefs(scenes, told)
    found = BeliefSearch(beliefs, cast("Any", CountingEmbedder()), live, consent)
    embedder: Any = CountingEmbedder()
    names = CurrentNames(a_ledger().names)
    opened: Any = SimpleNamespace(
        consent=consent,
        names=names,
        recall=Recall(Sources(tables, embedder, FrozenClock(), consent, names, profiles, found), live),
        tally=Tally(),
        buffer=leaky,
        profile_reader=profiles,
        beliefs=beliefs,
        belief_search=found,
        clock=FrozenClock(),
        meter=None,
        profiles=leaky,
        ledger=SimpleNamespace(
            events=leaky, eraser=leaky, notes=leaky, listings=None, log=None, missed=None, quality=None
        ),
    )
    memory = CognitiveMemory()
    memory._open, memory._settings = opened, live
    return memory, consent


def suggesting_of(leaky: Any, consent: Consent, live: Live[Settings]) -> Suggesting:
    """Build suggestions over experiences that leak."""

    async def named(events: Sequence[Event]) -> list[Event]:
        return list(events)

    return Suggesting(LeakyExperiences(leaky.scenes, leaky.told), leaky, consent, live, FrozenClock(), named)  # type: ignore[arg-type]  # leaks


READS: dict[str, Callable[[CognitiveMemory], Awaitable[Any]]] = {
    "context": lambda memory: memory.context(GROUP, "？"),
    "explain": lambda memory: memory.explain(GROUP, "？"),
    "search_events": lambda memory: memory.search_events(GROUP, "自己的事", kinds=("event", "message"), top_k=9),
    "events": lambda memory: memory.events(GROUP, limit=9),
    "forgotten_events": lambda memory: memory.forgotten_events(GROUP, limit=9),
    "catch_up": lambda memory: memory.catch_up(GROUP, since=NOON - timedelta(days=1)),
    "recent_messages": lambda memory: memory.recent_messages(GROUP, 9),
    "find_messages": lambda memory: memory.find_messages(GROUP, ["1"]),
    "memos": lambda memory: memory.memos(GROUP, 9),
    "get_profile": lambda memory: memory.get_profile(GROUP, "user", GROUP.user_id),
    "profile_words": lambda memory: memory.profile_words(GROUP, a_listed(key_of(GROUP))),
    "search_profiles": lambda memory: memory.search_profiles(GROUP, "？", top_k=9),
    "profile_revisions": lambda memory: memory.profile_revisions(GROUP, key_of(GROUP)),
    "pins": lambda memory: memory.pins(GROUP),
    "beliefs": lambda memory: memory.beliefs(GROUP, status="all", limit=9),
    "search_beliefs": lambda memory: memory.search_beliefs(GROUP, "自己", limit=9, threshold=0.0),
    "belief_history": lambda memory: memory.belief_history(GROUP, "0"),
    "belief_changes": lambda memory: memory.belief_changes(GROUP, days=7),
}


@pytest.mark.parametrize("scene", FOREIGN, ids=["other group", "opted out", "other agent", "private"])
async def test_a_foreign_experience_makes_no_suggestion(scene: Scene) -> None:
    """A suggestion shows nothing of a foreign experience, and of one's own no person who opted out."""
    _, consent = await reads_of(GROUP, told=SECRET)
    live = Live(Settings())
    foreign = suggesting_of(Leaky((scene,), SECRET), consent, live)
    assert SECRET not in str(await foreign.suggestions(GROUP))
    own = str(await suggesting_of(Leaky((GROUP,), OWN), consent, live).suggestions(GROUP))
    assert TOLD in own
    assert OWN not in own


def test_every_read_is_listed_here() -> None:
    """A read that is added is checked by the tests of this file, too."""
    known = {name for name, _ in inspect.getmembers(Reads, inspect.iscoroutinefunction) if not name.startswith("_")}
    changes = {"pin", "update_pin", "unpin", "edit_profile", "restore_profile"}
    assert READS.keys() == known - changes - {"find_event"}  # which refuses what is foreign


@pytest.mark.parametrize("scene", FOREIGN, ids=["other group", "opted out", "other agent", "private"])
@pytest.mark.parametrize("read", READS)
async def test_a_foreign_row_does_not_leave(read: str, scene: Scene) -> None:
    """What a store returns of another place, another agent, or a person who opted out is given to nobody."""
    reads, _ = await reads_of(scene, told=SECRET)
    assert SECRET not in str(await READS[read](reads))


@pytest.mark.parametrize("scene", FOREIGN, ids=["other group", "opted out", "other agent", "private"])
async def test_a_foreign_line_does_not_leave_beside_a_hit(scene: Scene) -> None:
    """Of the lines around a hit those are left out that the scene may not read."""
    reads, _ = await reads_of(GROUP, scene, told=SECRET)
    (hit,) = await reads.search_events(GROUP, "自己的事", kinds=("message",), top_k=9)
    assert [line.scene for line in hit.neighbours] == [GROUP]


@pytest.mark.parametrize("scene", FOREIGN, ids=["other group", "opted out", "other agent", "private"])
async def test_a_foreign_line_does_not_leave_beneath_a_belief(scene: Scene) -> None:
    """A belief and what became of it quote no line that the scene may not read, even if the store returns it."""
    for speaker, is_shown in ((GROUP, True), (scene, False)):
        reads, _ = await reads_of(GROUP, replace(GROUP, user_id=speaker.user_id), told="自己的事")
        lines = Leaky((speaker,), SECRET, line_id="m")
        reads._opened.buffer = cast("Any", lines)
        shown = [(await reads.beliefs(GROUP)).beliefs, await reads.belief_changes(GROUP)]
        assert [SECRET in str(one) for one in shown] == [is_shown, is_shown]


@pytest.mark.parametrize("scene", [OTHER_GROUP, ANOTHER_AGENT, PRIVATE], ids=["other group", "other agent", "private"])
async def test_a_foreign_event_is_not_changed(scene: Scene) -> None:
    """An event that the scene may not read is unknown to it, so that it cannot show, forget or correct it."""
    reads, _ = await reads_of(GROUP, told=SECRET)
    foreign = an_event(SECRET, scene)

    class Holding:
        async def find(self, event_id: str) -> Event:
            return foreign

    ledger: Any = Holding()
    reads._opened.ledger.events = ledger
    with pytest.raises(UnknownEvent):
        await reads._stored(GROUP, foreign.id)
    assert await reads._stored(scene, foreign.id) == foreign
    with pytest.raises(UnknownEvent):
        await reads.find_event(GROUP, foreign.id)


@pytest.mark.parametrize("read", sorted(READS.keys() - {"pins", "find_messages"}))
async def test_a_switched_off_place_reads_nothing(read: str) -> None:
    """Where the switch forbids retrieval every read is empty; pins are listed, since they can be removed."""
    reads, consent = await reads_of(GROUP, told=SECRET)
    await consent.set_switch(PlaceSwitch(GROUP.scope, "off"))
    assert SECRET not in str(await READS[read](reads))
    assert SECRET in str(await reads.pins(GROUP))
    assert await reads.find_messages(GROUP, ["1"]) == []
    await consent.set_switch(PlaceSwitch(GROUP.scope, "record_only"))
    assert SECRET not in str(await READS[read](reads))
    assert SECRET in str(await reads.find_messages(GROUP, ["1"]))


async def test_a_disabled_memory_still_lists() -> None:
    """With enabled=false nothing is searched; lists, windows, memos and pins are given."""
    reads, _ = await reads_of(GROUP, told=SECRET, enabled=False)
    given = {read for read in READS if SECRET in str(await READS[read](reads))}
    listed = {"beliefs", "belief_history", "belief_changes"}
    listed |= {"events", "forgotten_events", "recent_messages", "catch_up", "find_messages", "memos", "pins"}
    assert given == {"context", *listed}
    assert (await reads.context(GROUP, "？")).degraded == ("disabled",)
