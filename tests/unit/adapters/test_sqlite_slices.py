"""Tests of vectors kept in memory."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from mmap import mmap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.ports.models import Vector
from cognitive_memory_core.store.ledger import Ledger
from cognitive_memory_core.store.search.exact_search import (
    CHUNK,
    LAST_SEQ,
    Changes,
    Slice,
    SqliteExactSearch,
    VectorPlace,
    bounds,
    possible,
    rounded,
    whole,
)
from cognitive_memory_core.store.search.read_filter_sql import place_filter
from cognitive_memory_core.store.search.rows import PlaceCache
from tests.support.builders import GROUP, OPERATOR, OTHER_GROUP, PRIVATE, an_event
from tests.support.clock import NOON
from tests.support.ledgers import MODEL, a_vector, embedded

DIMENSIONS = 4


def changes(revision: int, added: dict[int, float], gone: tuple[int, ...] = ()) -> Changes:
    """Return changes: the fill value of each changed row's vector, and rows to remove."""
    touched = np.array([*added, *gone], np.int64)
    matrix = np.array([[number] * DIMENSIONS for number in added.values()], np.float32).reshape(-1, DIMENSIONS)
    return Changes((revision, LAST_SEQ), touched, whole(np.array([*added], np.int64), matrix))


def content(held: Slice) -> dict[int, float]:
    """Return the contents of a slice."""
    _, matrix = held.columns
    assert (matrix == matrix[:, :1]).all()
    return dict(zip(held.seqs.tolist(), matrix[:, 0].tolist(), strict=True))


def nothing() -> Slice:
    """Return an empty slice."""
    return Slice.of(changes(0, {}).columns)


def test_a_slice_follows_its_changes() -> None:
    """Rows are added, removed and replaced, and none is there twice."""
    first = nothing().after(changes(1, {1: 1.0, 2: 2.0}))
    second = first.after(changes(2, {3: 3.0, 1: 1.5}))
    third = second.after(changes(3, {}, gone=(2,)))
    assert content(second) == {2: 2.0, 3: 3.0, 1: 1.5}
    assert content(third) == {3: 3.0, 1: 1.5}
    assert third.until == (3, LAST_SEQ)


