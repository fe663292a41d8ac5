"""The corpora (events, messages): their index of words, read filters as SQL, and the lines around a line.

The index is FTS5 over terms made in Python, contentless, with the place as an indexed column: matching the place inside
the index makes a search's cost independent of other groups. A retired event keeps its row;
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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from sqlite3 import Connection
from typing import Generic, TypeVar

from ...domain.event import Event
from ...domain.message import Message, Passage
from ...domain.reading import EventListing, EventState, LineListing, ReadFilter
from ...domain.scope import Interval, Scene, Scope
from ...text.terms import SEARCHED, TERMS_VERSION, forms_version, index_terms, indexed_text, telling
from ..database.connections import rows_read
from ..database.rows import (
    EVENT,
    LISTED,
    MESSAGE,
    Row,
    always_kept,
    bound,
    bytes_replaced,
    found_event,
    found_message,
    insert,
    listed,
    micros,
    select,
)
from .lines import PAUSE, PAUSE_US, FoundLine, LineRows
from .rows import EventRows

EVENT_WORDS = "event_words"
MESSAGE_WORDS = "message_words"
FORM = f"2/{TERMS_VERSION}/{unicodedata.unidata_version}/{forms_version()}"
_COLUMNS = ("rowid", "place", "voice", "body")
KEPT = 64  # removals kept one by one; a cache that is further behind is rebuilt
_SLOTS = 2 * KEPT  # twice as many, so that a slot being read is not overwritten
_PUT_REMOVAL = "INSERT OR REPLACE INTO meta VALUES (?, ?)"


def add_words(connection: Connection, seq: int, item: Event | Message) -> None:
    """Index an event or a message."""
    connection.execute(insert(_table_of(item), _COLUMNS), (seq, *words_of(item)))


def drop_words(connection: Connection, rows: Sequence[tuple[int, Event | Message]]) -> None:
    """Remove events, or messages, from their index, and note that; they must be those that were indexed."""
    if rows:
        table = _table_of(rows[0][1])
        dropped = [("delete", seq, *words_of(item)) for seq, item in rows]
        connection.executemany(insert(table, (table, *_COLUMNS)), dropped)
        number = latest_removal(connection, table) + 1
        connection.execute(_PUT_REMOVAL, (table, number))
        connection.execute(_PUT_REMOVAL, (_slot(table, number), listed(seq for seq, _ in rows)))


def tidy_words(connection: Connection) -> None:
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


def match_words(terms: Sequence[str], read_filter: ReadFilter) -> str | None:
    """Build an FTS5 query for any of the terms in the places that a scene may read; None if no term is searchable.

    At most ``SEARCHED`` terms are used: those rarest in the language, because counting the rows of each term would take
    another query.
    """
    rarest = sorted(terms, key=lambda term: -math.prod(map(telling, term)))[:SEARCHED]
    asked = [f'"{word}"' for word in map(_plain, rarest) if word]
    return f"({_where(read_filter)}) AND body : ({' OR '.join(asked)})" if asked else None


def refresh_words(connection: Connection) -> None:
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


Values = tuple[str | int, ...]
Filter = tuple[str, Values]

_SPEAKS_OF = f"EXISTS ({select('1', 'event_subjects s', 's.seq = e.seq AND s.subject IN ' + LISTED)})"
_NOT_OF = f"e.sender_id NOT IN {LISTED} AND NOT {_SPEAKS_OF}"  # neither by nor about some people
NOT_HIDDEN = f"NOT EXISTS ({select('1', 'veils v', 'v.seq = e.seq')})"  # lines that are not hidden
RESTS_ON_NOTHING = f"e.message_ids <> '[]' AND NOT EXISTS ({select('1', 'event_sources s', 's.seq = e.seq')})"
ON_REQUEST = "f.cause <> 'correction'"
FORGOTTEN = f"EXISTS ({select('1', 'forgotten f', f'f.seq = e.seq AND {ON_REQUEST}')})"
GONE = f"e.retired_at IS NOT NULL AND ({FORGOTTEN} OR ({RESTS_ON_NOTHING}))"  # not only worded anew by a correction
_STATES: Mapping[EventState, str] = {
    "active": "e.retired_at IS NULL",
    "retired": GONE,
    "relative": "e.retired_at IS NULL AND e.is_absolute = 0",
}


def sql_filter(read_filter: ReadFilter) -> Filter:
    """Compile a read filter over ``events e``: the clause selects exactly the rows that the read filter admits."""
    person, kinds, is_private = read_filter.user_id, read_filter.kinds, read_filter.scene.kind == "private"
    return _all(
        (True, *scene_filter(read_filter.scene)),
        (True, "e.retired_at IS NULL", ()),
        (read_filter.group_id, "e.group_id = ?", (read_filter.group_id,)),
        (read_filter.window, *_within(read_filter.window)),
        (is_private, "(e.request_type = 'private' OR e.others_words = 0)", ()),
        (person, f"(e.sender_id = ? OR e.user_id = ? OR {_SPEAKS_OF})", (person, person, listed([person]))),
        (kinds, f"e.kind IN {LISTED}", (listed(kinds),)),
        (read_filter.without, _NOT_OF, (listed(sorted(read_filter.without)),) * 2),
    )


def message_filter(read_filter: ReadFilter) -> Filter:
    """Compile a read filter over ``messages e``; a line of the bot belongs to the person whom it addresses."""
    return _all(
        (True, *scene_filter(read_filter.scene)),
        (True, NOT_HIDDEN, ()),
        (read_filter.group_id, "e.group_id = ?", (read_filter.group_id,)),
        (read_filter.window, *_within(read_filter.window)),
        (read_filter.user_id, "e.user_id = ?", (read_filter.user_id,)),
        (read_filter.kinds and "message" not in read_filter.kinds, "0", ()),
        (read_filter.without, f"e.user_id NOT IN {LISTED}", (listed(sorted(read_filter.without)),)),
    )


def listing_filter(agent: str, listing: EventListing, without: Collection[str]) -> Filter:
    """Compile an operator's list over ``events e``: the clause selects exactly the rows of the list."""
    said, about = select("seq", "events", "agent = ? AND sender_id = ?"), select("seq", "event_subjects", "subject = ?")
    return _all(
        (True, "e.agent = ?", bound(agent)),
        (True, _STATES[listing.state], ()),
        (listing.place, "e.scope = ?", bound(listing.place.key if listing.place else "")),
        (
            listing.user_id,
            f"e.seq IN ({said} UNION ALL {about})",
            bound(agent, listing.user_id, listing.user_id),
        ),
        (listing.kind, "e.kind = ?", bound(listing.kind)),
        (listing.window, *_within(listing.window)),
        (without, _NOT_OF, (listed(sorted(without)),) * 2),
    )


