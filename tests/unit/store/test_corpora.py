"""Tests of the places in memory: their rows, and vectors beside these."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.store.database.connections import opened_for_reading, snapshot
from cognitive_memory_core.store.database.words import hashed
from cognitive_memory_core.store.ledger import Ledger
from cognitive_memory_core.store.search.corpora import Corpora
from cognitive_memory_core.store.search.filters import place_filter
from cognitive_memory_core.store.search.lines import LineRows
from cognitive_memory_core.store.search.rows import EventRows, Rows, VectorRows, WordRows
from cognitive_memory_core.text.characters import clear_caches
from tests.support.builders import GROUP, OPERATOR, OTHER_GROUP, PRIVATE, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import MODEL, a_vector, committed, embedded, events_near, events_with, name_person
from tests.support.lines import lines_with
from tests.unit.store.test_rows import terms_in


def numbers_in(corpora: Corpora) -> set[int]:
    """Return the hashed terms of all rows in memory."""
    return {term for held in corpora._held.values() if isinstance(held, WordRows) for term in terms_in(held)}


def held_of(corpora: Corpora, kind: type[Rows], scene: Scene = GROUP) -> Rows | None:
    """Return the rows of a scene's place in memory."""
    place = place_filter(ReadFilter(scene))
    return next((rows for key, rows in corpora._held.items() if key[:3] == (kind, *place)), None)


async def found(corpora: Corpora, *terms: str, scene: Scene = GROUP) -> set[str]:
    """Return the texts of the events with these terms."""
    return {event.text for event, _ in await events_with(corpora, terms, ReadFilter(scene), 10_000)}


async def test_a_thread_with_an_older_snapshot_takes_nothing_from_the_rows(path: Path) -> None:
    """Rows that one thread loaded stay when a thread follows whose snapshot began before they were written."""
    ledger = await Ledger.open(path)
    corpora, place = Corpora(ledger.database), place_filter(ReadFilter(GROUP))
    with closing(opened_for_reading(path)) as older, closing(opened_for_reading(path)) as newer, snapshot(older):
        older.execute("SELECT count(*) FROM messages").fetchone()
        await ledger.log.append([a_message(f"第{number}句") for number in range(50)])
        for connection in (newer, older, newer):
            with corpora._rows(connection, LineRows, *place):
                pass
    assert len(held_of(corpora, LineRows) or ()) == 50
    await ledger.close()


async def test_what_was_read_before_an_erasure_is_not_held_after_it(path: Path) -> None:
    """A search on a snapshot that is older than an erasure leaves nothing in memory."""
    ledger = await Ledger.open(path)
    await committed(ledger, an_event("乌龙茶"))
    with closing(opened_for_reading(path)) as older, snapshot(older):
        older.execute("SELECT count(*) FROM events").fetchone()
        await ledger.eraser.forget_person("2000001", NOON, str)
        clear_caches()
        assert len(ledger.corpora.found_events(older, ["乌龙"], ReadFilter(GROUP), 5)) == 1
        assert ledger.corpora.bytes == 0
    await ledger.close()


