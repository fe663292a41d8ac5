"""Beliefs with their versions, vectors and changes, which messages evolution has read, and decisions on suggestions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from sqlite3 import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import sentences
from ..domain.belief import (
    Belief,
    BeliefEdit,
    BeliefPage,
    Change,
    Listing,
    SuggestionDecision,
    is_applicable,
    relinked,
    superseded,
    without_message,
)
from ..domain.erasure import Tombstones
from ..domain.event import duplicate_key
from ..domain.scope import Scope
from ..errors import BadArgument
from ..ports.models import Vector
from ..text.caches import cleared_on_erasure
from .consent import tombstones_of
from .database.rows import (
    BELIEF_COLUMNS,
    CHANGE_COLUMNS,
    DECISION_COLUMNS,
    Row,
    belief_of,
    belief_values,
    bound,
    change_of,
    change_values,
    digest,
    instant_of,
    micros,
    moment_of,
    vector_of,
)
from .database.statements import LISTED, bounded, delete, insert, listed, new_seq, select, update
from .database.table import Table, reads, writes
from .search.read_filter_sql import Filter
from .vectors import has_direction

_FIELDS = ", ".join(f"b.{name}" for name in BELIEF_COLUMNS)
_LOGGED = ", ".join(CHANGE_COLUMNS)
_OF_OTHER_MODELS = "(b.embedded_as < ?1 OR b.embedded_as > ?1)"  # equivalent to <>, in a form that uses an index


@dataclass(frozen=True)
class EmbeddedBelief:
    """A belief with its vector by the model of the requested fingerprint; ``vector`` is None until there is one."""

    belief: Belief
    vector: Vector | None = None


@dataclass(frozen=True)
class GroupActivity:
    """How many lines of people a group has after its last evolution; ``since`` is the time of the oldest of them.

    ``run`` is the number of the group's last run; runs of all groups share one sequence. It is 0 before the first.
    """

    scope: Scope
    messages: int
    since: datetime
    run: int = 0


class BeliefBook(Table):
    """Beliefs with their versions, and the log of changes."""

    @writes
    def commit(self, connection: Connection, edits: Sequence[BeliefEdit]) -> list[BeliefEdit]:
        """Write edits in one transaction; skip those that no longer apply (:func:`is_applicable`), return the others.

        An edit whose messages are all withdrawn is skipped, too. The changes of the returned edits are logged.
        """
        erased = tombstones_of(connection)
        return [edit for edit in edits if _is_written(connection, edit, erased)]

    @reads
    def find(self, connection: Connection, belief_id: str) -> Belief | None:
        """Return any version of a belief; None if there is none."""
        return _find(connection, belief_id)

    @reads
    def page(self, connection: Connection, scope: Scope, status: Listing, limit: int, offset: int = 0) -> BeliefPage:
        """Return the current versions of the beliefs of a place, strongest first."""
        where = "b.scope = ? AND b.is_current = 1" + ("" if status == "all" else " AND b.status = ?")
        values = (scope.key,) if status == "all" else (scope.key, status)
        total = connection.execute(select("count(*)", "beliefs b", where), values).fetchone()[0]
        query = select(_FIELDS, "beliefs b", where, "ORDER BY b.status, b.strength DESC, b.seq LIMIT ? OFFSET ?")
        rows = connection.execute(query, (*values, bounded(limit), bounded(offset)))
        return BeliefPage(tuple(map(belief_of, rows)), total)

    @reads
    def history(self, connection: Connection, chain_id: str) -> list[Belief]:
        """Return all versions of the belief with this ``chain_id``, oldest first."""
        return _chain(connection, chain_id)

    @reads
    def changes(self, connection: Connection, scope: Scope, since: datetime) -> list[Change]:
        """Return the change log of a place's beliefs from an instant on, oldest first."""
        query = select(_LOGGED, "belief_changes", "scope = ? AND at_us >= ?", "ORDER BY at_us, seq")
        return [change_of(row) for row in connection.execute(query, (scope.key, micros(since)))]

    @reads
    def waiting(self, connection: Connection, fingerprint: str, limit: int) -> list[Belief]:
        """Return active beliefs without a vector of this fingerprint (embedding model), oldest first."""
        query = select(_FIELDS, "beliefs b", f"{_OF_OTHER_MODELS} AND b.status = 'active'", "ORDER BY +b.seq LIMIT ?2")
        return [belief_of(row) for row in connection.execute(query, (*bound(fingerprint), bounded(limit)))]

    async def store(self, fingerprint: str, belief: Belief, vector: Vector) -> None:
        """Store a vector; do nothing if the belief was deleted or has another statement by now."""
        if not has_direction(vector):
            raise BadArgument(
                sentences.caller.bad_value("vector", belief.id, sentences.storage_errors.VECTOR_WITH_DIRECTION)
            )
        await self.database.write(_store, fingerprint, belief, vector)

    @reads
    def embedded(self, connection: Connection, scope: Scope, fingerprint: str) -> list[EmbeddedBelief]:
        """Return the active beliefs of a place, each with its vector of this fingerprint, if it has one."""
        source = "beliefs b LEFT JOIN belief_vectors v ON v.seq = b.seq AND b.embedded_as = ?"
        where = "b.scope = ? AND b.is_current = 1 AND b.status = 'active'"
        query = select(f"{_FIELDS}, v.vector", source, where, "ORDER BY b.seq")
        rows = connection.execute(query, bound(fingerprint, scope.key))
        return [EmbeddedBelief(belief_of(row[:-1]), None if row[-1] is None else vector_of(row[-1])) for row in rows]

    @reads
    def near(
        self, connection: Connection, scope: Scope, fingerprint: str, vector: Vector | None
    ) -> list[tuple[Belief, float | None]]:
        """Return the active beliefs of a place with their cosine to a unit vector.

        The cosine is None if ``vector`` is None or the belief has no vector of this fingerprint (embedding model).
        """
        source = "beliefs b LEFT JOIN belief_vectors v ON v.seq = b.seq AND b.embedded_as = ?"
        where = "b.scope = ? AND b.is_current = 1 AND b.status = 'active'"
        query = select(f"{_FIELDS}, v.vector", source, where, "ORDER BY b.seq")
        rows = connection.execute(query, bound(fingerprint, scope.key)).fetchall()
        length = 0 if vector is None else len(vector) * vector.itemsize
        whole = [row[-1] for row in rows if row[-1] is not None and len(row[-1]) == length]
        if vector is None or not whole:
            return [(_known(row[:-1]), None) for row in rows]
        matrix: NDArray[np.float32] = np.frombuffer(b"".join(whole), dtype=np.float32)
        matrix = np.reshape(matrix, (len(whole), len(vector)))
        cosines = iter((matrix @ np.frombuffer(vector, dtype=np.float32)).tolist())
        return [(_known(row[:-1]), next(cosines) if len(row[-1] or b"") == length else None) for row in rows]

    @writes
    def note(self, connection: Connection, scope: Scope, read: Sequence[str]) -> None:
        """Record that a run read the messages with these ids; all older lines of the place count as read, too."""
        query = select("coalesce(max(seq), 0)", "messages", f"scope = ? AND id IN {LISTED}")
        seq = connection.execute(query, (scope.key, listed(bound(*read)))).fetchone()[0]
        number = connection.execute("SELECT coalesce(max(run), 0) + 1 FROM evolutions").fetchone()[0]
        connection.execute(
            "INSERT INTO evolutions VALUES (?, ?, ?) ON CONFLICT (scope) DO UPDATE"
            " SET message_seq = max(message_seq, excluded.message_seq), run = excluded.run",
            (scope.key, seq, number),
        )

    @reads
    def unread(self, connection: Connection) -> list[GroupActivity]:
        """Return the groups with unread lines of people, ordered by their last run, the earliest first."""
        rows: Iterable[tuple[str, int, int, int]] = connection.execute(
            "SELECT m.scope, count(*), min(m.at_us), coalesce(v.run, 0) AS run"
            " FROM messages m LEFT JOIN evolutions v ON v.scope = m.scope"
            " WHERE m.request_type = 'group' AND m.is_bot = 0 AND m.seq > coalesce(v.message_seq, 0)"
            " GROUP BY m.scope ORDER BY run, m.scope"
        )
        return [GroupActivity(Scope.of_key(key), count, instant_of(since), run) for key, count, since, run in rows]