def line_filter(agent: str, listing: LineListing, without: Collection[str]) -> Filter:
    """Compile a list of lines over ``messages e``; none of the people ``without``, or of the bot's to them."""
    return _all(
        (True, "e.agent = ?", bound(agent)),
        (True, NOT_HIDDEN, ()),
        (listing.place, "e.scope = ?", bound(listing.place.key if listing.place else "")),
        (listing.user_id, "e.sender_id = ?", bound(listing.user_id)),
        (listing.window, *_within(listing.window)),
        (without, f"e.user_id NOT IN {LISTED}", (listed(without),)),
    )


def missed_filter(agent: str | None, without: Collection[str]) -> Filter:
    """Compile a list of failed recalls whose events are active, over ``missed m`` and ``events e``."""
    return _all(
        (True, "e.retired_at IS NULL", ()),
        (agent is not None, "e.agent = ?", bound(agent)),
        (without, f"m.user_id NOT IN {LISTED} AND {_NOT_OF}", (listed(sorted(without)),) * 3),
    )


def scene_filter(scene: Scene) -> Filter:
    """Compile the scope rule alone, over ``events e`` or ``messages e``."""
    if scene.kind == "operator":
        return "e.agent = ?", (scene.agent,)
    if scene.kind == "group":
        return "e.scope = ?", (scene.scope.key,)
    own_words = "e.agent = ? AND e.sender_id = ? AND e.request_type = 'group'"
    return f"(e.scope = ? OR ({own_words}))", (scene.scope.key, scene.agent, scene.user_id)