async def test_another_process_follows_what_is_reworded(tmp_path: Path) -> None:
    """Who only reads the file, and whose memory no erasure empties, finds nobody by a name that was hidden."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await ledger.log.append([a_message("小满来了", Scene.group("10001", "2000002"))])
    await name_person(ledger, GROUP.scope, "2000001", "小满", NOON)
    reading = await Ledger.open(tmp_path / "ledger.db", read_only=True)
    assert len(await lines_with(reading.corpora, ["小满"], ReadFilter(GROUP), 5)) == 1
    await ledger.eraser.forget_person("2000001", NOON, lambda text: text.replace("小满", "某位成员"))
    assert await lines_with(reading.corpora, ["小满"], ReadFilter(GROUP), 5) == []
    assert len(await lines_with(reading.corpora, ["来了"], ReadFilter(GROUP), 5)) == 1
    await reading.close()
    await ledger.close()


async def test_a_read_that_failed_leaves_no_half_loaded_rows(tmp_path: Path) -> None:
    """After a read that fails in the middle of a place, the next search finds everything once."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await committed(ledger, *(an_event(f"乌龙茶 第{number}件") for number in range(9)))

    def fails(connection: Any) -> None:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Rows, "together", 4)
            load = EventRows.load
            patched.setattr(EventRows, "load", lambda rows, some: load(rows, some) or 1 // (4 - len(rows)))
            ledger.corpora.found_events(connection, ["乌龙"], ReadFilter(GROUP), 99)

    with pytest.raises(ZeroDivisionError):
        await ledger.database.read(fails)
    assert len(await events_with(ledger.corpora, ["乌龙"], ReadFilter(GROUP), 99)) == 9
    await ledger.close()


async def test_memory_is_bounded_and_the_least_recently_asked_goes(tmp_path: Path) -> None:
    """The cache is limited, drops the least recently used place, and every answer is complete."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    scenes = [Scene.group(str(number), "1") for number in range(10_001, 10_031)]
    await committed(ledger, *(an_event(f"乌龙茶{scene.group_id}", scene) for scene in scenes))
    corpora = Corpora(ledger.database, held_bytes=12_000)
    for _ in range(2):
        for scene in scenes:
            assert await found(corpora, "乌龙", scene=scene) == {f"乌龙茶{scene.group_id}"}
            assert 0 < corpora.bytes <= 12_000
    assert held_of(corpora, EventRows, scenes[-1])
    assert not held_of(corpora, EventRows, scenes[0])
    await ledger.close()


async def test_nothing_erased_stays_in_memory(tmp_path: Path) -> None:
    """What was forgotten is not found, and once caches are cleared it is not in memory, nor loaded again."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await committed(ledger, an_event("乌龙茶"), an_event("红茶", sender_id="2000002", user_id="2000002"))
    await found(ledger.corpora, "乌龙")
    assert hashed("乌龙") in numbers_in(ledger.corpora)
    await ledger.eraser.forget_person("2000001", NOON, str)
    assert await found(ledger.corpora, "乌龙") == set()
    clear_caches()
    assert ledger.corpora.bytes == 0
    assert await found(ledger.corpora, "乌龙", "红茶") == {"红茶"}
    assert hashed("红茶") in numbers_in(ledger.corpora)
    assert hashed("乌龙") not in numbers_in(ledger.corpora)
    await ledger.close()


async def test_readers_see_all_that_was_written_before_they_asked(tmp_path: Path) -> None:
    """Searches on several threads during writes and withdrawals miss nothing and find nothing twice."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    written: list[str] = []
    is_over = False

    async def write() -> None:
        nonlocal is_over
        for number in range(60):
            message = a_message(f"乌龙茶 第{number}句")
            await ledger.log.append([message, a_message(f"红茶 第{number}句", Scene.group("10002", "1"))])
            written.append(message.id)
            if number % 5 == 0:
                await ledger.log.withdraw(GROUP.scope, written.pop(0), NOON)
        is_over = True

    async def read() -> None:
        while not is_over:
            before = list(written)
            answer = [message.id for message, _ in await lines_with(ledger.corpora, ["乌龙"], ReadFilter(GROUP), 1000)]
            assert len(answer) == len(set(answer))
            assert set(answer) >= set(before) & set(written)

    await asyncio.gather(write(), read(), read(), read())
    await ledger.close()


async def nearest(corpora: Corpora, numbers: Iterable[float], scene: Scene = GROUP, limit: int = 20) -> list[Event]:
    """Return the nearest events of a place."""
    return [event for event, _ in await events_near(corpora, a_vector(*numbers), ReadFilter(scene), limit)]


def with_room_for(ledger: Ledger, held_bytes: int) -> Corpora:
    """Return searches of a ledger with so many bytes to hold places in."""
    corpora = Corpora(ledger.database, held_bytes=held_bytes)
    corpora.follow(MODEL)
    return corpora


async def test_a_place_is_searched_alike_from_memory_and_from_the_disk(tmp_path: Path) -> None:
    """A place too large for memory gives the same events in the same order, and no row is overlooked."""
    chance = random.Random(7)
    ledger = await Ledger.open(tmp_path / "ledger.db")
    people = [Scene.group("10001", person) for person in ("2000001", "2000002")]
    scenes = [chance.choice([*people, OTHER_GROUP, PRIVATE]) for _ in range(500)]
    events = [an_event(f"第{number}件", scene) for number, scene in enumerate(scenes)]
    await embedded(ledger, [(event, a_vector(*(chance.gauss(0, 1) for _ in range(64)))) for event in events])
    await ledger.eraser.forget(events[0].id, NOON)
    without_room = with_room_for(ledger, 100)
    asked = [chance.gauss(0, 1) for _ in range(64)]
    for scene in (GROUP, PRIVATE, OPERATOR):
        for limit in (20, len(events)):
            from_disk = await nearest(without_room, asked, scene, limit)
            assert await nearest(ledger.corpora, asked, scene, limit) == from_disk
            assert len(from_disk) == min(limit, sum(ReadFilter(scene).admits(event) for event in events[1:]))
    assert without_room.bytes == 0
    assert len(held_of(ledger.corpora, VectorRows) or ()) == sum(event.scope == GROUP.scope for event in events[1:])
    await ledger.close()


async def test_a_place_is_wide_when_it_does_not_fit(tmp_path: Path) -> None:
    """A place that does not fit into memory counts as wide, later if the store must filter for it."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    narrow = [(an_event(f"这里{number}"), a_vector(1, 0)) for number in range(10)]
    wide = [(an_event(f"那里{number}", OTHER_GROUP), a_vector(1, 0)) for number in range(90)]
    await embedded(ledger, [*narrow, *wide])
    corpora = Corpora(ledger.database)
    assert not await ledger.database.read(corpora.is_wide, ReadFilter(OPERATOR))  # no model is followed
    corpora.follow(MODEL)
    for limit, expected in ((400, [False, False, True]), (150, [False, True, True])):
        corpora.limit = limit
        places = [ReadFilter(scene) for scene in (GROUP, OTHER_GROUP, OPERATOR)]
        assert [await ledger.database.read(corpora.is_wide, one) for one in places] == expected
    await ledger.close()