def found(connection: Connection, which: Filter) -> list[tuple[int, Belief]]:
    """Return beliefs of ``beliefs b``, each with its seq."""
    rows = connection.execute(select(f"b.seq, {_FIELDS}", "beliefs b", which[0], "ORDER BY b.seq"), which[1])
    return [(row[0], belief_of(row[1:])) for row in rows.fetchall()]


def withdraw(connection: Connection, scope: Scope, message_id: str, at: datetime) -> None:
    """Remove a withdrawn message from the sources of beliefs; a belief that loses its last source is retired."""
    resting = "b.scope = ? AND EXISTS (SELECT 1 FROM json_each(b.message_ids) WHERE value = ?)"
    for _, belief in found(connection, (resting, bound(scope.key, message_id))):
        senders = senders_of(connection, belief)
        edit = without_message(belief, message_id, sentences.stored_text.BELIEF_WITHDRAWN, at, senders)
        _put(connection, edit.belief)
        if edit.change:
            _log(connection, edit.change)


def senders_of(connection: Connection, belief: Belief) -> dict[str, str]:
    """Return the senders of those messages of a belief that are in the log, by message id."""
    query = select("id, sender_id", "messages", f"scope = ? AND id IN {LISTED}")
    return dict(connection.execute(query, (belief.scope.key, listed(bound(*belief.message_ids)))).fetchall())


