"""The lexical index: FTS5 over terms made in Python, contentless, with the place as an indexed column.

Matching the place inside the index makes a search's cost independent of other groups. A retired event keeps its row;
searches filter it out. Deleting a contentless row requires its exact words: rows that are withdrawn, pruned, erased
or reworded are deleted with the words recomputed from the old row. Therefore the words of a row
must never change without :data:`FORM` changing, which rebuilds the index at the next start. Removals are noted by row
number, in the transaction that makes them, so that rows held in memory are dropped with them.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from sqlite3 import Connection

from ...domain.event import Event
from ...domain.message import Message
from ...domain.reading import ReadFilter
from ...domain.scope import Scope
from ...text.terms import SEARCHED, TERMS_VERSION, forms_version, index_terms, indexed_text, telling
from ..database.rows import EVENT, MESSAGE, Row, always_kept, bytes_replaced, insert, listed, select

EVENT_WORDS = "event_words"
MESSAGE_WORDS = "message_words"
FORM = f"2/{TERMS_VERSION}/{unicodedata.unidata_version}/{forms_version()}"
_COLUMNS = ("rowid", "place", "voice", "body")
KEPT = 64  # removals kept one by one; a cache that is further behind is rebuilt
_SLOTS = 2 * KEPT  # twice as many, so that a slot being read is not overwritten
_PUT_REMOVAL = "INSERT OR REPLACE INTO meta VALUES (?, ?)"


def add(connection: Connection, seq: int, item: Event | Message) -> None:
    """Index an event or a message."""
    connection.execute(insert(_table_of(item), _COLUMNS), (seq, *words_of(item)))


def drop(connection: Connection, rows: Sequence[tuple[int, Event | Message]]) -> None:
    """Remove events, or messages, from their index, and note that; they must be those that were indexed."""
    if rows:
        table = _table_of(rows[0][1])
        dropped = [("delete", seq, *words_of(item)) for seq, item in rows]
        connection.executemany(insert(table, (table, *_COLUMNS)), dropped)
        number = latest_removal(connection, table) + 1
        connection.execute(_PUT_REMOVAL, (table, number))
        connection.execute(_PUT_REMOVAL, (_slot(table, number), listed(seq for seq, _ in rows)))


def tidy(connection: Connection) -> None:
    """Rewrite the whole index without the removed words."""
    for table in (EVENT_WORDS, MESSAGE_WORDS):
        connection.execute(insert(table, (table,)), ("optimize",))


def words_of(item: Event | Message) -> tuple[str, str, str]:
    """Return the indexed columns: place, voice (the speaker), and body (texts, speaker's name, date)."""
    if isinstance(item, Message):
        scope, name, at, said = item.scene.scope, "" if item.is_bot else item.scene.user_name, item.sent_at, item.text
    else:
        scope, name, at = item.scope, item.sender_name, item.happened_at
        said = f"{item.text}\n{item.pain}\n{item.solution}\n{item.outcome}"
    voice = _token("u", scope.agent, item.sender_id) if scope.kind == "group" and item.sender_id else ""
    body = " ".join(index_terms(indexed_text(name, at, said)))
    return f"{_token('s', scope.key)} {_token('a', scope.agent)}", voice, body


def match(terms: Sequence[str], read_filter: ReadFilter) -> str | None:
    """Build an FTS5 query for any of the terms in the places that a scene may read; None if no term is searchable.

    At most ``SEARCHED`` terms are used: those rarest in the language, because counting the rows of each term would take
    another query.
    """
    rarest = sorted(terms, key=lambda term: -math.prod(map(telling, term)))[:SEARCHED]
    asked = [f'"{word}"' for word in map(_plain, rarest) if word]
    return f"({_where(read_filter)}) AND body : ({' OR '.join(asked)})" if asked else None


def refresh(connection: Connection) -> None:
    """Rebuild the index if :data:`FORM` changed; damaged rows, which no read returns, are left out."""
    known = always_kept(connection, "terms")
    if known == FORM:
        return
    with bytes_replaced(connection):
        for table, columns in ((EVENT_WORDS, EVENT), (MESSAGE_WORDS, MESSAGE)):
            connection.execute(insert(table, (table,)), ("delete-all",))
            rows = connection.execute(select(", ".join(("seq", *columns.fields)), columns.table, "TRUE"))
            connection.executemany(insert(table, _COLUMNS), _readable(rows, columns.read))
    connection.execute("UPDATE meta SET value = ? WHERE key = 'terms'", (FORM,))


def _readable(rows: Iterable[Row], read: Callable[[Row], Event | Message]) -> Iterator[tuple[int, str, str, str]]:
    for seq, *fields in rows:
        with suppress(sqlite3.DataError):
            yield (seq, *words_of(read(fields)))


def _table_of(item: Event | Message) -> str:
    return MESSAGE_WORDS if isinstance(item, Message) else EVENT_WORDS


def _where(read_filter: ReadFilter) -> str:
    scene = read_filter.scene
    if scene.kind == "operator":
        if read_filter.group_id:
            return f"place : {_token('s', Scope(scene.agent, 'group', read_filter.group_id).key)}"
        return f"place : {_token('a', scene.agent)}"
    here = f"place : {_token('s', scene.scope.key)}"
    return here if scene.kind == "group" else f"{here} OR voice : {_token('u', scene.agent, scene.user_id)}"


def _token(kind: str, *parts: str) -> str:
    joined = "\x1f".join(parts).encode("utf-8", "replace")
    return kind + hashlib.sha256(joined).hexdigest()[:16]


def _plain(term: str) -> str:
    """Keep only the characters of a term that have no meaning in FTS5's query language."""
    return "".join(char if char.isalnum() else " " for char in term).strip()


def latest_removal(connection: Connection, table: str) -> int:
    """Return the sequence number of the last removal; 0 if there was none."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (table,)).fetchone()
    return 0 if row is None else row[0]


def removed_between(connection: Connection, table: str, after: int, last: int) -> set[int] | None:
    """Return the rows of the removals after number ``after`` up to number ``last``.

    None if these are more than :data:`KEPT` removals, because older records are overwritten.
    """
    if last == after:
        return set()
    if last - after > KEPT:
        return None
    slots = listed(_slot(table, number) for number in range(after + 1, last + 1))
    found = connection.execute("SELECT value FROM meta WHERE key IN (SELECT value FROM json_each(?))", (slots,))
    return {seq for row in found for seq in json.loads(row[0])}


def _slot(table: str, number: int) -> str:
    return f"{table}/{number % _SLOTS}"
