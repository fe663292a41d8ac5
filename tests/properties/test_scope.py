"""The scope rule gives the same result in Python and in SQL; the contract of the vector store holds Chroma to it.

``SCOPE_PAIRS=100000 pytest tests/properties/test_scope.py`` tries that many pairs of an event and a read filter.
"""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cognitive_memory_core.domain.event import MEMORY_KINDS, Event, Quote
from cognitive_memory_core.domain.instants import Interval
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.store import event_rows, messages
from cognitive_memory_core.store.database import migrations
from cognitive_memory_core.store.database.rows import select
from cognitive_memory_core.store.search.filters import message_filter, scene_filter, sql_filter
from cognitive_memory_core.vectors.chroma.store import chroma_filter
from tests.support.clock import NOON
from tests.support.sizes import sized

PAIRS = int(os.environ.get("SCOPE_PAIRS", sized(2_000, 100_000)))

# Few ids, so that different people share one, and unusual ones, so that a careless comparison fails.
ODD_IDS = ["1", "2", "10", "01", "a", "A", "%", "$ne", "' OR 1 --", '"', "\\", "群", "é", "e\u0301", "null"]
IDS = st.sampled_from(ODD_IDS)
AGENTS = st.sampled_from(["default", "Default", "1"])
ZONES = st.sampled_from([timezone.utc, timezone(timedelta(hours=8)), timezone(timedelta(hours=-3, minutes=-30))])
MOMENTS = st.builds(
    lambda microseconds, zone: (NOON + timedelta(microseconds=microseconds)).astimezone(zone),
    st.one_of(st.integers(-3, 3), st.integers(-(10**14), 10**14)),
    ZONES,
)
EVER = Interval(datetime(2, 1, 2, tzinfo=timezone.utc), datetime(9998, 12, 30, tzinfo=timezone.utc))
PERHAPS = st.one_of(st.just(""), IDS)
PLACES = st.one_of(
    st.builds(lambda group, user, agent: Scene.group(group, user, agent=agent), IDS, IDS, AGENTS),
    st.builds(lambda user, agent: Scene.private(user, agent=agent), IDS, AGENTS),
)
SCENES = st.one_of(
    PLACES, st.builds(lambda agent, group: Scene.operator(agent, group_id=group or None), AGENTS, PERHAPS)
)


@dataclass(frozen=True)
class Voice:
    """Speaker, subjects, kind and time of a statement, and the senders of its quotes."""

    sender_id: str
    subjects: tuple[str, ...]
    kind: str
    happened_at: datetime
    is_retired: bool
    quoted: tuple[str, ...] = ()

    def event(self, scene: Scene, number: int) -> Event:
        """Return the event in a place; its unique text keeps it from being a duplicate."""
        return Event(
            id=str(number),
            text=str(number),
            kind=self.kind,
            user_id=scene.user_id,
            group_id=scene.group_id,
            sender_id=self.sender_id,
            subjects=self.subjects,
            request_type="group" if scene.kind == "group" else "private",
            happened_at=self.happened_at,
            agent=scene.agent,
            retired_at=NOON if self.is_retired else None,
            quotes=tuple(Quote(f"m{sender}", sender, "话") for sender in self.quoted),
        )


VOICES = st.builds(
    Voice,
    PERHAPS,
    st.lists(IDS, max_size=2).map(tuple),
    st.sampled_from(MEMORY_KINDS),
    MOMENTS,
    st.sampled_from([False, False, False, True]),
    st.lists(PERHAPS, max_size=2).map(tuple),
)
NARROWINGS = st.builds(
    ReadFilter,
    st.just(Scene.operator()),
    user_id=PERHAPS,
    group_id=st.one_of(st.just(""), PERHAPS),
    kinds=st.one_of(st.just(()), st.lists(st.sampled_from([*MEMORY_KINDS, "message"]), max_size=2).map(tuple)),
    window=st.one_of(st.none(), st.just(EVER), st.builds(Interval, MOMENTS, MOMENTS)),
    without=st.one_of(st.just(frozenset()), st.frozensets(IDS, max_size=3)),
)
BARE = ReadFilter(Scene.operator())
THREE_PLACES, THREE_SCENES = st.tuples(PLACES, PLACES, PLACES), st.tuples(SCENES, SCENES, SCENES)
SIX_VOICES = st.tuples(VOICES, VOICES, VOICES, VOICES, VOICES, VOICES)
PAIRS_OF_ONE_EXAMPLE = 3 * 6 * 3 * 3
EXAMPLES = math.ceil(PAIRS / PAIRS_OF_ONE_EXAMPLE)


@dataclass
class Tally:
    """How many pairs were tried, and how many were admitted."""

    tried: int = 0
    admitted: int = 0

    def note(self, tried: int, admitted: int) -> None:
        """Add to the counts."""
        self.tried += tried
        self.admitted += admitted

    def check(self) -> None:
        """Fail if too few pairs were tried or admitted to show anything."""
        print(f"{self.tried} pairs, {self.admitted} admitted")
        assert self.tried >= PAIRS
        assert self.admitted > self.tried / 100


def said(places: Sequence[Scene], voices: Sequence[Voice]) -> list[Event]:
    """Return the events of every voice in every place; their ids are 1, 2, 3 ..."""
    return [voice.event(scene, number) for number, (scene, voice) in enumerate(product(places, voices), 1)]


