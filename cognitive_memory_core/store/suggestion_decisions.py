"""Decisions on suggestions. An event that is deleted leaves its decisions; a decision without events is deleted."""

from __future__ import annotations

import json
from dataclasses import replace
from sqlite3 import Connection

from ..domain.belief import SuggestionDecision
from ..domain.erasure import Tombstones
from ..domain.scope import Scope
from .database.rows import DECISION_COLUMNS, Row, bound, moment_of
from .database.statements import LISTED, insert, listed, new_seq, select
from .database.table import Table, reads, writes

_IN_ORDER = select(
    "e.id AS id", "decision_events d JOIN events e ON e.seq = d.event_seq", "d.decision_seq = r.seq", "ORDER BY e.seq"
)
EVIDENCE = f"({select('json_group_array(id)', f'({_IN_ORDER})', 'TRUE')})"
_FIELDS = ", ".join((*(f"r.{name}" for name in DECISION_COLUMNS), EVIDENCE))


class DecisionBook(Table):
    """What admins decided on suggestions. A decision is deleted with the last event that it rests on."""

    @writes
    def decide(self, connection: Connection, decision: SuggestionDecision) -> None:
        """Store a decision; does nothing if its id is known or none of its events is stored."""
        add(connection, decision)

    @reads
    def decisions(self, connection: Connection, scope: Scope) -> list[SuggestionDecision]:
        """Return the decisions of a place, oldest first, each with those of its events that are still stored."""
        query = select(_FIELDS, "decisions r", "r.scope = ?", "ORDER BY r.seq")
        return [decision_of(row) for row in connection.execute(query, (scope.key,))]


def add(connection: Connection, decision: SuggestionDecision, erased: Tombstones | None = None) -> bool:
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
    seq = new_seq(connection.execute(insert("decisions", DECISION_COLUMNS), _values(decision)))
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


def _values(decision: SuggestionDecision) -> Row:
    return (
        *bound(decision.id, decision.scope.key, decision.kind),
        int(decision.is_accepted),
        decision.decided_at.isoformat(),
        *bound(decision.decided_by),
    )
