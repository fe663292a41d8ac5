"""Events and committed jobs."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from sqlite3 import Connection

from .. import sentences
from ..domain.erasure import stays_out
from ..domain.event import Draft, Event, with_absolute_text
from ..domain.reading import ReadFilter
from ..domain.scope import Scope
from ..errors import UnknownEvent
from ..ports import Clock
from . import event_rows, facts
from .consent import ConsentBook, tombstones_of
from .database.database import Database, Table, reads, writes
from .database.rows import EVENT, LISTED, bound, bounded, digest, listed, micros, next_revision
from .search.filters import EVENTS


class EventLedger(Table):
    """Writes, reads, retires and restores events."""

    def __init__(self, database: Database, clock: Clock) -> None:
        """Keep events in a database; the clock dates the records of done jobs."""
        super().__init__(database)
        self._clock = clock

    @writes
    def commit(self, connection: Connection, draft: Draft) -> None:
        """Write a draft in one transaction and mark its job done; does nothing for a job already marked done.

        * *Equal events.* If an active event has the :func:`duplicate_key`, scope and sender of a new event, the new one
          is absorbed: the active event's count and last-seen time are raised, and the message ids of the new event are
          added to its own. If one of the two has no message ids, the active event has none afterwards.
        * *Known events.* A new event is ignored if an event of equal key, active or retired, has all its messages.
        * *Repeats.* An event that ``draft.repeats`` maps to an active event of its scope and sender is absorbed by that
          event, too. If only the new event is absolute, the stored one takes its text, kind, subjects and confidence,
          unless another active event has that text.
        * *Facts.* A fact is kept if its event was written as active. If its event was absorbed, the fact is kept only
          if the stored event took the new text, and then as a fact of the stored event.
        * *Corrections.* ``draft.corrects`` is retired if an event of the draft was written or absorbed; raises
          UnknownEvent if it is retired already. A correction may repeat a retired event; its fact about the group is
          kept only if the corrected event had one.
        * Quotes of withdrawn messages and of people who opted out or were erased are dropped. Events of opted-out
          senders are skipped; one all of whose messages are withdrawn is written as retired.
        * The ``draft.observations`` are recorded for :class:`FactBook`, also for absorbed events.
        """
        now = self._clock.now()
        if EventLedger.done(connection, draft.job_id):
            return
        if draft.corrects and not EventLedger.fetch(connection, [draft.corrects]):
            raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
        left_out, erased = ConsentBook.opted_out(connection), tombstones_of(connection)
        written: dict[str, tuple[int, str | None]] = {}
        for drafted in draft.events:
            event = event_rows.with_admitted_quotes(connection, drafted, left_out, erased) or drafted
            if left_out.isdisjoint((event.sender_id, *event.subjects)) and not stays_out(erased, event):
                entry = _store_or_count(connection, event, draft.repeats.get(event.id), corrects=bool(draft.corrects))
                if entry is None:
                    continue
                written[event.id] = entry
                if (observation := draft.observations.get(event.id, "")).strip():
                    heard = (*bound(event.scope.key, event.person, digest(observation)), entry[0])
                    connection.execute("INSERT OR REPLACE INTO heard VALUES (?, ?, ?, ?)", heard)
        for fact in draft.facts:
            seq, facts_of = written.get(fact.event_id, (0, None))
            person = fact.key.user_id
            is_out = person in left_out or erased.covers(None, (person,), fact.happened_at)
            if facts_of is not None and not is_out:
                facts.keep(connection, replace(fact, event_id=facts_of), seq, now, draft.corrects)
        seqs = [seq for seq, _ in written.values()]
        if any(event.replaces for event in draft.events):
            facts.settle(connection, seqs)
        if written and draft.corrects:
            event_rows.forget(connection, draft.corrects, now, "correction")
            event_rows.put_back(connection, seqs)
        connection.execute("INSERT INTO jobs_done VALUES (?, ?)", bound(draft.job_id, micros(now)))

    @reads
    def done(self, connection: Connection, job_id: str) -> bool:
        """Return whether the job's draft was committed within the ledger's retention time for done jobs."""
        return connection.execute("SELECT 1 FROM jobs_done WHERE job_id = ?", bound(job_id)).fetchone() is not None

    @reads
    def find(self, connection: Connection, event_id: str) -> Event | None:
        """Return an event, active or retired (forgotten, withdrawn, corrected); None if the id is unknown."""
        return EVENT.first(connection, "WHERE id = ?", bound(event_id))

    @reads
    def standing(self, connection: Connection, event: Event) -> Event | None:
        """Return the active event with the text, scope and sender of an event: itself, or one that absorbed it."""
        seq = event_rows.active_duplicate(connection, event)
        return None if seq is None else event_rows.event_at(connection, seq)

    @reads
    def fetch(self, connection: Connection, event_ids: Sequence[str]) -> list[Event]:
        """Return those of the events that are active, in the given order."""
        rest = f"WHERE id IN {LISTED} AND retired_at IS NULL"
        found = {event.id: event for event in EVENT.found(connection, rest, (listed(event_ids),))}
        return [found[event_id] for event_id in event_ids if event_id in found]

    @reads
    def recent(self, connection: Connection, read_filter: ReadFilter, limit: int, offset: int = 0) -> list[Event]:
        """Return events that the read filter admits, newest first by ``happened_at``."""
        clause, values = EVENTS.filter_of(read_filter)
        newest = (
            f"SELECT {EVENTS.columns} FROM events e WHERE {clause} ORDER BY e.at_us DESC, e.seq DESC LIMIT ? OFFSET ?"
        )
        rows = connection.execute(newest, (*values, bounded(limit), bounded(offset)))
        return list(EVENTS.admitted(read_filter, rows).values())

    @reads
    def made_of(
        self, connection: Connection, lines: Collection[tuple[Scope, str]], read_filter: ReadFilter
    ) -> list[Event]:
        """Return the active events that the read filter admits and that have one of these messages as a source."""
        clause, values = EVENTS.filter_of(read_filter)
        query = (  # CROSS keeps the order: the index of sources first
            f"SELECT {EVENTS.columns} FROM json_each(?) l"
            " CROSS JOIN event_sources s ON s.message_id = json_extract(l.value, '$[1]')"
            f" CROSS JOIN events e ON e.seq = s.seq AND e.scope = json_extract(l.value, '$[0]') WHERE {clause}"
        )
        given = listed((scope.key, message_id) for scope, message_id in lines)
        return list(EVENTS.admitted(read_filter, connection.execute(query, (given, *values))).values())

    @reads
    def replacing(self, connection: Connection, event_ids: Collection[str], read_filter: ReadFilter) -> list[Event]:
        """Return the active events that the read filter admits and whose ``replaces`` is one of the ids."""
        clause, values = EVENTS.filter_of(read_filter)
        query = (  # without the index every event of the place is read
            f"SELECT {EVENTS.columns} FROM events e INDEXED BY events_replacing"
            f" WHERE e.replaces <> '' AND e.replaces IN {LISTED} AND {clause}"
        )
        return list(EVENTS.admitted(read_filter, connection.execute(query, (listed(event_ids), *values))).values())

    @writes
    def restore(self, connection: Connection, event_id: str) -> Event | None:
        """Reactivate a retired event and return it, or return an active event that is equal to it.

        None if the id is unknown or all messages of the event are withdrawn.
        """
        found = EVENT.numbered(connection, "WHERE id = ?", bound(event_id))
        if not found or found[0][1].retired_at is None:
            return found[0][1] if found else None
        seq, event = found[0]
        has_source = connection.execute("SELECT 1 FROM event_sources WHERE seq = ?", (seq,)).fetchone() is not None
        if event.message_ids and not has_source:
            return None
        twin = event_rows.active_duplicate(connection, event)
        if twin is not None:
            connection.execute("DELETE FROM veils WHERE event_seq = ?", (seq,))  # its lines are shown again
            return event_rows.event_at(connection, twin)
        revision = next_revision(connection)
        connection.execute("UPDATE events SET retired_at = NULL, revision = ? WHERE seq = ?", (revision, seq))
        facts.settle(connection, (seq,))
        return replace(event, retired_at=None)


def _store_or_count(
    connection: Connection, event: Event, named: str | None, *, corrects: bool
) -> tuple[int, str | None] | None:
    """Write an event, or count it in an equal one; None if it was ignored or written as retired.

    Returns the seq of the active event that it became, and that event's id if it is new or took the new text: facts of
    the draft belong to it then.
    """
    if event_rows.is_known(connection, event):
        return None
    own = bound(event.scope.key, event.sender_id)
    of_id = "SELECT seq FROM events WHERE id = ? AND scope = ? AND sender_id = ? AND retired_at IS NULL"
    (twin,) = connection.execute(of_id, (*bound(named), *own)).fetchone() or (None,)
    if event.message_ids and not corrects:  # counted already, if an equal event has all its messages
        equal = (
            "SELECT message_ids, (SELECT json_group_array(message_id) FROM event_sources s WHERE s.seq = e.seq)"
            " FROM events e WHERE scope = ? AND sender_id = ? AND duplicate_key = ? OR seq = ?"
        )
        for stored_ids, left in connection.execute(equal, (*own, digest(event.text), twin)):
            if {*json.loads(stored_ids), *json.loads(left)}.issuperset(event.message_ids):
                return None
    sources, withdrawn_at = event_rows.sources_of(connection, event)
    retired_at = event.retired_at or withdrawn_at
    twin = None if retired_at else twin or event_rows.active_duplicate(connection, event)
    if twin is None:
        seq = event_rows.add(connection, replace(event, retired_at=retired_at), sources)
        return None if retired_at else (seq, event.id)
    event_rows.count_again(connection, twin, event, sources)
    stored = event_rows.event_at(connection, twin)
    better = with_absolute_text(stored, event)
    if better is stored or event_rows.active_duplicate(connection, event) not in (None, twin):
        return twin, None
    event_rows.put_anew(connection, twin, stored, better, next_revision(connection))
    return twin, stored.id