def written(events: Sequence[Event]) -> sqlite3.Connection:
    """Write events into a new database, in which their sequence numbers equal their ids."""
    connection = empty()
    for event in events:
        event_rows.add(connection, event, ())
    return connection


def empty() -> sqlite3.Connection:
    """Return a database with the ledger's tables."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrations.migrate(connection, Path("none"))
    return connection


def selected(connection: sqlite3.Connection, table: str, clause: str, values: Sequence[object]) -> set[str]:
    """Return the ids that a compiled clause selects."""
    return {row[0] for row in connection.execute(select("e.id", f"{table} e", clause), values)}


@pytest.mark.timeout(3600)
def test_the_rule_is_the_same_in_python_and_sql() -> None:
    """For random events and readings, Python and SQL admit exactly the same."""
    tally = Tally()

    @settings(max_examples=EXAMPLES)
    @given(THREE_PLACES, SIX_VOICES, THREE_SCENES, st.tuples(NARROWINGS, NARROWINGS))
    def agree(
        places: Sequence[Scene], voices: Sequence[Voice], scenes: Sequence[Scene], narrowings: Sequence[ReadFilter]
    ) -> None:
        events = said(places, voices)
        with closing(written(events)) as connection:
            for scene, narrowing in product(scenes, (BARE, *narrowings)):
                read_filter = replace(narrowing, scene=scene)
                admitted = {event.id for event in events if read_filter.admits(event)}
                assert selected(connection, "events", *sql_filter(read_filter)) == admitted
                tally.note(len(events), len(admitted))

    agree()
    tally.check()


@pytest.mark.timeout(3600)
def test_a_bare_scene_reads_exactly_what_the_scope_rule_says() -> None:
    """Without narrowing, the compiled filter equals the scope rule."""
    tally = Tally()

    @settings(max_examples=EXAMPLES)
    @given(THREE_PLACES, SIX_VOICES, st.tuples(*[SCENES] * 9))
    def agree(places: Sequence[Scene], voices: Sequence[Voice], scenes: Sequence[Scene]) -> None:
        events = said(places, voices)
        with closing(written(events)) as connection:
            for scene in scenes:
                place = {event.id for event in events if event.scope.readable_by(scene, sender_id=event.sender_id)}
                assert selected(connection, "events", *scene_filter(scene)) == place
                tally.note(len(events), len(place))

    agree()
    tally.check()


def test_a_window_begins_with_its_start_and_ends_before_its_stop() -> None:
    """A time window includes its start and excludes its end, to the microsecond and in any zone."""
    tick = timedelta(microseconds=1)
    place = Scene.group("1", "2")
    moments = [NOON + step * tick for step in range(-2, 3)]
    voices = [Voice("2", (), "event", moment.astimezone(timezone.utc), is_retired=False) for moment in moments]
    read_filter = ReadFilter(place, window=Interval(NOON - tick, NOON + tick))
    events = said([place], voices)
    with closing(written(events)) as connection:
        assert selected(connection, "events", *sql_filter(read_filter)) == {"2", "3"}
    assert [event.id for event in events if read_filter.admits(event)] == ["2", "3"]


@settings(max_examples=max(EXAMPLES // 4, 1))
@given(THREE_PLACES, st.tuples(MOMENTS, MOMENTS), THREE_SCENES, st.tuples(NARROWINGS, NARROWINGS))
def test_the_log_is_read_by_the_same_rule(
    places: Sequence[Scene], moments: Sequence[datetime], scenes: Sequence[Scene], narrowings: Sequence[ReadFilter]
) -> None:
    """The compiled filter over messages selects what the rule admits of them as events, including the bot's lines."""
    spoken = enumerate(product(places, moments, (False, True)))
    lines = [Message(str(number), place, "", at, is_bot=is_bot) for number, (place, at, is_bot) in spoken]
    with closing(empty()) as connection:
        messages.MessageLog.append(connection, lines)
        for scene, narrowing in product(scenes, (BARE, *narrowings)):
            read_filter = replace(narrowing, scene=scene)
            admitted = {line.id for line in lines if read_filter.admits(line.as_event())}
            assert {line.id for line in lines if read_filter.admits_line(line)} == admitted
            assert selected(connection, "messages", *message_filter(read_filter)) == admitted


@given(SCENES, NARROWINGS)
def test_no_value_of_a_filter_can_be_read_as_an_operator(scene: Scene, narrowing: ReadFilter) -> None:
    """No value can act as an operator: in SQL each is a parameter, in Chroma each is under an explicit operator."""
    read_filter = replace(narrowing, scene=scene)
    clause, values = sql_filter(read_filter)
    assert clause.count("?") == len(values)
    assert all(odd not in clause for odd in ODD_IDS if len(odd) > 1 and not odd.isdigit())
    assert all(isinstance(leaf, str | float | bool) for leaf in leaves(chroma_filter(read_filter)))


def leaves(where: object) -> list[object]:
    """Return the values at the leaves of a filter."""
    if isinstance(where, dict):
        return [leaf for value in where.values() for leaf in leaves(value)]
    return [leaf for one in where for leaf in leaves(one)] if isinstance(where, list) else [where]
