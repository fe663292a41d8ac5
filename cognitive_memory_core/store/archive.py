"""All rows of the ledger, for export, import and status."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from sqlite3 import Connection

from ..domain.belief import Belief, Change, SuggestionDecision
from ..domain.erasure import Tombstones, is_covered, names_erased, stays_out
from ..domain.event import without_quotes
from ..domain.figures import Activity, DayCount, Totals
from ..domain.interval import Interval
from ..domain.message import Message
from ..domain.note import Memo, Pin
from ..domain.scope import PlaceSwitch, Scope
from ..ports.vectors import EmbeddedEvent
from ..text.time.instants import EARLIEST
from . import beliefs, event_rows
from .beliefs import DECISION_COLUMNS, DecisionBook, decision_of
from .consent import ConsentBook, add_switch, record_change, switch_of, tombstones_of
from .database.rows import BELIEF, CHANGE, EVENT, MEMO, MESSAGE, PIN, Row, bound, instant_of, micros, vector_of
from .database.sql import next_revision
from .database.table import Table, reads, writes
from .messages import append
from .names import Alias, add_alias, add_told
from .notes import NoteBook
from .search.read_filter_sql import GONE
from .vectors import dimensions_of, has_direction, put

PAGE = 500  # rows read at a time


@dataclass(frozen=True)
class OptOut:
    """One person's opt-out, as exported."""

    user_id: str
    at: datetime


@dataclass(frozen=True)
class Shared:
    """One person's consent to show their own profile in every place, as exported."""

    user_id: str
    at: datetime


ArchiveRow = (
    EmbeddedEvent | Message | Memo | Pin | Alias | OptOut | Shared | PlaceSwitch | Belief | Change | SuggestionDecision
)
_Owned = EmbeddedEvent | Message | Memo | Pin | Alias | Shared | PlaceSwitch | Belief | Change | SuggestionDecision


def place_of(row: ArchiveRow) -> Scope | None:
    """Return the place of a row; None for what a person decided for all places."""
    match row:
        case OptOut() | Shared():
            return None
        case EmbeddedEvent():
            return row.event.scope
        case Message():
            return row.scene.scope
        case _:
            return row.scope


@dataclass(frozen=True)
class _ArchiveTable:
    """One kind of exported row: its table, its conversion, and the columns with the id of its owner."""

    source: str
    columns: str
    read: Callable[[Row], ArchiveRow]
    person: str = ""
    standing: str = "TRUE"

    def page(self, connection: Connection, user_id: str | None, after: int) -> list[tuple[int, ArchiveRow]]:
        """Read the next page of rows, each with its seq."""
        where = f"r.seq > ? AND {self.standing}" + ("" if user_id is None else f" AND ? IN ({self.person})")
        values = (after,) if user_id is None else (after, *bound(user_id))
        query = f"SELECT r.seq, {self.columns} FROM {self.source} WHERE {where} ORDER BY r.seq LIMIT ?"
        return [(row[0], self.read(row[1:])) for row in connection.execute(query, (*values, PAGE))]


class Archive(Table):
    """Reads, counts and imports all rows of the ledger."""

    async def rows(self, *, user_id: str | None = None) -> AsyncIterator[ArchiveRow]:
        """Stream all active rows in batches, or only what one person said and the pins that they own or wrote.

        Opt-outs come first, because an import must apply them before all other rows.
        """
        for table in _TABLES:
            after = 0
            while user_id is None or table.person:
                page = await self.database.read(table.page, user_id, after)
                for _, row in page:
                    yield row if user_id is None else _with_own_quotes(row, user_id)
                if len(page) < PAGE:
                    break
                after = page[-1][0]

    @writes
    def import_rows(self, connection: Connection, rows: Sequence[ArchiveRow], told: Sequence[Alias] = ()) -> int:
        """Write rows in one transaction; return the number of new rows.

        Rows are skipped if their id exists, if their person opted out or was erased, or if they are texts of other
        people that contain the id of an erased person. Names that the rows only ``told`` are written if their person
        has them nowhere, and not counted.
        """
        opt_outs = [row for row in rows if isinstance(row, OptOut)]
        new = sum(ConsentBook.opt_out(connection, opt_out.user_id, opt_out.at) for opt_out in opt_outs)
        left_out, erased = ConsentBook.opted_out(connection), tombstones_of(connection)
        revision, lengths = next_revision(connection), _lengths(connection, rows)

        def is_admitted(row: _Owned) -> bool:
            return left_out.isdisjoint(_people(row)) and not _is_erased(erased, row)

        admitted = [row for row in rows if not isinstance(row, OptOut) and is_admitted(row)]
        new += sum(_import_row(connection, _with_usable_vector(row, lengths), revision, erased) for row in admitted)
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
        here, values = ("TRUE", ()) if scope is None else ("scope = ?", bound(scope.key))
        standing = f"{here} AND retired_at IS NULL"
        everywhere = _EVERYWHERE if scope is None else standing
        lines = _by_day(connection, "messages", here, values, days)
        events = _by_day(connection, "events", everywhere, values, days)
        return Activity(
            _count(connection, "events", standing, values),
            _count(connection, "messages", here, values),
            tuple(DayCount(day.start.date(), *counts) for day, *counts in zip(days, lines, events, strict=True)),
        )


