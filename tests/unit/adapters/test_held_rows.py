"""Tests of the rows of places in memory."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.store.database.database import opened_for_reading
from cognitive_memory_core.store.database.snapshots import snapshot
from cognitive_memory_core.store.ledger import Ledger
from cognitive_memory_core.store.search import words
from cognitive_memory_core.store.search.corpus import EVENTS, MESSAGES, Corpus
from cognitive_memory_core.store.search.lexical import TOGETHER, HeldRows, SqliteLexical
from cognitive_memory_core.store.search.rows import hashed
from tests.support.builders import GROUP, OPERATOR, PRIVATE, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import committed
from tests.support.lines import lines_with
from tests.support.waiting import PATIENCE
from tests.unit.adapters.test_rows import terms_in


def numbers_in(lexical: SqliteLexical) -> set[int]:
    """Return the hashed terms of all rows in memory."""
    return {term for held in lexical._cache._held.values() for term in terms_in(held.content.rows)}


def held_of(lexical: SqliteLexical, corpus: Corpus[Any, Any], scene: Scene = GROUP) -> HeldRows:
    """Return the rows of a scene's place in memory."""
    held = lexical._cache.find((corpus, corpus.place_of(ReadFilter(scene))))
    assert held is not None
    return held


async def found(lexical: SqliteLexical, *terms: str, scene: Scene = GROUP) -> set[str]:
    """Return the texts of the events with these terms."""
    return {event.text for event, _ in await lexical.events(terms, ReadFilter(scene), 10_000)}


async def test_a_place_is_answered_for_while_its_words_are_loaded(tmp_path: Path) -> None:
    """The first question finds everything while the postings are loaded, and the next one uses the cache."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    events = [an_event(f"乌龙茶 第{number}件") for number in range(2 * TOGETHER + 3)]
    await committed(ledger, *events)
    assert len(await found(ledger.lexical, "乌龙")) == len(events)
    await ledger.lexical.loaded()
    held = held_of(ledger.lexical, EVENTS)
    assert (len(held.rows), held.missing) == (len(events), ())
    assert len(await found(ledger.lexical, "乌龙")) == len(events)
    await ledger.close()


async def test_an_older_snapshot_drops_nothing_that_another_thread_noted(tmp_path: Path) -> None:
    """Rows that one thread noted are loaded, too, by a thread whose snapshot began before they were written."""
    path, place = tmp_path / "ledger.db", MESSAGES.place_of(ReadFilter(GROUP))
    ledger = await Ledger.open(path)
    lexical = SqliteLexical(ledger.database)
    with closing(opened_for_reading(path)) as older, closing(opened_for_reading(path)) as newer, snapshot(older):
        older.execute("SELECT count(*) FROM messages").fetchone()
        await ledger.log.append([a_message(f"第{number}句") for number in range(TOGETHER + 50)])
        for connection in (newer, older, newer):
            lexical._among(connection, place and (MESSAGES, place), len)
    assert len(held_of(lexical, MESSAGES).rows) == TOGETHER + 50
    await ledger.close()


async def test_closing_ends_what_is_being_loaded(tmp_path: Path) -> None:
    """Closing the ledger ends loading."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await committed(ledger, *(an_event(f"乌龙茶 第{number}件") for number in range(3 * TOGETHER)))
    await found(ledger.lexical, "乌龙")
    await ledger.close()
    await ledger.lexical.loaded()
    assert not ledger.lexical._loading


async def test_memory_is_bounded_and_the_least_recently_asked_goes(tmp_path: Path) -> None:
    """The cache is limited, drops the least recently used place, and every answer is complete."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    scenes = [Scene.group(str(number), "1") for number in range(10_001, 10_031)]
    await committed(ledger, *(an_event(f"乌龙茶{scene.group_id}", scene) for scene in scenes))
    lexical = SqliteLexical(ledger.database, held_bytes=12_000)
    for _ in range(2):
        for scene in scenes:
            assert await found(lexical, "乌龙", scene=scene) == {f"乌龙茶{scene.group_id}"}
            await lexical.loaded()
            assert 0 < lexical._cache.bytes <= 12_000
    held = set(lexical._cache._held)
    assert (EVENTS, EVENTS.place_of(ReadFilter(scenes[-1]))) in held
    assert (EVENTS, EVENTS.place_of(ReadFilter(scenes[0]))) not in held
    await ledger.close()


async def test_a_place_too_large_is_not_loaded_for_nothing(tmp_path: Path) -> None:
    """A place too large for the cache is recognised early, displaces nothing, and is still searched."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    small = Scene.group("10009", "1")
    await committed(ledger, an_event("乌龙茶", small), *(an_event(f"乌龙茶 第{n}件") for n in range(4 * TOGETHER)))
    lexical = SqliteLexical(ledger.database, held_bytes=100_000)
    await found(lexical, "乌龙", scene=small)
    before = lexical._cache.bytes
    for _ in range(2):
        assert len(await found(lexical, "乌龙")) == 4 * TOGETHER
        await lexical.loaded()
        assert lexical._cache.bytes == before
    assert len(lexical._refused) == 1
    lexical.clear_caches()
    assert (lexical._cache.bytes, len(lexical._refused)) == (0, 0)
    await ledger.close()