def place_filter(read_filter: ReadFilter) -> Filter:
    """Compile the filter of the whole place (or places) that contains every row that a read filter admits.

    Search caches are kept per such place.
    """
    scene = read_filter.scene
    if scene.kind == "operator" and read_filter.group_id:
        scene = Scene.operator(scene.agent, group_id=read_filter.group_id)
        return "e.scope = ?", (scene.scope.key,)
    return scene_filter(scene)


def _within(window: Interval | None) -> Filter:
    return "e.at_us >= ? AND e.at_us < ?", (micros(window.start), micros(window.stop)) if window else ()


def _all(*parts: tuple[object, str, Values]) -> Filter:
    """Join the clauses whose first member is true."""
    wanted = [(clause, values) for is_wanted, clause, values in parts if is_wanted]
    return " AND ".join(clause for clause, _ in wanted), tuple(value for _, values in wanted for value in values)


SHOWN = 2  # lines before and after a line that are shown with it
T = TypeVar("T")


@dataclass(frozen=True)
class Corpus(Generic[T]):
    """Events, or messages: their tables, conversion and access rule.

    ``standing`` is the SQL condition of rows that may be shown at all, ``rows`` makes the rows held of a place.
    ``columns`` are those for :meth:`admitted`: seq and the fields, from the table as ``e``.
    """

    table: str
    words: str
    fields: tuple[str, ...]
    filter_of: Callable[[ReadFilter], Filter]
    read: Callable[[Row], T]
    admits: Callable[[ReadFilter, T], bool]
    rows: Callable[[], EventRows | LineRows]
    standing: str = "TRUE"
    columns: str = field(init=False)

    def __post_init__(self) -> None:
        """Name the columns."""
        object.__setattr__(self, "columns", ", ".join(f"e.{name}" for name in ("seq", *self.fields)))

    def admitted(self, read_filter: ReadFilter, rows: Iterable[Row]) -> dict[int, T]:
        """Convert rows, and drop those that the read filter does not admit, whatever the query returned."""
        read, admits = self.read, self.admits
        return {row[0]: item for row in rows if admits(read_filter, item := read(row[1:]))}

    def at(self, connection: Connection, read_filter: ReadFilter, seqs: Sequence[int]) -> dict[int, T]:
        """Return, by seq and in the given order, those of the rows that the read filter admits."""
        kept = rows_read(connection, (self.table, read_filter))  # None: not admitted, or gone
        if unchecked := [seq for seq in seqs if seq not in kept]:
            known, read, admits = rows_read(connection, self.table), self.read, self.admits
            if missing := [seq for seq in unchecked if seq not in known]:
                query = select(self.columns, f"{self.table} e", f"e.seq IN {LISTED} AND {self.standing}")
                for row in connection.execute(query, (listed(missing),)):
                    known[row[0]] = read(row[1:])
            for seq in unchecked:
                item = known.get(seq)
                kept[seq] = item if item is not None and admits(read_filter, item) else None
        return {seq: item for seq in seqs if (item := kept[seq]) is not None}


EVENTS = Corpus("events", EVENT_WORDS, EVENT.fields, sql_filter, found_event, ReadFilter.admits, EventRows)
MESSAGES = Corpus(
    "messages",
    MESSAGE_WORDS,
    MESSAGE.fields,
    message_filter,
    found_message,
    ReadFilter.admits_line,
    LineRows,
    NOT_HIDDEN,
)


_ASKED = """json_each(?1) j CROSS JOIN messages m
    ON m.scope = json_extract(j.value, '$[0]') AND m.id = json_extract(j.value, '$[1]')"""
_ANSWERED = select(
    "m.scope, m.id, r.seq", f"{_ASKED} CROSS JOIN messages r ON r.scope = m.scope AND r.id = m.reply_to", "TRUE"
)
_EVER_US = 2**61