def _with_own_quotes(row: ArchiveRow, user_id: str) -> ArchiveRow:
    """Return a row of a person's own export: an event without what other people said."""
    if not isinstance(row, EmbeddedEvent):
        return row
    own = without_quotes(row.event, lambda quote: quote.sender_id not in ("", user_id)) or row.event
    return row if own is row.event else EmbeddedEvent(own)


def _lengths(connection: Connection, rows: Sequence[ArchiveRow]) -> Mapping[str, int]:
    """Return the vector length of each fingerprint: that of stored vectors, else the most frequent among ``rows``."""
    whole = (row for row in rows if isinstance(row, EmbeddedEvent) and row.vector and has_direction(row.vector))
    times = Counter((row.fingerprint, len(row.vector or ())) for row in whole)
    usual = {model: length for (model, length), _ in reversed(times.most_common())}
    return {model: dimensions_of(connection, model) or length for model, length in usual.items()}


def _with_usable_vector(row: _Owned, lengths: Mapping[str, int]) -> _Owned:
    """Return the row; without its vector, so that it is embedded again, if that has a wrong length or no direction."""
    if not isinstance(row, EmbeddedEvent) or row.vector is None:
        return row
    is_usable = has_direction(row.vector) and len(row.vector) == lengths.get(row.fingerprint)
    return row if is_usable else EmbeddedEvent(row.event)


def _is_erased(erased: Tombstones, row: _Owned) -> bool:
    if isinstance(row, Alias):
        return is_covered(erased, row.scope, (row.user_id,), row.last_seen_at)
    if isinstance(row, Shared):
        return erased.covers_person(row.user_id, row.at)
    if isinstance(row, SuggestionDecision):
        return is_covered(erased, row.scope, (), row.decided_at)
    if isinstance(row, PlaceSwitch):
        return is_covered(erased, row.scope, (), EARLIEST)  # when it was set is not known
    said = row.event if isinstance(row, EmbeddedEvent) else row
    return stays_out(erased, said) or names_erased(erased, said)


def _people(row: _Owned) -> tuple[str, ...]:
    match row:
        case EmbeddedEvent():
            return (row.event.sender_id, *row.event.subjects, *_people_of(row.event.scope))
        case Message():
            return (row.scene.user_id,)
        case Pin():
            return (row.owner_id,)
        case Memo() | Alias():
            return (row.user_id, *_people_of(row.scope))
        case Shared():
            return (row.user_id,)
        case PlaceSwitch() | Belief() | Change() | SuggestionDecision():
            return _people_of(row.scope)


def _people_of(scope: Scope) -> tuple[str, ...]:
    """Return the person of a private chat; none for a group. Rows of an older system may name nobody else."""
    return (scope.place_id,) if scope.kind == "private" else ()


def _import_row(connection: Connection, row: _Owned, revision: int, erased: Tombstones) -> bool:  # noqa: PLR0911  # a return for each kind
    match row:
        case EmbeddedEvent():
            return _import_event(connection, row, revision, erased)
        case Message():
            return append(connection, [row]) > 0
        case Memo():
            return NoteBook.add_memo(connection, row)
        case Pin():
            return NoteBook.add_pin(connection, row)
        case Alias():
            return add_alias(connection, row)
        case Shared():
            return ConsentBook.set_sharing(connection, row.user_id, shared=True, at=row.at)
        case PlaceSwitch():
            return add_switch(connection, row)
        case Belief():
            return beliefs.import_version(connection, row, erased)
        case Change():
            return beliefs.add_change(connection, row)
        case SuggestionDecision():
            is_erased = erased.covers_person(row.decided_by, row.decided_at)
            return DecisionBook.decide(connection, replace(row, decided_by="") if is_erased else row)