class Counted:
    """A database that counts its reads."""

    def __init__(self, database: Any) -> None:
        """Wrap a database."""
        self.database = database
        self.reads = 0

    async def read(self, *work: Any) -> Any:
        """Count and forward."""
        self.reads += 1
        return await self.database.read(*work)


async def test_places_that_do_not_fit_together_are_loaded_one_after_the_other(tmp_path: Path) -> None:
    """Places that do not fit together are loaded one after another without reading rows twice."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    scenes = [Scene.group(str(number), "1") for number in range(10_001, 10_004)]
    steps = 6
    await ledger.log.append([a_message(f"乌龙茶 {n}号", scene) for scene in scenes for n in range(steps * TOGETHER)])
    await lines_with(ledger.lexical, ["乌龙"], ReadFilter(scenes[0]), 5)
    await ledger.lexical.loaded()
    database: Any = Counted(ledger.database)
    lexical = SqliteLexical(database, held_bytes=ledger.lexical._cache.bytes * 11 // 10)
    for scene in scenes:
        await lines_with(lexical, ["乌龙"], ReadFilter(scene), 5)
    await asyncio.wait_for(lexical.loaded(), PATIENCE)
    assert database.reads <= len(scenes) * (1 + steps)
    held = held_of(lexical, MESSAGES, scenes[-1])
    assert (len(held.rows), held.missing) == (steps * TOGETHER, ())
    await ledger.close()


async def test_a_place_that_fits_but_for_what_it_counts_besides_is_refused(tmp_path: Path) -> None:
    """A place that would be dropped at once is not loaded with every question."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await ledger.log.append([a_message(f"乌龙茶 {number}号") for number in range(10)])
    await lines_with(ledger.lexical, ["乌龙"], ReadFilter(GROUP), 5)
    whole = ledger.lexical._cache.bytes
    for held_bytes, is_refused in ((whole, False), (whole - 1, True)):
        lexical = SqliteLexical(ledger.database, held_bytes=held_bytes)
        await lines_with(lexical, ["乌龙"], ReadFilter(GROUP), 5)
        assert (len(lexical._refused), lexical._cache.bytes) == ((1, 0) if is_refused else (0, whole))
    await ledger.close()


async def test_departures_are_counted_once_a_change_and_not_where_nothing_left(tmp_path: Path) -> None:
    """Only real removals count, and hiding a person in many messages counts once."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await ledger.log.append([a_message(f"2000002 来过{number}次") for number in range(2 * words.KEPT)])
    await ledger.log.withdraw(GROUP.scope, "unknown", NOON)
    assert await ledger.database.read(words.latest_removal, MESSAGES.words) == 0
    wiped = await ledger.eraser.forget_person("2000002", NOON, lambda text: text.replace("2000002", "某位成员"))
    assert wiped.reworded == 2 * words.KEPT
    assert await ledger.database.read(words.latest_removal, MESSAGES.words) == 1
    answer = await lines_with(ledger.lexical, ["某位"], ReadFilter(GROUP), 1000)
    hidden = {f"某位成员 来过{number}次" for number in range(2 * words.KEPT)}
    assert {message.text for message, _ in answer} == hidden
    assert await lines_with(ledger.lexical, ["2000002"], ReadFilter(GROUP), 1000) == []
    await ledger.close()


async def test_nothing_erased_stays_in_memory(tmp_path: Path) -> None:
    """Forgetting empties the cache, and nothing erased is loaded again."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await committed(ledger, an_event("乌龙茶"), an_event("红茶", sender_id="2000002", user_id="2000002"))
    await found(ledger.lexical, "乌龙")
    assert hashed("乌龙") in numbers_in(ledger.lexical)
    await ledger.eraser.forget_person("2000001", NOON, str)
    assert ledger.lexical._cache.bytes == 0
    assert await found(ledger.lexical, "乌龙", "红茶") == {"红茶"}
    assert hashed("红茶") in numbers_in(ledger.lexical)
    assert hashed("乌龙") not in numbers_in(ledger.lexical)
    await ledger.close()


