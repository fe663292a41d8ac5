"""The two searchable corpora (events, messages), the access check of every row found, and the lines around a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from sqlite3 import Connection
from typing import Generic, TypeVar

from ...domain.message import Message, Passage
from ...domain.read_filter import ReadFilter
from ..database.connections import rows_read
from ..database.rows import EVENT, LISTED, MESSAGE, Row, bound, found_event, found_message, listed, select
from .lines import PAUSE, PAUSE_US, FoundLine, LineRows
from .read_filter_sql import NOT_HIDDEN, Filter, message_filter, sql_filter
from .rows import EventRows
from .words import EVENT_WORDS, MESSAGE_WORDS

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