def _import_event(connection: Connection, row: EmbeddedEvent, revision: int, erased: Tombstones) -> bool:
    """Write an event unless it or an equal event is known; return whether it was written.

    An equal event is not counted again, so that importing a file twice changes nothing.
    """
    event = row.event
    event = event_rows.with_admitted_quotes(connection, event, ConsentBook.opted_out(connection), erased) or event
    if event_rows.is_known(connection, event) or event_rows.active_duplicate(connection, event) is not None:
        return False
    sources, withdrawn_at = event_rows.sources_of(connection, event)
    seq = event_rows.add(connection, replace(event, retired_at=event.retired_at or withdrawn_at), sources)
    if row.fingerprint and row.vector is not None and event.text == row.event.text:
        put(connection, seq, row.fingerprint, row.vector, revision)
    return True


def _count(connection: Connection, table: str, where: str = "TRUE", values: Sequence[object] = ()) -> int:
    return connection.execute(f"SELECT count(*) FROM {table} WHERE {where}", tuple(values)).fetchone()[0]


_EVERYWHERE = """retired_at IS NULL AND agent IN (
    WITH RECURSIVE a (agent) AS (
        SELECT min(agent) FROM events WHERE retired_at IS NULL UNION ALL
        SELECT (SELECT min(agent) FROM events WHERE retired_at IS NULL AND agent > a.agent)
        FROM a WHERE a.agent IS NOT NULL
    ) SELECT agent FROM a WHERE agent IS NOT NULL
)"""  # by the index of active events; each agent is found by one index step


def _by_day(
    connection: Connection, table: str, where: str, values: Sequence[object], days: Sequence[Interval]
) -> list[int]:
    """Count the rows of each day; the index by time makes this cheap."""
    within = f"{where} AND at_us >= ? AND at_us < ?"
    return [_count(connection, table, within, (*values, micros(day.start), micros(day.stop))) for day in days]


def _embedded_event_of(row: Row) -> EmbeddedEvent:
    *fields, fingerprint, vector = row
    event = EVENT.read(fields)
    return EmbeddedEvent(event) if vector is None else EmbeddedEvent(event, fingerprint, vector_of(vector))


def _alias_of(row: Row) -> Alias:
    scope, user_id, name, first_us, last_us = row
    return Alias(Scope.of_key(scope), user_id, name, instant_of(first_us), instant_of(last_us))


_TABLES = (
    _ArchiveTable("opt_outs r", "r.user_id, r.at_us", lambda row: OptOut(row[0], instant_of(row[1]))),
    _ArchiveTable("sharing r", "r.user_id, r.at_us", lambda row: Shared(row[0], instant_of(row[1]))),
    _ArchiveTable("switches r", "r.scope, r.switch, r.until_us", switch_of),
    _ArchiveTable("names r", "r.scope, r.user_id, r.name, r.first_us, r.last_us", _alias_of),
    _ArchiveTable(
        "events r LEFT JOIN vectors v ON v.seq = r.seq",
        f"{EVENT.of('r')}, r.embedded_as, v.vector",
        _embedded_event_of,
        "CASE WHEN r.sender_id = '' AND r.quotes <> '[]' THEN r.user_id ELSE r.sender_id END",  # what the bot noted
        "r.retired_at IS NULL",
    ),
    _ArchiveTable("messages r", MESSAGE.of("r"), MESSAGE.read, "r.sender_id", "r.seq NOT IN (SELECT seq FROM veils)"),
    _ArchiveTable("memos r", MEMO.of("r"), MEMO.read),
    _ArchiveTable("pins r", PIN.of("r"), PIN.read, "r.owner_id, r.author_id"),
    _ArchiveTable("beliefs r", BELIEF.of("r"), BELIEF.read),
    _ArchiveTable("belief_changes r", CHANGE.of("r"), CHANGE.read),
    _ArchiveTable("decisions r", DECISION_COLUMNS, decision_of),
)