def erase(connection: Connection, beliefs: Sequence[Belief]) -> None:
    """Erase versions of beliefs with their changes; the remaining versions of a chain are linked to each other."""
    ids = listed(bound(*(belief.id for belief in beliefs)))
    connection.execute(delete("beliefs", f"id IN {LISTED}"), (ids,))
    connection.execute(delete("belief_changes", f"belief_id IN {LISTED}"), (ids,))
    connection.execute(f"UPDATE belief_changes SET old_id = NULL, old_statement = '' WHERE old_id IN {LISTED}", (ids,))  # noqa: S608  # a constant
    for chain_id in dict.fromkeys(belief.chain_id for belief in beliefs):
        _relink(connection, chain_id)


def reword(connection: Connection, belief: Belief) -> None:
    """Rewrite a version in place; delete its vector if its statement changed."""
    _put(connection, belief)


def reword_changes(connection: Connection, which: Filter, hide: Callable[[Change], Change]) -> None:
    """Apply ``hide`` to the entries of the change log that match a condition."""
    rows = connection.execute(select(_LOGGED, "belief_changes e", which[0]), which[1]).fetchall()
    for old in map(change_of, rows):
        new = hide(old)
        if new != old:
            connection.execute(
                update("belief_changes", CHANGE_COLUMNS, "id = ?"), (*change_values(new), *bound(old.id))
            )


def import_rows(connection: Connection, row: Belief | Change, erased: Tombstones) -> bool:
    """Import a version or an entry of the change log; returns whether it was written."""
    return _import_version(connection, row, erased) if isinstance(row, Belief) else _log(connection, row)


def _import_version(connection: Connection, belief: Belief, erased: Tombstones) -> bool:
    """Write a version unless it is known, only erased people said it, or another active belief says the same."""
    left = tuple(one for one in belief.supporters if not erased.covers_person(one, belief.updated_at))
    known = "id = ? OR (chain_id = ? AND version = ?)"
    query = select("1", "beliefs", known)
    if (belief.supporters and not left) or connection.execute(
        query, bound(belief.id, belief.chain_id, belief.version)
    ).fetchone():
        return False
    chain = _chain(connection, belief.chain_id)
    if any(one.scope != belief.scope for one in chain) or _repeats_another(connection, belief):
        return False
    _insert(connection, replace(belief, supporters=left, is_current=False))
    _relink(connection, belief.chain_id, {belief.id: belief})
    return True