def test_what_a_slice_shows_never_changes() -> None:
    """A slice is immutable, so that a running search sees one state."""
    slices = [nothing()]
    for step in range(200):
        gone = (step // 2,) if step % 7 == 0 else ()
        slices.append(slices[-1].after(changes(step, {step: float(step)}, gone)))
    expected: dict[int, float] = {}
    for step, held in enumerate(slices[1:]):
        expected = {**expected, step: float(step)}
        if step % 7 == 0 and step:
            expected.pop(step // 2, None)
        if step:
            assert content(held) == expected


def test_adding_one_by_one_copies_seldom() -> None:
    """Adding rows one by one rarely copies memory."""
    held, copies = nothing(), 0
    for step in range(1000):
        following = held.after(changes(step, {step: 1.0}))
        copies += following.room[0] is not held.room[0]
        held = following
    assert copies < 40
    assert len(held.room[0]) < 1300


@given(
    st.lists(st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3), min_size=1, max_size=40),
    st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3),
    st.integers(1, 6),
)
def test_rounded_vectors_never_leave_out_one_of_the_nearest(
    rows: list[list[float]], asked: list[float], limit: int
) -> None:
    """Each true cosine is within the bounds of the rounded vectors, so that no nearest row is missed."""
    matrix = np.array(rows, np.float32)
    lengths = np.linalg.norm(matrix.astype(np.float64), axis=1, keepdims=True)
    matrix = (matrix / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    direction = np.array(asked, np.float64)
    direction = (direction / (np.linalg.norm(direction) or 1)).astype(np.float32)
    low, high = bounds(Slice.of(rounded(np.arange(len(rows)), matrix)), direction)
    true = matrix.astype(np.float64) @ direction.astype(np.float64)
    assert (low <= true).all()
    assert (true <= high).all()
    nearest = np.sort(true)[::-1][:limit]
    assert np.allclose(np.sort(true[possible(low, high, limit)])[::-1][:limit], nearest, atol=1e-12)


def test_rows_that_rounding_puts_in_another_order_are_all_looked_at() -> None:
    """Rows that rounding cannot distinguish are compared exactly, and distant ones are not."""
    chance = np.random.default_rng(7)
    near = np.ones((300, 64)) + chance.normal(0, 0.05, (300, 64))
    far = chance.normal(0, 1, (700, 64))
    matrix = np.concatenate((near, far)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    asked = np.full(64, 0.125, np.float32)
    low, high = bounds(Slice.of(rounded(np.arange(1000), matrix)), asked)
    looked_at = possible(low, high, 20)
    assert set(np.argsort(-(matrix @ asked))[:20].tolist()) <= set(looked_at.tolist())
    assert set(np.argsort(-low)[:20].tolist()) != set(np.argsort(-(matrix @ asked))[:20].tolist())
    assert 20 < len(looked_at) <= 300


def test_the_least_recently_asked_is_let_go() -> None:
    """The cache is limited and drops the least recently used place."""
    cache: PlaceCache[Slice] = PlaceCache(200_000)

    def filled(old: Slice, rows: int) -> Slice:
        return old if old.size else old.after(changes(1, dict.fromkeys(range(rows), 1.0)))

    begun: list[str] = []

    def busy() -> Slice:
        begun.append("busy")
        return nothing()

    for place in range(300):
        cache.fresh(place, nothing, partial(filled, rows=100))
        cache.fresh("busy", busy, partial(filled, rows=1))
        assert cache.bytes <= cache.limit
    assert begun == ["busy"]
    assert cache.find(299) is not None
    assert cache.find(0) is None
    for place in range(10_000):
        cache.fresh(("empty", place), nothing, lambda old: old)
    assert cache.bytes <= cache.limit
    assert cache.find(("empty", 0)) is None


def test_many_threads_at_once_agree() -> None:
    """Several threads get complete answers, and the byte count stays correct."""
    cache: PlaceCache[Slice] = PlaceCache(60_000)
    chance = random.Random(7)

    def ask(place: int) -> bool:
        held = cache.fresh(
            place, nothing, lambda old: old.after(changes(old.until[0] + 1, {old.until[0]: float(place)}))
        )
        return held.seqs.tolist() == list(range(held.until[0]))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, [chance.randrange(40) for _ in range(4000)]))
    assert 0 < cache.bytes <= cache.limit
    held = [cache.find(place) for place in range(40)]
    assert cache.bytes == sum(one.bytes + 1024 for one in held if one is not None)


