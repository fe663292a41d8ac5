"""Facts that wait for a merge into profiles, which of them are outdated, and the event of each recorded observation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from sqlite3 import Connection

from ..domain.erasure import Tombstones
from ..domain.event import Draft, Event, Fact
from ..domain.profile import ProfileKey
from ..domain.scope import Scope
from .consent import opted_out
from .database.rows import EVENT_FIELDS, Row, bound, digest, event_of, instant_of, micros, moment_of
from .database.statements import LISTED, bounded, delete, insert, listed, select, update
from .database.table import Table, reads, writes
from .profiles import KEY_COLUMNS, OF_KEY, key_values

_SAME_PROFILE = " AND ".join(f"g.{name} = facts.{name}" for name in KEY_COLUMNS)
_NEWER = "n.replaces = o.id AND n.scope = o.scope AND n.at_us >= o.at_us"
_FEEDS = f"EXISTS ({select('1', 'facts g', f'g.event_seq = n.seq AND {_SAME_PROFILE}')})"
_OWN = "(n.sender_id <> '' AND n.sender_id = o.sender_id AND n.sender_id = facts.user_id)"
_SUCCESSOR = select(  # an active event that is the word of the profile's person, or feeds the same profile
    "1",
    "events n",
    f"{_NEWER} AND n.replaces <> '' AND n.retired_at IS NULL AND n.seq <> o.seq AND ({_OWN} OR {_FEEDS})",
)
_FALLEN = f"({select(f'o.retired_at IS NOT NULL OR EXISTS ({_SUCCESSOR})', 'events o', 'o.seq = facts.event_seq')})"
_REPLACED = select("o.seq", "events n JOIN events o ON o.id = n.replaces", f"n.seq IN {LISTED} AND n.replaces <> ''")
_OUTDATED = f"event_seq IN ({select('seq', 'events', f'seq IN {LISTED}')} UNION {_REPLACED}) AND fallen <> {_FALLEN}"
_UPDATE = f"UPDATE facts SET fallen = {_FALLEN} WHERE {_OUTDATED}"  # noqa: S608  # nobody's text is in it


def settle(connection: Connection, seqs: Iterable[int]) -> None:
    """Mark the facts of these events, and of the events that they replace, as outdated or as current."""
    events = listed(seqs)
    connection.execute(_UPDATE, (events, events))


def settle_draft(connection: Connection, draft: Draft, seqs: Iterable[int]) -> None:
    """Do what :func:`settle` does for the events of a draft, written at ``seqs``, if any of them replaces an event."""
    if any(event.replaces for event in draft.events):
        settle(connection, seqs)


_COLUMNS = ("id", *KEY_COLUMNS, "event_seq", "text", "kind", "happened_at", "noted_us")
_KEY = ", ".join(f"f.{name}" for name in KEY_COLUMNS)
_WITH_EVENTS = "facts f INDEXED BY facts_waiting CROSS JOIN events e ON e.seq = f.event_seq"
_STANDING = "e.retired_at IS NULL"
_WAITS = "f.merged = f.fallen"  # both false: to be merged; both true: to be removed
_WITHDRAWN_FACTS = (  # CROSS makes the index of withdrawn facts the outer loop: few are withdrawn at a time
    "facts f INDEXED BY facts_withdrawn CROSS JOIN events e ON e.seq = f.event_seq AND f.merged = 1 AND f.fallen = 1"
)
_MAY_WAIT = "(merged = 0 OR fallen = 1)"
_OF_NOBODY_OUT = (
    "f.user_id NOT IN (SELECT user_id FROM opt_outs) AND e.sender_id NOT IN (SELECT user_id FROM opt_outs) AND NOT"
    " EXISTS (SELECT 1 FROM event_subjects s JOIN opt_outs o ON o.user_id = s.subject WHERE s.seq = e.seq)"
)
_FAILED_AGAIN = (
    "ON CONFLICT DO UPDATE SET attempts = attempts + 1, failed_us = excluded.failed_us, error = excluded.error"
)


@dataclass(frozen=True)
class PendingFacts:
    """How many facts wait for one profile and since when; ``attempts`` counts its failed merges, ``error`` is the last.

    ``withdrawn`` counts the withdrawn facts among them: while there are any, the profile is not shown.
    """

    key: ProfileKey
    facts: int
    since: datetime
    attempts: int = 0
    failed_at: datetime | None = None
    error: str = ""
    withdrawn: int = 0


class FactBook(Table):
    """Facts that wait for a merge, and the event that each observation became."""

    @reads
    def waiting(self, connection: Connection) -> list[PendingFacts]:
        """Return the profiles with waiting facts, the longest waiting first.

        A fact is valid while its event is active and no active event of the profile's person, or that feeds the same
        profile, replaces that event. A valid fact waits until it is recorded as merged (:meth:`mark_merged`). A merged
        fact that is no longer valid waits as a withdrawn one, until its removal is recorded.
        """
        counted = f"{_KEY}, count(*) AS facts, sum(f.merged) AS gone, min(f.noted_us) AS since_us, min(f.seq) AS first"
        given = select(counted, _WITH_EVENTS, _waiting_condition(connection), f"GROUP BY {_KEY}")
        failures = f"({given}) f LEFT JOIN merge_failures m USING ({', '.join(KEY_COLUMNS)})"
        columns = f"{_KEY}, f.facts, f.gone, f.since_us, m.attempts, m.failed_us, m.error"
        rows = connection.execute(select(columns, failures, "TRUE", "ORDER BY f.since_us, f.first"))
        return [_waiting_of(row) for row in rows]

    @reads
    def facts(self, connection: Connection, key: ProfileKey, limit: int) -> list[Fact]:
        """Return the waiting facts of one profile: withdrawn ones first, then new ones, oldest first."""
        columns = "e.id, f.text, f.kind, f.happened_at, f.merged"
        of_key = " AND ".join(f"f.{name} = ?" for name in KEY_COLUMNS)
        query = select(
            columns,
            _WITH_EVENTS,
            f"{of_key} AND {_waiting_condition(connection)}",
            "ORDER BY f.merged DESC, f.seq LIMIT ?",
        )
        rows = connection.execute(query, (*key_values(key), bounded(limit)))
        return [
            Fact(key, event_id, text, kind, moment_of(at), bool(merged)) for event_id, text, kind, at, merged in rows
        ]

    @reads
    def told(self, connection: Connection, key: ProfileKey, event_ids: Collection[str]) -> list[Fact]:
        """Return the merged and valid facts of one profile that these events are, oldest first."""
        of_key = " AND ".join(f"f.{name} = ?" for name in KEY_COLUMNS)
        clause = f"e.id IN {LISTED} AND {_STANDING} AND {of_key} AND f.merged = 1 AND f.fallen = 0"
        source = "events e JOIN facts f ON f.event_seq = e.seq"
        query = select("e.id, f.text, f.kind, f.happened_at", source, clause, "ORDER BY f.seq")
        rows = connection.execute(query, (listed(event_ids), *key_values(key)))
        return [Fact(key, event_id, text, kind, moment_of(at)) for event_id, text, kind, at in rows]

    @writes
    def mark_merged(
        self, connection: Connection, key: ProfileKey, facts: Collection[Fact], again: Collection[str] = ()
    ) -> None:
        """Record that facts were merged into their profile, or removed if withdrawn; reset its failure count.

        Each fact is recorded in the state in which :meth:`facts` returned it: if its event changed since, the fact
        waits again. A removed fact whose event is restored later waits again, too, as do the valid facts of the events
        ``again``, because the lines that told them are gone.
        """
        settled = update("facts", ("merged",), f"{OF_KEY} AND id = ?")
        of_key = key_values(key)
        connection.executemany(settled, [(not fact.is_withdrawn, *of_key, fact.id) for fact in facts])
        if again:
            of_events = f"event_seq IN ({select('seq', 'events', f'id IN {LISTED}')})"
            told = update("facts", ("merged",), f"{OF_KEY} AND fallen = 0 AND {of_events}")
            connection.execute(told, (False, *of_key, listed(again)))
        connection.execute(delete("merge_failures", OF_KEY), of_key)

    @reads
    def keys_to_update(self, connection: Connection) -> frozenset[ProfileKey]:
        """Return the profiles that contain facts of retired events; they must not be shown until those are removed."""
        rows = connection.execute(select(f"DISTINCT {_KEY}", _WITHDRAWN_FACTS, "e.retired_at IS NOT NULL"))
        return frozenset(ProfileKey(*row) for row in rows)

    @writes
    def fail(self, connection: Connection, key: ProfileKey, error: str, at: datetime) -> None:
        """Record a failed merge; the facts keep waiting. Does nothing if the profile has no waiting facts."""
        query = select("1", "facts", f"{OF_KEY} AND {_MAY_WAIT}", "LIMIT 1")
        if connection.execute(query, key_values(key)).fetchone() is None:
            return
        query = insert("merge_failures", (*KEY_COLUMNS, "attempts", "failed_us", "error"), _FAILED_AGAIN)
        connection.execute(query, (*key_values(key), 1, micros(at), *bound(error)))

    @reads
    def keys_with_facts_of(self, connection: Connection, scope: Scope) -> frozenset[ProfileKey]:
        """Return the profiles that have facts, waiting or merged, from a place."""
        return keys_with_facts_of(connection, scope)

    @reads
    def events_of_observations(
        self, connection: Connection, scope: Scope, sender_id: str, observations: Sequence[str]
    ) -> dict[str, Event]:
        """Map observations to the active event made from an equal observation of the sender in this scope.

        Observations without such an event are omitted. Observations are equal if their :func:`duplicate_key` is.
        """
        digests = {observation: digest(observation) for observation in observations}
        query = select(
            ", ".join(("h.digest", *(f"e.{name}" for name in EVENT_FIELDS))),
            "heard h CROSS JOIN events e ON e.seq = h.event_seq",
            f"h.scope = ? AND h.sender_id = ? AND h.digest IN {LISTED} AND {_STANDING}",
        )
        rows = connection.execute(query, (*bound(scope.key, sender_id), listed(digests.values())))
        events = {row[0]: event_of(row[1:]) for row in rows}
        return {observation: events[one] for observation, one in digests.items() if one in events}


def keys_with_facts_of(connection: Connection, scope: Scope) -> frozenset[ProfileKey]:
    """Return the profiles with facts learned in a place."""
    source = "events e JOIN facts f ON f.event_seq = e.seq"
    rows = connection.execute(select(f"DISTINCT {_KEY}", source, "e.scope = ?"), bound(scope.key))
    return frozenset(ProfileKey(*row) for row in rows)


def mark_unmerged(connection: Connection, keys: Iterable[ProfileKey]) -> None:
    """Mark all facts of deleted profiles as not merged yet, so that they are merged into a new profile."""
    connection.executemany(update("facts", ("merged",), OF_KEY), [(False, *key_values(key)) for key in keys])


def keep(connection: Connection, fact: Fact, event_seq: int, now: datetime) -> None:
    """Store a fact of an event that was just written; a second fact of the same event and profile is ignored."""
    values = (*bound(fact.text, fact.kind), fact.happened_at.isoformat(), micros(now))
    query = insert("facts", _COLUMNS, "ON CONFLICT DO NOTHING")
    connection.execute(query, (fact.id, *key_values(fact.key), event_seq, *values))


def is_kept(fact: Fact, left_out: Collection[str], erased: Tombstones) -> bool:
    """Return whether the person of a fact's profile neither opted out nor was erased after the fact."""
    person = fact.key.user_id
    return person not in left_out and not erased.covers_person(person, fact.happened_at)


