"""One rule in three forms: what a scene may read, in Python, in SQL, and as a Chroma filter.

``SCOPE_PAIRS=100000 pytest tests/properties/test_scope.py`` tries so many pairs of an event and a reading.
"""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cognitive_memory_core.adapters.chroma.filters import chroma_filter, event_metadata
from cognitive_memory_core.adapters.sqlite import entering, messages, schema
from cognitive_memory_core.adapters.sqlite.filters import message_filter, scene_filter, sql_filter
from cognitive_memory_core.adapters.sqlite.statements import select
from cognitive_memory_core.domain.event import MEMORY_KINDS, Event
from cognitive_memory_core.domain.hit import Reading
from cognitive_memory_core.domain.interval import Interval
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.recall.messages import as_event
from tests.support.clock import NOON
from tests.support.where import matches

PAIRS = int(os.environ.get("SCOPE_PAIRS", "20000"))
EVENTS, READINGS = 10, 10
EXAMPLES = math.ceil(PAIRS / (EVENTS * READINGS))

# Few enough ids that strangers meet, and odd enough that a careless comparison shows.
IDS = st.sampled_from(
    ["1", "2", "10", "01", "a", "A", "%", "$ne", "' OR 1 --", '"', "\\", "群", "é", "e\u0301", "null"]
)
AGENTS = st.sampled_from(["default", "Default", "1"])
ZONES = st.sampled_from([timezone.utc, timezone(timedelta(hours=8)), timezone(timedelta(hours=-3, minutes=-30))])
MOMENTS = st.builds(
    lambda microseconds, zone: (NOON + timedelta(microseconds=microseconds)).astimezone(zone),
    st.one_of(st.integers(-3, 3), st.integers(-(10**14), 10**14)),
    ZONES,
)
ENDS = st.one_of(
    MOMENTS, st.sampled_from([datetime(1, 1, 2, tzinfo=timezone.utc), datetime(9999, 12, 30, tzinfo=timezone.utc)])
)
PERHAPS = st.one_of(st.just(""), st.just(""), IDS)  # narrowings are the exception
SCENES = st.one_of(
    st.builds(lambda group, user, agent: Scene.group(group, user, agent=agent), IDS, IDS, AGENTS),
    st.builds(lambda user, agent: Scene.private(user, agent=agent), IDS, AGENTS),
    st.builds(lambda agent, group: Scene.operator(agent, group_id=group or None), AGENTS, PERHAPS),
)
READINGS_ASKED = st.builds(
    Reading,
    SCENES,
    user_id=PERHAPS,
    group_id=PERHAPS,
    kinds=st.one_of(st.just(()), st.lists(st.sampled_from([*MEMORY_KINDS, "message"]), max_size=2).map(tuple)),
    window=st.one_of(st.none(), st.none(), st.builds(Interval, ENDS, ENDS)),
    without=st.one_of(st.just(frozenset()), st.frozensets(IDS, max_size=3)),
)


@dataclass
class Tally:
    """How many pairs were tried, and how many of them were admitted."""

    tried: int = 0
    admitted: int = 0


@st.composite
def events_said(draw: st.DrawFn) -> Event:
    """Say something in a group or in private, perhaps by somebody else, perhaps of others, perhaps retired."""
    scene = draw(SCENES.filter(lambda one: one.kind != "operator"))
    speaker = st.one_of(st.just(scene.user_id), IDS, st.just(""))
    return Event(
        id="",
        text="",
        kind=draw(st.sampled_from(MEMORY_KINDS)),
        user_id=scene.user_id,
        group_id=scene.group_id,
        sender_id=draw(speaker),
        subjects=tuple(draw(st.lists(IDS, max_size=2))),
        request_type="group" if scene.kind == "group" else "private",
        happened_at=draw(MOMENTS),
        agent=scene.agent,
        retired_at=draw(st.sampled_from([None, None, None, NOON])),
    )


@st.composite
def messages_said(draw: st.DrawFn) -> Message:
    """Say a line, or let a bot say it."""
    scene = draw(SCENES.filter(lambda one: one.kind != "operator"))
    return Message("id", scene, "", draw(MOMENTS), is_bot=draw(st.booleans()))


