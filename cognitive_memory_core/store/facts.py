"""Facts that wait for a merge into profiles, which of them are outdated, and the event of each recorded observation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from sqlite3 import Connection

from ..domain.event import Event, Fact
from ..domain.profile import ProfileKey
from ..domain.scope import Scope
from .database.database import Table, reads, writes
from .database.rows import (
    EVENT,
    KEY,
    LISTED,
    bound,
    bounded,
    digest,
    instant_of,
    key_values,
    listed,
    micros,
    moment_of,
)

_KEY = ", ".join(f"f.{name}" for name in KEY)
_OF_KEY = " AND ".join(f"f.{name} = ?" for name in KEY)
_SETTLED = """
UPDATE facts SET fallen = NOT fallen WHERE event_seq IN (
    SELECT value FROM json_each(?1)
    UNION SELECT o.seq FROM json_each(?1) JOIN events n ON n.seq = value JOIN events o ON o.id = n.replaces
    WHERE n.replaces <> ''
) AND fallen <> (
    SELECT o.retired_at IS NOT NULL OR EXISTS (
        SELECT 1 FROM events n WHERE n.replaces = o.id AND n.scope = o.scope AND n.at_us >= o.at_us
        AND n.replaces <> '' AND n.retired_at IS NULL AND n.seq <> o.seq AND (
            n.sender_id <> '' AND n.sender_id = o.sender_id AND n.sender_id = facts.user_id OR EXISTS (
                SELECT 1 FROM facts g WHERE g.event_seq = n.seq AND g.agent = facts.agent
                AND g.entity_type = facts.entity_type AND g.group_id = facts.group_id AND g.user_id = facts.user_id
            )
        )
    ) FROM events o WHERE o.seq = facts.event_seq
)"""  # the event is retired, or replaced by an active one of the person, or of the same profile
_WITH_EVENTS = "facts f INDEXED BY facts_waiting CROSS JOIN events e ON e.seq = f.event_seq"
_WAITS = (  # both false: to be merged; both true: to be removed; and nobody opted out of whom they are
    "f.merged = f.fallen AND f.user_id NOT IN (SELECT user_id FROM opt_outs)"
    " AND e.sender_id NOT IN (SELECT user_id FROM opt_outs) AND NOT EXISTS"
    " (SELECT 1 FROM event_subjects s JOIN opt_outs o ON o.user_id = s.subject WHERE s.seq = e.seq)"
)


@dataclass(frozen=True)
class PendingFacts:
    """How many facts wait for one profile and since when; ``attempts`` counts its failed merges, ``error`` is the last.

    ``withdrawn`` counts the withdrawn facts among them: while there are any, the profile is not shown. ``is_first``
    tells that there is no profile yet.
    """

    key: ProfileKey
    facts: int
    since: datetime
    attempts: int = 0
    failed_at: datetime | None = None
    error: str = ""
    withdrawn: int = 0
    is_first: bool = field(default=True, compare=False)


class FactBook(Table):
    """Facts that wait for a merge, and the event that each observation became."""

    @reads
    def waiting(self, connection: Connection) -> list[PendingFacts]:
        """Return the profiles with waiting facts, the longest waiting first.

        A fact is valid while its event is active and no active event of the profile's person, or that feeds the same
        profile, replaces that event. A valid fact waits until it is recorded as merged (:meth:`mark_merged`). A merged
        fact that is no longer valid waits as a withdrawn one, until its removal is recorded.
        """
        query = (
            f"SELECT {_KEY}, f.facts, f.since_us, coalesce(m.attempts, 0), m.failed_us, coalesce(m.error, ''), f.gone,"
            " p.seq IS NULL"
            f" FROM (SELECT {_KEY}, count(*) AS facts, sum(f.merged) AS gone, min(f.noted_us) AS since_us,"
            f" min(f.seq) AS first FROM {_WITH_EVENTS} WHERE {_WAITS} GROUP BY {_KEY}) f"
            " LEFT JOIN merge_failures m USING (agent, entity_type, group_id, user_id)"
            " LEFT JOIN profiles p USING (agent, entity_type, group_id, user_id) ORDER BY f.since_us, f.first"
        )
        found: list[PendingFacts] = []
        for *key, facts, since, attempts, at, error, gone, is_first in connection.execute(query):
            noted, failed = instant_of(since), at and instant_of(at)
            found.append(PendingFacts(ProfileKey(*key), facts, noted, attempts, failed, error, gone, bool(is_first)))
        return found

    @reads
    def facts(self, connection: Connection, key: ProfileKey, limit: int) -> list[Fact]:
        """Return the waiting facts of one profile: withdrawn ones first, then new ones, oldest first."""
        rest = f"{_WAITS} ORDER BY f.merged DESC, f.seq LIMIT ?"
        return _facts(connection, key, _WITH_EVENTS, rest, (bounded(limit),))

    @reads
    def told(self, connection: Connection, key: ProfileKey, event_ids: Collection[str]) -> list[Fact]:
        """Return the merged and valid facts of one profile that these events are, oldest first."""
        rest = f"f.merged = 1 AND f.fallen = 0 AND e.retired_at IS NULL AND e.id IN {LISTED} ORDER BY f.seq"
        source = "events e JOIN facts f ON f.event_seq = e.seq"
        return _facts(connection, key, source, rest, (listed(event_ids),))

    @writes
    def mark_merged(
        self, connection: Connection, key: ProfileKey, facts: Collection[Fact], untold: Collection[str] = ()
    ) -> None:
        """Record that facts were merged into their profile, or removed if withdrawn; reset its failure count.

        Each fact is recorded in the state in which :meth:`facts` returned it: if its event changed since, the fact
        waits again. So do a removed fact whose event is restored later, and the valid facts of the events ``untold``,
        because the lines that told them are gone.
        """
        of_key = key_values(key)
        connection.executemany(
            f"UPDATE facts AS f SET merged = ? WHERE {_OF_KEY} AND id = ?",
            [(not fact.is_withdrawn, *of_key, fact.id) for fact in facts],
        )
        connection.execute(
            f"UPDATE facts AS f SET merged = 0 WHERE {_OF_KEY} AND fallen = 0"
            f" AND event_seq IN (SELECT seq FROM events WHERE id IN {LISTED})",
            (*of_key, listed(untold)),
        )
        connection.execute(f"DELETE FROM merge_failures AS f WHERE {_OF_KEY}", of_key)

    @reads
    def keys_to_update(self, connection: Connection) -> frozenset[ProfileKey]:
        """Return the profiles that contain facts of retired events; they must not be shown until those are removed."""
        rows = connection.execute(  # CROSS reads the index of withdrawn facts first: few are withdrawn at a time
            f"SELECT DISTINCT {_KEY} FROM facts f INDEXED BY facts_withdrawn CROSS JOIN events e ON e.seq = f.event_seq"
            " AND f.merged = 1 AND f.fallen = 1 WHERE e.retired_at IS NOT NULL"
        )
        return frozenset(ProfileKey(*row) for row in rows)

    @writes
    def fail(self, connection: Connection, key: ProfileKey, error: str, at: datetime) -> None:
        """Record a failed merge; the facts keep waiting. Does nothing if the profile has no waiting facts."""
        waiting = f"SELECT 1 FROM facts f WHERE {_OF_KEY} AND (merged = 0 OR fallen = 1)"
        if connection.execute(waiting, key_values(key)).fetchone() is not None:
            connection.execute(
                "INSERT INTO merge_failures (agent, entity_type, group_id, user_id, attempts, failed_us, error)"
                " VALUES (?, ?, ?, ?, 1, ?, ?) ON CONFLICT DO UPDATE"
                " SET attempts = attempts + 1, failed_us = excluded.failed_us, error = excluded.error",
                (*key_values(key), micros(at), *bound(error)),
            )

    @reads
    def keys_with_facts_of(self, connection: Connection, scope: Scope) -> frozenset[ProfileKey]:
        """Return the profiles that have facts, waiting or merged, from a place."""
        query = f"SELECT DISTINCT {_KEY} FROM events e JOIN facts f ON f.event_seq = e.seq WHERE e.scope = ?"
        return frozenset(ProfileKey(*row) for row in connection.execute(query, bound(scope.key)))

    @reads
    def events_of_observations(
        self, connection: Connection, scope: Scope, sender_id: str, observations: Sequence[str]
    ) -> dict[str, Event]:
        """Map observations to the active event made from an equal observation of the sender in this scope.

        Observations without such an event are omitted. Observations are equal if their :func:`duplicate_key` is.
        """
        digests = {observation: digest(observation) for observation in observations}
        rows = connection.execute(
            f"SELECT h.digest, {EVENT.of('e')} FROM heard h CROSS JOIN events e ON e.seq = h.event_seq"
            f" WHERE h.scope = ? AND h.sender_id = ? AND h.digest IN {LISTED} AND e.retired_at IS NULL",
            (*bound(scope.key, sender_id), listed(digests.values())),
        )
        events = {row[0]: EVENT.read(row[1:]) for row in rows}
        return {observation: events[one] for observation, one in digests.items() if one in events}


def _facts(connection: Connection, key: ProfileKey, source: str, rest: str, values: tuple[object, ...]) -> list[Fact]:
    """Return facts of a profile, from ``facts f`` with their ``events e``; those that have fallen are withdrawn."""
    query = f"SELECT e.id, f.text, f.kind, f.happened_at, f.fallen FROM {source} WHERE {_OF_KEY} AND {rest}"
    rows = connection.execute(query, (*key_values(key), *values))
    return [Fact(key, event_id, text, kind, moment_of(at), bool(fallen)) for event_id, text, kind, at, fallen in rows]


def settle(connection: Connection, seqs: Iterable[int]) -> None:
    """Mark the facts of these events, and of the events that they replace, as outdated or as current."""
    connection.execute(_SETTLED, (listed(seqs),))


def keep(connection: Connection, fact: Fact, event_seq: int, now: datetime, corrected_id: str = "") -> None:
    """Store a fact of an event that was just written; a second fact of the same event and profile is ignored.

    A correction has a fact about the group only if the event that it corrects had one.
    """
    if corrected_id and fact.key.entity_type == "group":
        query = f"SELECT 1 FROM facts f WHERE {_OF_KEY} AND event_seq = (SELECT seq FROM events WHERE id = ?)"
        if connection.execute(query, (*key_values(fact.key), *bound(corrected_id))).fetchone() is None:
            return
    connection.execute(
        "INSERT INTO facts (id, agent, entity_type, group_id, user_id, event_seq, text, kind, happened_at, noted_us)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            fact.id,
            *key_values(fact.key),
            event_seq,
            *bound(fact.text, fact.kind, fact.happened_at.isoformat()),
            micros(now),
        ),
    )
