"""Tests of the word index in the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection, connect
from typing import Any

import pytest

from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.store import event_rows, messages
from cognitive_memory_core.store.database import migrations
from cognitive_memory_core.store.ledger import Ledger
from cognitive_memory_core.store.search.corpus import match_words
from cognitive_memory_core.text.terms import SEARCHED
from tests.support.builders import GROUP, PRIVATE, a_message, an_event
from tests.support.ledgers import committed, events_with
from tests.support.lines import lines_with


@pytest.fixture
def connection() -> Iterator[Connection]:
    """Return a database with the ledger's tables."""
    with closing(connect(":memory:", isolation_level=None)) as connection:
        migrations.migrate(connection, Path("none"))
        yield connection


def withdraw(connection: Connection, *which: Any) -> None:
    """Withdraw a message, in this thread."""
    messages.MessageLog.withdraw(connection, *which)


def kept(connection: Connection, table: str) -> list[str]:
    """List all words of an index."""
    connection.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{table}_held USING fts5vocab (main, {table}, row)")
    return [row[0] for row in connection.execute(f"SELECT term FROM {table}_held")]


async def test_words_made_in_another_way_are_made_anew_at_the_next_start(tmp_path: Path) -> None:
    """After a change of word splitting the index is rebuilt at the next start."""
    path = tmp_path / "ledger.db"
    ledger = await Ledger.open(path)
    await committed(ledger, an_event("乌龙茶"), an_event("红茶", PRIVATE))
    await ledger.log.append([a_message("乌龙茶真香")])
    await ledger.close()
    with closing(connect(path)) as connection:
        for table in ("event_words", "message_words"):
            connection.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")
            connection.execute(f"INSERT INTO {table} (rowid, body) VALUES (1, '陈旧')")
        connection.execute("UPDATE meta SET value = 'an older way' WHERE key = 'terms'")
        connection.commit()
    ledger = await Ledger.open(path)
    assert [event.text for event, _ in await events_with(ledger.corpora, ["乌龙"], ReadFilter(GROUP), 5)] == ["乌龙茶"]
    assert [event.text for event, _ in await events_with(ledger.corpora, ["红茶"], ReadFilter(PRIVATE), 5)] == ["红茶"]
    assert len(await lines_with(ledger.corpora, ["乌龙"], ReadFilter(GROUP), 5)) == 1
    assert await events_with(ledger.corpora, ["陈旧"], ReadFilter(GROUP), 5) == []
    await ledger.close()


@pytest.mark.parametrize(
    "term", ['"', 'a" OR place : "s', "body:", "NEAR(a b)", "a*", "^a", "-a", "\x00", "\ud800", "(", "AND"]
)
def test_no_term_is_read_as_a_query(connection: Connection, term: str) -> None:
    """No term is interpreted as a query, and the search stays within the scene."""
    event_rows.add(connection, an_event("a s", PRIVATE), ())
    asked = match_words([term, "乌龙"], ReadFilter(GROUP))
    assert asked is not None
    assert connection.execute("SELECT * FROM event_words WHERE event_words MATCH ?", (asked,)).fetchall() == []


def test_of_many_terms_the_rarest_in_the_language_are_matched():
    """Common words before a rare one do not push it out of the expression."""
    common = [a + b for a in "的一是不了在人有我" for b in "他这个们中来上大为和"]
    expression = match_words([*common, "鳜鱼"], ReadFilter(GROUP))
    assert expression is not None
    assert '"鳜鱼"' in expression
    assert expression.count(" OR ") == SEARCHED - 1
