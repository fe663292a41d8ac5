"""All rows of the ledger, for export, import and status."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from sqlite3 import Connection
from typing import Any

from ..domain.belief import Belief, Change, SuggestionDecision
from ..domain.consent import OptOut, PlaceSwitch, Shared
from ..domain.erasure import StoredItem, Tombstones, names_erased, origin_of, people_of, stays_out
from ..domain.event import without_quotes
from ..domain.figures import Activity, DayCount, Totals
from ..domain.instants import Interval
from ..domain.message import Message
from ..domain.notes import Memo, Pin
from ..domain.people import Alias
from ..domain.scope import Scope
from ..ports import EmbeddedEvent
from . import beliefs, event_rows
from .beliefs import BeliefBook
from .consent import ConsentBook, record_change, tombstones_of
from .database.database import Table, reads, writes
from .database.rows import (
    ALIAS,
    BELIEF,
    CHANGE,
    DECISION,
    EVENT,
    LISTED,
    MEMO,
    MESSAGE,
    OPT_OUT,
    PIN,
    SHARED,
    SWITCH,
    Columns,
    bound,
    listed,
    micros,
    next_revision,
    vector_of,
)
from .messages import MessageLog
from .names import add_told, keep_name
from .search.filters import GONE, Filter
from .vectors import dimensions_of, has_direction, put

PAGE = 500  # rows read at a time


ArchiveRow = EmbeddedEvent | StoredItem


def place_of(row: ArchiveRow) -> Scope | None:
    """Return the place of a row; None for what a person decided for all places."""
    return origin_of(row.event if isinstance(row, EmbeddedEvent) else row)[0]


# each kind of exported row, with the columns that hold the id of its owner, and which rows are exported
_KINDS: tuple[tuple[Columns[Any], str, str], ...] = (
    (OPT_OUT, "", "TRUE"),
    (SHARED, "", "TRUE"),
    (SWITCH, "", "TRUE"),
    (ALIAS, "", "TRUE"),
    (
        EVENT,
        "CASE WHEN e.sender_id = '' AND e.quotes <> '[]' THEN e.user_id ELSE e.sender_id END",  # what the bot noted
        "e.retired_at IS NULL",
    ),
    (MESSAGE, "e.sender_id", "e.seq NOT IN (SELECT seq FROM veils)"),
    (MEMO, "", "TRUE"),
    (PIN, "e.owner_id, e.author_id", "TRUE"),
    (BELIEF, "", "TRUE"),
    (CHANGE, "", "TRUE"),
    (DECISION, "", "TRUE"),
)


class Archive(Table):
    """Reads, counts and imports all rows of the ledger."""

    async def pages(self, *, user_id: str | None = None) -> AsyncIterator[list[ArchiveRow]]:
        """Stream all active rows, some at a time, or only what one person said and the pins that they own or wrote.

        Opt-outs come first, because an import must apply them before all other rows.
        """
        for kind, owner, standing in _KINDS:
            if user_id is not None and not owner:
                continue
            own = "TRUE" if user_id is None else f"? IN ({owner})"
            rest = f"WHERE e.seq > ? AND {standing} AND {own} ORDER BY e.seq LIMIT {PAGE}"
            asked = () if user_id is None else bound(user_id)
            after: int | None = 0
            while after is not None:
                page = await self.database.read(_page, kind, rest, (after, *asked))
                yield [row if user_id is None else _with_own_quotes(row, user_id) for _, row in page]
                after = page[-1][0] if len(page) == PAGE else None

    @writes
    def import_rows(self, connection: Connection, rows: Sequence[ArchiveRow], told: Sequence[Alias] = ()) -> int:
        """Write rows in one transaction; return the number of new rows.

        Rows are skipped if their id exists, if their person opted out or was erased, or if they are texts of other
        people that contain the id of an erased person. Names that the rows only ``told`` are written if their person
        has them nowhere, and not counted.
        """
        new = sum(OPT_OUT.added(connection, row) for row in rows if isinstance(row, OptOut))
        left_out, erased = ConsentBook.opted_out(connection), tombstones_of(connection)
        revision = next_revision(connection)

        def is_admitted(row: ArchiveRow) -> bool:
            said = row.event if isinstance(row, EmbeddedEvent) else row
            is_erased = stays_out(erased, said) or names_erased(erased, said)
            return left_out.isdisjoint(people_of(said)) and not is_erased

        for row in rows:
            if not isinstance(row, OptOut) and is_admitted(row):
                new += _is_new(connection, row, revision, erased)
        add_told(connection, [alias for alias in told if is_admitted(alias)])
        if new and any(isinstance(row, Message | OptOut | PlaceSwitch) for row in rows):
            record_change(connection, datetime.now(timezone.utc))  # an export tells nothing of earlier consent
        return new

    @reads
    def totals(self, connection: Connection) -> Totals:
        """Return the row counts."""
        return Totals(
            events=_count(connection, "events", "retired_at IS NULL"),
            retired=_count(connection, "events e", GONE),
            messages=_count(connection, "messages"),
            memos=_count(connection, "memos"),
            pins=_count(connection, "pins"),
            beliefs=_count(connection, "beliefs", "status = 'active'"),
        )

    @reads
    def activity(self, connection: Connection, scope: Scope | None, days: Sequence[Interval]) -> Activity:
        """Count the active events and logged messages of a place (None: all places), in total and on each of the days.

        ``days`` must follow each other without a gap.
        """
        if scope is None:  # the index of active events begins with the agent
            agents = connection.execute("SELECT DISTINCT agent FROM events WHERE retired_at IS NULL")
            lines: Filter = "TRUE", ()
            events: Filter = f"agent IN {LISTED} AND retired_at IS NULL", (listed(row[0] for row in agents),)
        else:
            lines = "scope = ?", bound(scope.key)
            events = "scope = ? AND retired_at IS NULL", bound(scope.key)
        counts: list[DayCount] = []
        within = "at_us >= ? AND at_us < ?"
        for day in days:
            bounds = micros(day.start), micros(day.stop)
            said = _count(connection, "messages", f"{lines[0]} AND {within}", (*lines[1], *bounds))
            happened = _count(connection, "events", f"{events[0]} AND {within}", (*events[1], *bounds))
            counts.append(DayCount(day.start.date(), said, happened))
        return Activity(_count(connection, "events", *events), _count(connection, "messages", *lines), tuple(counts))


def _with_own_quotes(row: ArchiveRow, user_id: str) -> ArchiveRow:
    """Return a row of a person's own export: an event without what other people said."""
    if not isinstance(row, EmbeddedEvent):
        return row
    own = without_quotes(row.event, lambda quote: quote.sender_id not in ("", user_id)) or row.event
    return row if own is row.event else EmbeddedEvent(own)