def _is_written(connection: Connection, edit: BeliefEdit, erased: Tombstones) -> bool:
    after = edit.belief
    stored = _find(connection, (edit.before or after).id)
    keys = _active_keys(connection, after.scope, without=edit.before)
    if erased.covers_place(after.scope, after.updated_at) or not is_applicable(edit, stored, keys):
        return False
    left = replace(after, message_ids=_not_withdrawn(connection, after))
    is_new = stored is None or after.id != stored.id
    if is_new and after.message_ids and not left.message_ids:
        return False
    if stored is not None and is_new:
        _put(connection, superseded(stored))
    (_insert if is_new else _put)(connection, left)
    if edit.change:
        _log(connection, edit.change)
    return True


def _active_keys(connection: Connection, scope: Scope, *, without: Belief | None) -> set[str]:
    query = select("statement, id", "beliefs", "scope = ? AND is_current = 1 AND status = 'active'")
    rows = connection.execute(query, (scope.key,)).fetchall()
    return {_key_of(row[0]) for row in rows if without is None or row[1] != without.id}


def _key_of(statement: str) -> str:
    return duplicate_key(statement)


def _not_withdrawn(connection: Connection, belief: Belief) -> tuple[str, ...]:
    query = select("message_id", "withdrawals", f"scope = ? AND message_id IN {LISTED}")
    gone = {row[0] for row in connection.execute(query, (belief.scope.key, listed(bound(*belief.message_ids))))}
    return tuple(one for one in belief.message_ids if one not in gone)


def _repeats_another(connection: Connection, belief: Belief) -> bool:
    """Return whether a belief is active and has the statement of another active belief of its place.

    Other versions of the same belief (equal ``chain_id``) do not count.
    """
    where = "scope = ? AND duplicate_key = ? AND status = 'active' AND chain_id <> ?"
    values = (belief.scope.key, digest(belief.statement), *bound(belief.chain_id))
    return belief.status == "active" and bool(connection.execute(select("1", "beliefs", where), values).fetchone())


def _insert(connection: Connection, belief: Belief) -> None:
    connection.execute(insert("beliefs", BELIEF_COLUMNS), belief_values(belief))


def _put(connection: Connection, belief: Belief) -> None:
    """Rewrite a stored version; its vector is deleted if the statement changed or the version is not active."""
    query = select("seq, duplicate_key", "beliefs", "id = ?")
    seq, key = connection.execute(query, bound(belief.id)).fetchone()
    connection.execute(update("beliefs", BELIEF_COLUMNS, "seq = ?"), (*belief_values(belief), seq))
    if key != digest(belief.statement) or belief.status != "active":
        connection.execute("DELETE FROM belief_vectors WHERE seq = ?", (seq,))
        connection.execute("UPDATE beliefs SET embedded_as = '' WHERE seq = ?", (seq,))


def _relink(connection: Connection, chain_id: str, statuses: dict[str, Belief] | None = None) -> None:
    chain = _chain(connection, chain_id)
    connection.execute("UPDATE beliefs SET is_current = 0 WHERE chain_id = ?", bound(chain_id))
    for belief in relinked([(statuses or {}).get(one.id, one) for one in chain]):
        supporters = next(one.supporters for one in chain if one.id == belief.id)
        _put(connection, replace(belief, supporters=supporters))


def _log(connection: Connection, change: Change) -> bool:
    """Write an entry of the change log unless it is known; returns whether it was written."""
    query = insert("belief_changes", CHANGE_COLUMNS, "ON CONFLICT DO NOTHING")
    return connection.execute(query, change_values(change)).rowcount > 0