def written(events: Sequence[Event]) -> sqlite3.Connection:
    """Write events into a database of their own, with seqs 1, 2, 3 ..."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(connection, Path("none"))
    for number, event in enumerate(events, 1):
        entering.add(connection, replace(event, id=str(number), text=str(number)), ())
    return connection


def selected(connection: sqlite3.Connection, table: str, clause: str, values: Sequence[object]) -> set[int]:
    """Give the seqs that a compiled clause selects."""
    return {row[0] for row in connection.execute(select("e.seq", f"{table} e", clause), values)}


def numbers(pairs: Sequence[tuple[int, bool]]) -> set[int]:
    """Give the numbers whose flag is set."""
    return {number for number, is_admitted in pairs if is_admitted}


@pytest.mark.timeout(3600)
def test_the_rule_is_the_same_in_python_sql_and_chroma() -> None:
    """For random events and readings all three admit exactly the same."""
    tally = Tally()

    @settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @given(
        st.lists(events_said(), min_size=EVENTS, max_size=EVENTS),
        st.lists(READINGS_ASKED, min_size=READINGS, max_size=READINGS),
    )
    def agree(events: list[Event], readings: list[Reading]) -> None:
        numbered = list(enumerate(events, 1))
        with closing(written(events)) as connection:
            for reading in readings:
                admitted = numbers([(number, reading.admits(event)) for number, event in numbered])
                assert selected(connection, "events", *sql_filter(reading)) == admitted
                where = chroma_filter(reading)
                indexed = [(number, event) for number, event in numbered if event.retired_at is None]
                assert numbers([(n, matches(where, event_metadata(event))) for n, event in indexed]) == admitted
                tally.tried += len(events)
                tally.admitted += len(admitted)

    agree()
    print(f"{tally.tried} pairs, {tally.admitted} admitted")
    assert tally.tried >= PAIRS
    assert tally.admitted > tally.tried / 100, "too few pairs met to show anything"


@pytest.mark.timeout(3600)
def test_a_bare_scene_reads_exactly_what_the_scope_rule_says() -> None:
    """Without any narrowing the compiled forms are the scope rule itself."""
    tally = Tally()

    @settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @given(
        st.lists(events_said(), min_size=EVENTS, max_size=EVENTS),
        st.lists(SCENES, min_size=READINGS, max_size=READINGS),
    )
    def agree(events: list[Event], scenes: list[Scene]) -> None:
        numbered = list(enumerate(events, 1))
        with closing(written(events)) as connection:
            for scene in scenes:
                readable = [(n, event.scope.readable_by(scene, sender_id=event.sender_id)) for n, event in numbered]
                assert selected(connection, "events", *scene_filter(scene)) == numbers(readable)
                where = chroma_filter(Reading(scene))
                assert [matches(where, event_metadata(event)) for event in events] == [flag for _, flag in readable]
                tally.tried += len(events)
                tally.admitted += len(numbers(readable))

    agree()
    print(f"{tally.tried} pairs, {tally.admitted} admitted")
    assert tally.tried >= PAIRS
    assert tally.admitted > tally.tried / 100, "too few pairs met to show anything"


@settings(max_examples=max(EXAMPLES // 4, 1), suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(messages_said(), min_size=EVENTS, max_size=EVENTS),
    st.lists(READINGS_ASKED, min_size=READINGS, max_size=READINGS),
)
def test_the_log_is_read_by_the_same_rule(lines: list[Message], readings: list[Reading]) -> None:
    """The compiled filter over messages selects what the rule admits of them as events."""
    numbered = [(number, replace(line, id=str(number))) for number, line in enumerate(lines, 1)]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        schema.migrate(connection, Path("none"))
        messages.append(connection, [line for _, line in numbered])
        for reading in readings:
            admitted = numbers([(number, reading.admits(as_event(line))) for number, line in numbered])
            assert selected(connection, "messages", *message_filter(reading)) == admitted


@given(READINGS_ASKED)
def test_no_value_of_a_filter_can_be_read_as_an_operator(reading: Reading) -> None:
    """Every leaf stands under an operator of ours and is text or a number."""

    def leaves(where: object) -> list[object]:
        if isinstance(where, dict):
            return [leaf for value in where.values() for leaf in leaves(value)]
        return [leaf for one in where for leaf in leaves(one)] if isinstance(where, list) else [where]

    assert all(isinstance(leaf, str | float) for leaf in leaves(chroma_filter(reading)))
    clause, values = sql_filter(reading)
    assert clause.count("?") == len(values)
    assert not any(isinstance(value, str) and value in clause for value in values if value not in ("1", "e", "E"))
