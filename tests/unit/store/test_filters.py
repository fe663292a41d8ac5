"""Tests that the queries of a place use an index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from sqlite3 import Connection, connect

import pytest

from cognitive_memory_core.domain.instants import Interval
from cognitive_memory_core.domain.reading import EventListing, ReadFilter
from cognitive_memory_core.store.database import migrations
from cognitive_memory_core.store.database.rows import select
from cognitive_memory_core.store.listings import listing_filter
from cognitive_memory_core.store.search.filters import place_filter, scene_filter, sql_filter
from tests.support.builders import GROUP, OPERATOR, PRIVATE
from tests.support.clock import NOON
from tests.support.ledgers import later

NARROW = ReadFilter(
    GROUP, "2000002", "10001", ("event", "knowledge"), Interval(NOON, later(days=1)), frozenset({"3", "4"})
)


@pytest.fixture
def connection() -> Iterator[Connection]:
    """Return a database with the ledger's tables."""
    with closing(connect(":memory:", isolation_level=None)) as connection:
        migrations.migrate(connection, Path("none"))
        yield connection


def plan(connection: Connection, query: str, values: tuple[object, ...]) -> list[str]:
    """Return SQLite's query plan."""
    return [row[3] for row in connection.execute("EXPLAIN QUERY PLAN " + query, values)]


@pytest.mark.parametrize(
    "read_filter", [ReadFilter(GROUP), ReadFilter(PRIVATE), NARROW, replace(NARROW, scene=PRIVATE)]
)
def test_the_newest_of_a_place_are_found_without_walking_over_others(
    connection: Connection, read_filter: ReadFilter
) -> None:
    """Events of a place, and a person's own in groups, are found through an index."""
    clause, values = sql_filter(read_filter)
    query = select("e.seq", "events e", clause, "ORDER BY e.at_us DESC, e.seq DESC LIMIT 20")
    assert not [step for step in plan(connection, query, values) if step.startswith("SCAN e")]


def test_a_list_of_a_small_place_does_not_read_the_others(connection: Connection) -> None:
    """An operator's list of a place is read by the place's index, and one of all places by the index of its state."""
    order = "ORDER BY e.at_us DESC, e.seq DESC LIMIT 50"
    for listing, index in ((EventListing(GROUP.scope), "events_by_time"), (EventListing(), "events_active")):
        clause, values = listing_filter("default", listing, ())
        steps = plan(connection, select("e.seq", "events e", clause, order), values)
        assert index in steps[0], steps


def test_an_operator_who_names_a_group_searches_that_group() -> None:
    """An operator who names a group searches that group only."""
    assert place_filter(ReadFilter(OPERATOR, group_id="10001")) == scene_filter(GROUP)
    assert place_filter(ReadFilter(OPERATOR)) == scene_filter(OPERATOR)
    assert place_filter(NARROW) == scene_filter(GROUP)