async def test_a_withdrawn_message_leaves_memory_with_the_next_question(tmp_path: Path) -> None:
    """A withdrawn message is removed from the cache with the next question."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    kept, gone = a_message("红茶"), a_message("乌龙茶")
    await ledger.log.append([kept, gone])
    await lines_with(ledger.lexical, ["乌龙"], ReadFilter(GROUP), 5)
    assert hashed("乌龙") in numbers_in(ledger.lexical)
    await ledger.log.withdraw(GROUP.scope, gone.id, NOON)
    assert [
        message.text for message, _ in await lines_with(ledger.lexical, ["红茶", "乌龙"], ReadFilter(GROUP), 5)
    ] == ["红茶"]
    assert hashed("乌龙") not in numbers_in(ledger.lexical)
    await ledger.close()


async def test_whoever_missed_too_many_departures_reads_anew(tmp_path: Path) -> None:
    """After too many removals the place is loaded again, and answers are complete."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    kept = [a_message(f"乌龙茶 留{number}") for number in range(3)]
    gone = [a_message(f"乌龙茶 撤{number}") for number in range(3 * words.KEPT)]
    await ledger.log.append([*kept, *gone])
    await lines_with(ledger.lexical, ["乌龙"], ReadFilter(GROUP), 5)
    await ledger.lexical.loaded()
    for message in gone:
        await ledger.log.withdraw(GROUP.scope, message.id, NOON)
    answer = await lines_with(ledger.lexical, ["乌龙"], ReadFilter(GROUP), 1000)
    assert {message.id for message, _ in answer} == {message.id for message in kept}
    assert len(held_of(ledger.lexical, MESSAGES).rows) == len(kept)
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
            answer = [message.id for message, _ in await lines_with(ledger.lexical, ["乌龙"], ReadFilter(GROUP), 1000)]
            assert len(answer) == len(set(answer))
            assert set(answer) >= set(before) & set(written)

    await asyncio.gather(write(), read(), read(), read())
    await ledger.close()


@pytest.mark.parametrize(("scene", "is_held"), [(OPERATOR, False), (PRIVATE, True)])
async def test_what_is_wider_than_a_place_is_not_held(tmp_path: Path, scene: Scene, is_held: bool) -> None:
    """Searches wider than a place use FTS5 and are not cached; a private chat with its person's group lines is one."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await ledger.log.append([a_message("乌龙茶"), a_message("乌龙", Scene.group("10001", "2000002"))])
    for _ in range(2):
        found = await lines_with(ledger.lexical, ["乌龙"], ReadFilter(scene), 5)
        assert len(found) == (1 if is_held else 2)
        await ledger.lexical.loaded()
    assert bool(ledger.lexical._cache.bytes) == is_held
    assert EVENTS.place_of(ReadFilter(OPERATOR)) is None
    assert EVENTS.place_of(ReadFilter(PRIVATE)) is not None
    await ledger.close()


async def test_a_place_that_was_idle_finds_its_new_rows_among_many_others(tmp_path: Path) -> None:
    """A place finds its new rows, whether few or many were written elsewhere."""
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await committed(ledger, an_event("乌龙茶 一"))
    assert await found(ledger.lexical, "乌龙") == {"乌龙茶 一"}
    elsewhere = Scene.group("10002", "1")
    await committed(
        ledger, *(an_event(f"红茶{number}", elsewhere) for number in range(2 * TOGETHER)), an_event("乌龙茶 二")
    )
    assert await found(ledger.lexical, "乌龙") == {"乌龙茶 一", "乌龙茶 二"}
    await committed(ledger, an_event("红茶", elsewhere), an_event("乌龙茶 三"))
    assert await found(ledger.lexical, "乌龙") == {"乌龙茶 一", "乌龙茶 二", "乌龙茶 三"}
    seqs = held_of(ledger.lexical, EVENTS).rows.seqs.values
    assert len(np.unique(seqs)) == len(seqs) == 3
    await ledger.close()