async def test_what_is_retired_is_let_go_from_memory(tmp_path: Path) -> None:
    """Vectors of withdrawn events are removed from memory."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    events = [an_event(text) for text in "甲乙丙"]
    await embedded(ledger, [(event, a_vector(1, 0)) for event in events])
    key = (whole, VectorPlace(MODEL, 2, place_filter(ReadFilter(GROUP))))
    cache = ledger.index._cache
    sizes: list[int] = []
    for event in events:
        await ledger.index.nearest(a_vector(1, 0), ReadFilter(GROUP), 1)
        held = cache.find(key)
        assert held is not None
        sizes.append(held.size)
        await ledger.events.retire(event.id, NOON)
    assert sizes == [3, 2, 1]
    await ledger.close()


async def test_a_place_too_large_to_hold_is_searched_all_the_same(tmp_path: Path) -> None:
    """A place too large for memory gives the same answers."""
    chance = random.Random(7)
    ledger = await Ledger.open(tmp_path / "ledger.db")
    people = [Scene.group("10001", person) for person in ("2000001", "2000002")]
    scenes = [chance.choice([*people, OTHER_GROUP, PRIVATE]) for _ in range(2500)]
    events = [an_event(f"第{number}件", scene) for number, scene in enumerate(scenes)]
    await embedded(ledger, [(event, a_vector(*(chance.gauss(0, 1) for _ in range(64)))) for event in events])
    await ledger.events.retire(events[0].id, NOON)
    without_room = SqliteExactSearch(ledger.database, held_bytes=100)
    without_room.follow(MODEL)
    little_room = SqliteExactSearch(ledger.database, held_bytes=400_000)
    little_room.follow(MODEL)
    asked = a_vector(*(chance.gauss(0, 1) for _ in range(64)))
    for read_filter in (
        ReadFilter(GROUP),
        ReadFilter(PRIVATE),
        ReadFilter(OPERATOR),
        ReadFilter(OPERATOR, group_id="10002"),
    ):
        expected = await ledger.index.nearest(asked, read_filter, 20)
        assert await without_room.nearest(asked, read_filter, 20) == expected
        assert await little_room.nearest(asked, read_filter, 20) == expected
        assert len(expected) == 20
    assert without_room._cache.bytes == 0
    assert little_room._cache.find((rounded, VectorPlace(MODEL, 64, place_filter(ReadFilter(OPERATOR))))) is not None
    await ledger.close()


@pytest.mark.parametrize("held_bytes", [100, 10**7])
async def test_no_row_is_overlooked(tmp_path: Path, held_bytes: int) -> None:
    """Every row of a place is compared, from memory or from disk."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    events = [an_event(f"第{number}件") for number in range(2 * CHUNK + 3)]
    await embedded(ledger, [(event, a_vector(1, number)) for number, event in enumerate(events)])
    index = SqliteExactSearch(ledger.database, held_bytes=held_bytes)
    index.follow(MODEL)
    for _ in range(2):  # from the disk, then from memory if there is room
        found = await index.nearest(a_vector(1, 0), ReadFilter(GROUP), len(events))
        assert {event.id for event, _ in found} == {event.id for event in events}
        await index.loaded()
    await ledger.close()


async def test_a_large_place_is_loaded_in_slices_while_it_changes(tmp_path: Path) -> None:
    """While a place of several slices is being loaded, and after that, each search sees what was written before it."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    events = [an_event(f"第{number}件") for number in range(3 * CHUNK)]
    await embedded(ledger, [(event, a_vector(1, number)) for number, event in enumerate(events)])
    standing = [event.id for event in events]
    for number in (CHUNK - 1, 2, 3 * CHUNK - 1):
        await ledger.events.retire(events[number].id, NOON)
        standing.remove(events[number].id)
        late = an_event(f"新{number}")
        await embedded(ledger, [(late, a_vector(1, 1))])
        standing.append(late.id)
        found = await ledger.index.nearest(a_vector(1, 0), ReadFilter(GROUP), len(standing) + 9)
        assert {event.id for event, _ in found} == set(standing)
    await ledger.index.loaded()
    held = ledger.index._cache.find((whole, VectorPlace(MODEL, 2, place_filter(ReadFilter(GROUP)))))
    assert held is not None
    assert held.is_whole
    assert held.size == len(standing)
    await ledger.close()


async def test_a_search_loads_no_part_of_a_large_place(tmp_path: Path) -> None:
    """The first search in a place of more than a slice compares what is on the disk and leaves the loading to later."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await embedded(ledger, [(an_event(f"第{number}件"), a_vector(1, number)) for number in range(CHUNK)])
    place = VectorPlace(MODEL, 2, place_filter(ReadFilter(GROUP)))
    asked = np.array([1.0, 0.0], np.float32)
    found = await ledger.database.read(ledger.index._nearest, asked, place, ReadFilter(GROUP), 3)
    assert [event.text for event, _ in found] == ["第0件", "第1件", "第2件"]
    assert ledger.index._to_load == {place}
    assert ledger.index._cache.bytes == 0
    await ledger.close()


