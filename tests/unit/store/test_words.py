"""Tests of the words that are stored beside a row."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from sqlite3 import connect

from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.store.ledger import Ledger
from tests.support.builders import GROUP, PRIVATE, a_message, an_event
from tests.support.ledgers import committed, events_with
from tests.support.lines import lines_with


async def test_words_made_in_another_way_are_made_anew_at_the_next_start(path: Path) -> None:
    """After a change of word splitting the words of all rows are made anew at the next start, as when they were new."""
    ledger = await Ledger.open(path)
    await committed(ledger, *(an_event(f"乌龙茶 第{number}杯") for number in range(600)), an_event("红茶", PRIVATE))
    await ledger.log.append([a_message("乌龙茶真香")])
    await ledger.close()
    stored = "SELECT words FROM events UNION ALL SELECT words FROM messages"
    with closing(connect(path)) as connection:
        before = connection.execute(stored).fetchall()
        connection.executescript("UPDATE events SET words = x'01'; UPDATE messages SET words = zeroblob(40);")
        connection.execute("UPDATE events SET happened_at = 'damaged' WHERE seq = 2")
        connection.execute("UPDATE meta SET value = 'an older way' WHERE key = 'terms'")
        connection.commit()
    ledger = await Ledger.open(path)
    with closing(connect(path)) as connection:
        anew = connection.execute(stored).fetchall()
    assert anew[1] == (b"",)  # nobody can read the row
    assert [anew[0], *anew[2:]] == [before[0], *before[2:]]
    await ledger.close()


async def test_rows_with_damaged_words_are_passed_over(path: Path) -> None:
    """Words of a damaged length, or of another type, are found by no search and hold up none."""
    ledger = await Ledger.open(path)
    await committed(ledger, *(an_event(f"乌龙茶 第{number}杯") for number in range(4)))
    await ledger.log.append([a_message(f"乌龙茶 第{number}句") for number in range(4)])
    await ledger.close()
    with closing(connect(path)) as connection:
        for table in ("events", "messages"):
            connection.execute(f"UPDATE {table} SET words = x'010203' WHERE seq = 1")
            connection.execute(f"UPDATE {table} SET words = 'text' WHERE seq = 2")
            connection.execute(f"UPDATE {table} SET words = 7 WHERE seq = 3")
        connection.commit()
    ledger = await Ledger.open(path)
    for search in (events_with, lines_with):
        [(found, _)] = await search(ledger.corpora, ["乌龙"], ReadFilter(GROUP), 9)
        assert "第3" in found.text
    await ledger.close()