def passages_around(
    connection: Connection, messages: Sequence[Message], read_filter: ReadFilter, reach: int
) -> list[Passage]:
    """Return each message with the ``reach`` lines before and after it, of those that the read filter admits."""
    admitted = {(line.scene.scope.key, line.id) for line in messages if read_filter.admits_line(line)}
    asked = json.dumps([bound(*key) for key in sorted(admitted)])
    clause, values = message_filter(read_filter)
    side = (*values, _EVER_US, reach)
    windows: dict[str, dict[int, list[tuple[int, int]]]] = {}  # by place and line: time and seq, the order of the log
    for place, _, number, at_us, seq in connection.execute(_beside(clause), (asked, *side, *side)):
        windows.setdefault(place, {}).setdefault(number, []).append((at_us, seq))
    runs: list[list[tuple[int, int]]] = []
    for here in windows.values():
        begun = len(runs)
        for window in sorted(map(sorted, here.values())):
            if len(runs) > begun and window[0] <= runs[-1][-1]:  # windows that share a line are one
                runs[-1] += [place for place in window if place > runs[-1][-1]]
            else:
                runs.append(window)
    lines = MESSAGES.at(connection, read_filter, [seq for run in runs for _, seq in run])
    passages = (tuple(lines[seq] for _, seq in run if seq in lines) for run in runs)
    return [passage for passage in passages if passage]


def surround(
    connection: Connection, found: Sequence[FoundLine], read_filter: ReadFilter, around: int | None = None
) -> None:
    """Add to lines the ones they reply to and, to the first ``around`` (None: all), those before and after them.

    Lines around a line are of the same session. Only lines that the read filter admits are read; the lines found must
    be of the log.
    """
    keys = [bound(one.line.scene.scope.key, one.line.id) for one in found]
    clause, values = message_filter(read_filter)
    side_of = (*values, SHOWN * PAUSE_US, SHOWN)
    beside: dict[tuple[str, ...], list[int]] = {}
    for *key, _, seq in sorted(connection.execute(_beside(clause), (json.dumps(keys[:around]), *side_of, *side_of))):
        beside.setdefault(tuple(key[:2]), key[2:3]).append(seq)  # first the line's own
    answered = {(place, name): seq for place, name, seq in connection.execute(_ANSWERED, (json.dumps(keys),))}
    lines = MESSAGES.at(connection, read_filter, list({*answered.values(), *chain(*beside.values())}))
    for one, key in zip(found, keys, strict=True):
        own, *near = beside.get(key, (0, 0))
        at = near.index(own)
        sides = [[lines[seq] for seq in some if seq in lines] for some in (near[:at][::-1], near[at + 1 :])]
        for side in sides:  # of one session: without a pause between two lines
            said = one.line.sent_at, *(line.sent_at for line in side)
            pauses = (number for number, line in enumerate(side) if abs(line.sent_at - said[number]) > PAUSE)
            del side[next(pauses, len(side)) :]
        one.before, one.after = tuple(sides[0][::-1]), tuple(sides[1])
        one.replied = lines.get(answered.get(key, 0))


def _beside(clause: str) -> str:
    """Build the query of the lines before and after some lines that a clause admits, and of these lines."""
    place = f"e.scope = m.scope AND {clause} AND (e.at_us, e.seq)"
    before = f"{place} < (m.at_us, m.seq) AND e.at_us >= m.at_us - ?", "ORDER BY e.at_us DESC, e.seq DESC LIMIT ?"
    after = f"{place} > (m.at_us, m.seq) AND e.at_us <= m.at_us + ?", "ORDER BY e.at_us, e.seq LIMIT ?"
    sides = (f"SELECT seq FROM ({select('e.seq', 'messages e', *one)})" for one in (before, after))
    return select(
        "m.scope, m.id, m.seq, n.at_us, n.seq",
        f"{_ASKED} CROSS JOIN messages n",
        f"n.seq IN ({' UNION ALL '.join((*sides, 'SELECT m.seq'))})",
    )