async def test_a_place_that_is_let_go_while_it_is_loaded_is_read_anew(tmp_path: Path) -> None:
    """Clearing the cache while a place is loaded leaves nothing of it that is half loaded."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    events = [an_event(f"第{number}件") for number in range(3 * CHUNK)]
    await embedded(ledger, [(event, a_vector(1, number)) for number, event in enumerate(events)])
    await ledger.index.nearest(a_vector(1, 0), ReadFilter(GROUP), 1)
    ledger.index.clear_caches()
    await ledger.index.loaded()
    found = await ledger.index.nearest(a_vector(1, 0), ReadFilter(GROUP), len(events))
    assert {event.id for event, _ in found} == {event.id for event in events}
    await ledger.close()


async def test_a_place_is_wide_when_it_does_not_fit(tmp_path: Path) -> None:
    """A place that does not fit into memory counts as wide, later if the store must filter for it."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    narrow = [(an_event(f"这里{number}"), a_vector(1, 0)) for number in range(10)]
    await embedded(
        ledger, [*narrow, *((an_event(f"那里{number}", OTHER_GROUP), a_vector(1, 0)) for number in range(90))]
    )
    index = SqliteExactSearch(ledger.database, held_bytes=9000)
    assert not await ledger.database.read(
        index.is_wide, ReadFilter(OPERATOR)
    )  # no model is followed, so nothing would be read
    index.follow(MODEL)
    for limit, expected in ((400, [False, False, True]), (150, [False, True, True])):
        index._cache.limit = limit
        assert [
            await ledger.database.read(index.is_wide, ReadFilter(scene)) for scene in (GROUP, OTHER_GROUP, OPERATOR)
        ] == expected
    await ledger.close()


async def test_a_place_that_is_held_rounded_is_not_wide(tmp_path: Path) -> None:
    """A place kept in rounded form does not count as wide."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await embedded(ledger, [(an_event(f"这里{number}"), _drawn(number)) for number in range(100)])
    index = SqliteExactSearch(ledger.database, held_bytes=20_000)
    index.follow(MODEL)
    await index.nearest(_drawn(1), ReadFilter(OTHER_GROUP), 1)
    assert await ledger.database.read(index.is_wide, ReadFilter(OPERATOR))
    await index.nearest(_drawn(1), ReadFilter(OPERATOR), 1)
    assert not await ledger.database.read(index.is_wide, ReadFilter(OPERATOR))
    await ledger.close()


async def test_a_place_that_grows_is_held_smaller_and_drives_nobody_out(tmp_path: Path) -> None:
    """A place that outgrows half of the memory is rounded and does not displace others."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await embedded(ledger, [(an_event(f"这里{number}"), _drawn(number)) for number in range(50)])
    index = SqliteExactSearch(ledger.database, held_bytes=100_000)
    index.follow(MODEL)
    here, everywhere = (VectorPlace(MODEL, 64, place_filter(ReadFilter(scene))) for scene in (GROUP, OPERATOR))
    for start in range(1, 300, 50):
        more = [(an_event(f"那里{number}", OTHER_GROUP), _drawn(number)) for number in range(start, start + 50)]
        await embedded(ledger, more)
        await index.nearest(_drawn(0), ReadFilter(GROUP), 5)
        await index.nearest(_drawn(0), ReadFilter(OPERATOR), 5)
        assert index._cache.find((whole, here)) is not None
    assert index._cache.find((whole, everywhere)) is None
    assert index._cache.find((rounded, everywhere)) is not None
    await ledger.close()


def _drawn(number: int) -> Vector:
    dice = random.Random(number)
    return a_vector(*(dice.gauss(0, 1) for _ in range(64)))


def test_much_of_what_is_held_lies_in_pages_of_its_own() -> None:
    """Large vector arrays are in separate memory pages, which return to the system."""
    rows = np.zeros((1_000, 64), np.float32)
    held = Slice.of(whole(np.arange(1_000), rows)).after(Changes((1, 0), np.array([3]), whole(np.arange(0), rows[:0])))
    assert held.size == 999
    assert all(isinstance(column.base, mmap) for column in held.room if column.nbytes >= rows.nbytes // 2)