def may_replace(connection: Connection, corrected_id: str, fact: Fact) -> bool:
    """Return whether a correction may write ``fact``; False for a group's fact if the corrected event had none."""
    if fact.key.entity_type != "group":
        return True
    of_event = "event_seq = (SELECT seq FROM events WHERE id = ?)"
    query = select("1", "facts", f"{OF_KEY} AND {of_event}")
    return connection.execute(query, (*key_values(fact.key), *bound(corrected_id))).fetchone() is not None


def record_observation(connection: Connection, event: Event, event_seq: int, observation: str) -> None:
    """Record which active event an observation became, replacing an earlier record."""
    if observation.strip():
        connection.execute(
            "INSERT OR REPLACE INTO heard VALUES (?, ?, ?, ?)",
            (*bound(event.scope.key, event.person, digest(observation)), event_seq),
        )


def _waiting_condition(connection: Connection) -> str:
    """Return the SQL condition for facts that wait to be merged; it mentions opt-outs only if there are any."""
    return f"{_WAITS} AND {_OF_NOBODY_OUT}" if opted_out(connection) else _WAITS


def _waiting_of(row: Row) -> PendingFacts:
    *key, facts, gone, since_us, attempts, failed_us, error = row
    since = instant_of(since_us)
    if attempts is None:
        return PendingFacts(ProfileKey(*key), facts, since, withdrawn=gone)
    return PendingFacts(ProfileKey(*key), facts, since, attempts, instant_of(failed_us), error, gone)
