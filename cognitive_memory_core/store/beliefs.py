"""Beliefs with their versions, vectors and changes, which messages evolution has read, and decisions on suggestions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from sqlite3 import Connection

from .. import sentences
from ..domain.belief import (
    Belief,
    BeliefEdit,
    BeliefPage,
    Change,
    Listing,
    SuggestionDecision,
    is_applicable,
    without_message,
)
from ..domain.erasure import Tombstones
from ..domain.event import duplicate_key
from ..domain.scope import Scope
from ..ports import Vector
from .consent import tombstones_of
from .database.database import Table, reads, writes
from .database.rows import (
    BELIEF,
    CHANGE,
    DECISION,
    LISTED,
    bound,
    bounded,
    digest,
    instant_of,
    listed,
    micros,
)
from .event_rows import sources_of
from .numpy_on_use import Vectors, np
from .vectors import drop


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
    """Beliefs with their versions, the log of changes, and what admins decided on suggestions.

    A decision is deleted with the last event that it rests on.
    """

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
        return BELIEF.first(connection, "WHERE id = ?", bound(belief_id))

    @reads
    def versions(self, connection: Connection, belief_ids: Iterable[str]) -> list[Belief]:
        """Return the versions with these ids that are stored."""
        return BELIEF.found(connection, f"WHERE id IN {LISTED}", (listed(belief_ids),))

    @reads
    def page(self, connection: Connection, scope: Scope, status: Listing, limit: int, offset: int = 0) -> BeliefPage:
        """Return the current versions of the beliefs of a place, strongest first."""
        where, values = "WHERE scope = ? AND is_current = 1", (scope.key,)
        if status != "all":
            where, values = f"{where} AND status = ?", (scope.key, status)
        total = connection.execute(f"SELECT count(*) FROM beliefs {where}", values).fetchone()[0]
        rest = f"{where} ORDER BY status, strength DESC, seq LIMIT ? OFFSET ?"
        return BeliefPage(tuple(BELIEF.found(connection, rest, (*values, bounded(limit), bounded(offset)))), total)

    @reads
    def history(self, connection: Connection, chain_id: str) -> list[Belief]:
        """Return all versions of the belief with this ``chain_id``, oldest first."""
        return BELIEF.found(connection, "WHERE chain_id = ? ORDER BY version", bound(chain_id))

    @reads
    def changes(self, connection: Connection, scope: Scope, since: datetime) -> list[Change]:
        """Return the change log of a place's beliefs from an instant on, oldest first."""
        rest = "WHERE scope = ? AND at_us >= ? ORDER BY at_us, seq"
        return CHANGE.found(connection, rest, (scope.key, micros(since)))

    @reads
    def near(
        self, connection: Connection, scope: Scope, fingerprint: str, vector: Vector | None
    ) -> list[tuple[Belief, float | None]]:
        """Return the active beliefs of a place with their cosine to a unit vector.

        The cosine is None if ``vector`` is None or the belief has no vector of this fingerprint (embedding model).
        """
        rest = (
            "LEFT JOIN belief_vectors v ON v.seq = e.seq AND e.embedded_as = ?"
            " WHERE e.scope = ? AND e.is_current = 1 AND e.status = 'active' ORDER BY e.seq"
        )
        asked: Vectors | None = None if vector is None else np.frombuffer(vector, np.float32)

        def cosine(stored: bytes | None) -> float | None:
            if asked is None or stored is None or len(stored) != asked.nbytes:
                return None
            return float(np.frombuffer(stored, np.float32) @ asked)

        rows = BELIEF.beside(connection, "v.vector", rest, bound(fingerprint, scope.key))
        return [(belief, cosine(vector)) for vector, belief in rows]

    @writes
    def note(self, connection: Connection, scope: Scope, read: Sequence[str]) -> None:
        """Record that a run read the messages with these ids; all older lines of the place count as read, too."""
        connection.execute(
            """INSERT INTO evolutions VALUES (
                ?1, (SELECT coalesce(max(seq), 0) FROM messages WHERE scope = ?1 AND id IN (
                    SELECT value FROM json_each(?2)
                )), (SELECT coalesce(max(run), 0) + 1 FROM evolutions)
            ) ON CONFLICT (scope) DO UPDATE
            SET message_seq = max(message_seq, excluded.message_seq), run = excluded.run""",
            (scope.key, listed(bound(*read))),
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

    @writes
    def decide(self, connection: Connection, decision: SuggestionDecision) -> bool:
        """Store a decision unless its id is known or none of its events is stored; return whether it was stored."""
        query = f"SELECT seq FROM events WHERE scope = ? AND id IN {LISTED}"
        events = connection.execute(query, (decision.scope.key, listed(bound(*decision.event_ids)))).fetchall()
        if not events or not DECISION.added(connection, decision):
            return False
        rests_on = "INSERT INTO decision_events SELECT seq, ? FROM decisions WHERE id = ?"
        connection.executemany(rests_on, [(*event, *bound(decision.id)) for event in events])
        return True

    @reads
    def decisions(self, connection: Connection, scope: Scope) -> list[SuggestionDecision]:
        """Return the decisions of a place, oldest first, each with those of its events that are still stored."""
        found = DECISION.numbered(connection, "WHERE scope = ? ORDER BY seq", (scope.key,))
        return [decision for _, decision in with_events(connection, found)]


def with_events(
    connection: Connection, decisions: Iterable[tuple[int, SuggestionDecision]]
) -> list[tuple[int, SuggestionDecision]]:
    """Return decisions, each after the seq of its row, with those of their events that are still stored."""
    query = (
        "SELECT e.id FROM decision_events v JOIN events e ON e.seq = v.event_seq WHERE v.decision_seq = ?"
        " ORDER BY e.seq"
    )
    ids = ((seq, one, connection.execute(query, (seq,))) for seq, one in decisions)
    return [(seq, replace(one, event_ids=tuple(event_id for (event_id,) in rows))) for seq, one, rows in ids]


def withdraw(connection: Connection, scope: Scope, message_id: str, at: datetime) -> None:
    """Remove a withdrawn message from the sources of beliefs; a belief that loses its last source is retired."""
    resting = "WHERE scope = ? AND EXISTS (SELECT 1 FROM json_each(message_ids) WHERE value = ?) ORDER BY seq"
    for belief in BELIEF.found(connection, resting, bound(scope.key, message_id)):
        senders = senders_of(connection, belief)
        edit = without_message(belief, message_id, sentences.context.BELIEF_WITHDRAWN, at, senders)
        reword(connection, edit.belief)
        if edit.change:
            CHANGE.added(connection, edit.change)


def senders_of(connection: Connection, belief: Belief) -> dict[str, str]:
    """Return the senders of those messages of a belief that are in the log, by message id."""
    query = f"SELECT id, sender_id FROM messages WHERE scope = ? AND id IN {LISTED}"
    return dict(connection.execute(query, (belief.scope.key, listed(bound(*belief.message_ids)))).fetchall())


def erase(connection: Connection, beliefs: Sequence[Belief]) -> None:
    """Erase versions of beliefs with their changes; the remaining versions of a chain are linked to each other."""
    ids = (listed(bound(*(belief.id for belief in beliefs))),)
    connection.execute(f"DELETE FROM beliefs WHERE id IN {LISTED}", ids)
    connection.execute(f"DELETE FROM belief_changes WHERE belief_id IN {LISTED}", ids)
    connection.execute(f"UPDATE belief_changes SET old_id = NULL, old_statement = '' WHERE old_id IN {LISTED}", ids)
    for chain_id in dict.fromkeys(belief.chain_id for belief in beliefs):
        _relink(connection, chain_id)


def reword(connection: Connection, belief: Belief) -> None:
    """Rewrite a stored version; its vector is deleted if the statement changed or the version is not active."""
    query = "SELECT seq, duplicate_key FROM beliefs WHERE id = ?"
    seq, key = connection.execute(query, bound(belief.id)).fetchone()
    connection.execute(f"{BELIEF.update} WHERE seq = ?", (*BELIEF.values(belief), seq))
    if key != digest(belief.statement) or belief.status != "active":
        drop(connection, "beliefs", "belief_vectors", seq)


def import_version(connection: Connection, belief: Belief, erased: Tombstones) -> bool:
    """Write a version unless it is known, only erased people said it, or another active belief says the same.

    Return whether it was written. Other versions of the same belief (equal ``chain_id``) may say the same.
    """
    left = tuple(one for one in belief.supporters if not erased.covers(None, (one,), belief.updated_at))
    known = "SELECT 1 FROM beliefs WHERE id = ? OR (chain_id = ? AND version = ?)"
    alike = "SELECT 1 FROM beliefs WHERE scope = ? AND duplicate_key = ? AND status = 'active' AND chain_id <> ?"
    if (belief.supporters and not left) or connection.execute(
        known, bound(belief.id, belief.chain_id, belief.version)
    ).fetchone():
        return False
    says = bound(belief.scope.key, digest(belief.statement), belief.chain_id)
    is_repeated = belief.status == "active" and connection.execute(alike, says).fetchone() is not None
    if is_repeated or any(one.scope != belief.scope for one in BeliefBook.history(connection, belief.chain_id)):
        return False
    connection.execute(BELIEF.insert, BELIEF.values(replace(belief, supporters=left, is_current=False)))
    _relink(connection, belief.chain_id, belief)
    return True


def _is_written(connection: Connection, edit: BeliefEdit, erased: Tombstones) -> bool:
    after = edit.belief
    stored = BeliefBook.find(connection, (edit.before or after).id)
    active = "SELECT statement, id FROM beliefs WHERE scope = ? AND is_current = 1 AND status = 'active'"
    keys = {
        duplicate_key(statement)
        for statement, belief_id in connection.execute(active, (after.scope.key,)).fetchall()
        if edit.before is None or belief_id != edit.before.id
    }
    if erased.covers(after.scope, (), after.updated_at) or not is_applicable(edit, stored, keys):
        return False
    standing, _ = sources_of(connection, after)
    left = replace(after, message_ids=tuple(one for one in after.message_ids if one in standing))
    is_new = stored is None or after.id != stored.id
    if is_new and after.message_ids and not left.message_ids:
        return False
    if stored is not None and is_new:
        reword(connection, replace(stored, status="deprecated", is_current=False))
    if is_new:
        connection.execute(BELIEF.insert, BELIEF.values(left))
    else:
        reword(connection, left)
    if edit.change:
        CHANGE.added(connection, edit.change)
    return True


def _relink(connection: Connection, chain_id: str, imported: Belief | None = None) -> None:
    """Give each version of a chain the one before it as its parent, and make only the last one current.

    Needed when some versions were erased, or one was ``imported``, which has its own status if it is the last one. A
    superseded version that becomes the last one stays inactive.
    """
    chain = sorted(BeliefBook.history(connection, chain_id), key=lambda one: one.version)
    connection.execute("UPDATE beliefs SET is_current = 0 WHERE chain_id = ?", bound(chain_id))
    parent_id: str | None = None
    for one in chain:
        is_last, told = one is chain[-1], imported if imported and imported.id == one.id else one
        status = told.status if is_last else "deprecated"
        linked = replace(told, parent_id=parent_id, is_current=is_last, status=status, supporters=one.supporters)
        reword(connection, linked)
        parent_id = one.id