def _page(connection: Connection, kind: Columns[Any], rest: str, values: Sequence[Any]) -> list[tuple[int, Any]]:
    """Read a page of rows, each with its seq; events with their vectors, decisions with their events."""
    rows = kind.numbered(connection, rest, values)
    if kind is not EVENT:
        return rows if kind is not DECISION else beliefs.with_events(connection, rows)
    query = f"SELECT seq, embedded_as, vector FROM events JOIN vectors USING (seq) WHERE seq IN {LISTED}"
    stored = connection.execute(query, (listed(seq for seq, _ in rows),))
    embedded = {seq: (fingerprint, vector_of(vector)) for seq, fingerprint, vector in stored}
    nothing: tuple[str, None] = ("", None)
    return [(seq, EmbeddedEvent(event, *embedded.get(seq, nothing))) for seq, event in rows]


_AS_THEY_ARE: Mapping[type, Columns[Any]] = {Shared: SHARED, PlaceSwitch: SWITCH, Memo: MEMO, Pin: PIN, Change: CHANGE}


def _is_new(connection: Connection, row: ArchiveRow, revision: int, erased: Tombstones) -> bool:
    """Write a row unless it is known; return whether it was written."""
    match row:
        case EmbeddedEvent():
            return _import_event(connection, row, revision, erased)
        case Message():
            return MessageLog.append(connection, [row]) > 0
        case Alias():
            return keep_name(connection, row)
        case Belief():
            return beliefs.import_version(connection, row, erased)
        case SuggestionDecision():
            is_erased = erased.covers(None, (row.decided_by,), row.decided_at)
            return BeliefBook.decide(connection, replace(row, decided_by="") if is_erased else row)
        case _:
            return _AS_THEY_ARE[type(row)].added(connection, row)


def _import_event(connection: Connection, row: EmbeddedEvent, revision: int, erased: Tombstones) -> bool:
    """Write an event unless it or an equal event is known; return whether it was written.

    An equal event is not counted again, so that importing a file twice changes nothing. A vector without a direction,
    or with another length than those of its model, is left out, so that the event is embedded again.
    """
    event, vector = row.event, row.vector
    event = event_rows.with_admitted_quotes(connection, event, ConsentBook.opted_out(connection), erased) or event
    if event_rows.is_known(connection, event) or event_rows.active_duplicate(connection, event) is not None:
        return False
    sources, withdrawn_at = event_rows.sources_of(connection, event)
    seq = event_rows.add(connection, replace(event, retired_at=event.retired_at or withdrawn_at), sources)
    is_whole = vector is not None and has_direction(vector) and event.text == row.event.text
    known = dimensions_of(connection, row.fingerprint)
    if row.fingerprint and vector is not None and is_whole and known in (0, len(vector)):
        put(connection, "events", "vectors", seq, row.fingerprint, vector)
        connection.execute("UPDATE events SET revision = ? WHERE seq = ?", (revision, seq))
    return True


def _count(connection: Connection, table: str, where: str = "TRUE", values: Sequence[object] = ()) -> int:
    return connection.execute(f"SELECT count(*) FROM {table} WHERE {where}", tuple(values)).fetchone()[0]