def _find(connection: Connection, belief_id: str) -> Belief | None:
    row = connection.execute(select(_FIELDS, "beliefs b", "b.id = ?"), bound(belief_id)).fetchone()
    return None if row is None else belief_of(row)


def _chain(connection: Connection, chain_id: str) -> list[Belief]:
    query = select(_FIELDS, "beliefs b", "b.chain_id = ?", "ORDER BY b.version")
    return [belief_of(row) for row in connection.execute(query, bound(chain_id))]


def _store(connection: Connection, fingerprint: str, belief: Belief, vector: Vector) -> None:
    where = "id = ? AND duplicate_key = ? AND status = 'active'"
    row = connection.execute(select("seq", "beliefs", where), (*bound(belief.id), digest(belief.statement))).fetchone()
    if row is not None:
        connection.execute("INSERT OR REPLACE INTO belief_vectors VALUES (?, ?)", (*row, vector.tobytes()))
        connection.execute("UPDATE beliefs SET embedded_as = ? WHERE seq = ?", (*bound(fingerprint), *row))


@cleared_on_erasure
@lru_cache(maxsize=4_096)  # the beliefs of a group are compared with every question
def _known(row: tuple[Any, ...]) -> Belief:
    return belief_of(row)


_IN_ORDER = select(
    "e.id AS id", "decision_events d JOIN events e ON e.seq = d.event_seq", "d.decision_seq = r.seq", "ORDER BY e.seq"
)
EVIDENCE = f"({select('json_group_array(id)', f'({_IN_ORDER})', 'TRUE')})"
_DECIDED = ", ".join((*(f"r.{name}" for name in DECISION_COLUMNS), EVIDENCE))


class DecisionBook(Table):
    """What admins decided on suggestions. A decision is deleted with the last event that it rests on."""

    @writes
    def decide(self, connection: Connection, decision: SuggestionDecision) -> None:
        """Store a decision; does nothing if its id is known or none of its events is stored."""
        add_decision(connection, decision)

    @reads
    def decisions(self, connection: Connection, scope: Scope) -> list[SuggestionDecision]:
        """Return the decisions of a place, oldest first, each with those of its events that are still stored."""
        query = select(_DECIDED, "decisions r", "r.scope = ?", "ORDER BY r.seq")
        return [decision_of(row) for row in connection.execute(query, (scope.key,))]


def add_decision(connection: Connection, decision: SuggestionDecision, erased: Tombstones | None = None) -> bool:
    """Write a decision unless it is stored already or the ledger has none of its events; return whether it was written.

    The person who decided is omitted if they were erased after the decision.
    """
    if erased is not None and erased.covers_person(decision.decided_by, decision.decided_at):
        decision = replace(decision, decided_by="")
    query = select("seq", "events", f"scope = ? AND id IN {LISTED}")
    events = connection.execute(query, (decision.scope.key, listed(bound(*decision.event_ids)))).fetchall()
    known = connection.execute(select("1", "decisions", "id = ?"), bound(decision.id)).fetchone()
    if known or not events:
        return False
    seq = new_seq(connection.execute(insert("decisions", DECISION_COLUMNS), _decision_values(decision)))
    rows = [(seq, event[0]) for event in events]
    connection.executemany(insert("decision_events", ("decision_seq", "event_seq")), rows)
    return True


def decision_of(row: Row) -> SuggestionDecision:
    """Convert a row to a suggestion's decision."""
    decision_id, scope, kind, is_accepted, decided_at, decided_by, evidence = row
    return SuggestionDecision(
        decision_id,
        Scope.of_key(scope),
        kind,
        bool(is_accepted),
        moment_of(decided_at),
        decided_by,
        tuple(json.loads(evidence)),
    )


def _decision_values(decision: SuggestionDecision) -> Row:
    return (
        *bound(decision.id, decision.scope.key, decision.kind),
        int(decision.is_accepted),
        decision.decided_at.isoformat(),
        *bound(decision.decided_by),
    )
