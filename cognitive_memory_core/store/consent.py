"""Who may be remembered: opt-outs, sharing, switches, incognito periods, and tombstones of what was erased."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from sqlite3 import Connection

from ..domain.consent import Incognito, OptOut, PlaceSwitch, Shared
from ..domain.erasure import Tombstones, covered_until
from ..domain.scope import Scene, Scope
from .database.database import Table, reads, writes
from .database.rows import INCOGNITO, OPT_OUT, SHARED, SWITCH, Row, always_kept, bound, instant_of, micros


def tombstones_of(connection: Connection) -> Tombstones:
    """Read all tombstones with the key of their hashes."""
    found = connection.execute("SELECT digest, at_us FROM erasures")
    return Tombstones(_key(connection), {digest: instant_of(at_us) for digest, at_us in found})


def record_erasure(connection: Connection, erased: str | Scope, at: datetime) -> None:
    """Record the erasure of a person or a place, and that a purge is due."""
    tombstones = tombstones_of(connection)
    digest = tombstones.digest(*(("place", erased.key) if isinstance(erased, Scope) else ("person", erased)))
    until = micros(covered_until(at, tombstones.marks.get(digest)))
    connection.execute("INSERT OR REPLACE INTO erasures VALUES (?, ?)", (digest, until))
    record_purge_due(connection, at)


def record_purge_due(connection: Connection, at: datetime) -> None:
    """Record that a purge (removal of erased bytes from the files) is due because of an erasure at ``at``."""
    connection.execute("UPDATE meta SET value = min(coalesce(value, ?1), ?1) WHERE key = 'purge_due_us'", (micros(at),))


def keyed_digest(connection: Connection, *identity: str) -> str:
    """Return the keyed hash of ids that the ledger must recognise but not reveal."""
    return Tombstones(_key(connection)).digest(*identity)


def record_change(connection: Connection, at: datetime, *, scope: Scope | None = None, user_id: str = "") -> None:
    """Record that it is not known any more what might be recorded of a person, in a place or of both, before ``at``.

    Without a place and a person it is not known of anybody.
    """
    place = "" if scope is None else scope.key
    digest = keyed_digest(connection, "consent", place, user_id) if place or user_id else ""
    connection.execute(
        "INSERT INTO consent_changes VALUES (?, ?)"
        " ON CONFLICT (digest) DO UPDATE SET at_us = max(at_us, excluded.at_us)",
        (digest, micros(at)),
    )


def known_since(connection: Connection, scenes: Iterable[Scene]) -> dict[Scene, datetime]:
    """Return for each scene since when it is known what might be recorded there; scenes without a change are omitted.

    A switch that ended counts as a change at its end.
    """
    changes = dict(connection.execute("SELECT digest, at_us FROM consent_changes").fetchall())
    ended = dict(
        connection.execute(
            "SELECT scope, until_us FROM switches WHERE until_us IS NOT NULL AND switch <> 'record_only'"
        )
    )
    since: dict[Scene, datetime] = {}
    for scene in scenes if changes or ended else ():
        place, person = scene.scope.key, scene.user_id
        identities = (("consent", place, ""), ("consent", "", person), ("consent", place, person))
        digests = ["", *(keyed_digest(connection, *identity) for identity in identities)]
        found = [changes[digest] for digest in digests if digest in changes]
        found += [ended[place]] if place in ended else []
        if found:
            since[scene] = instant_of(max(found))
    return since


def _key(connection: Connection) -> bytes:
    return bytes.fromhex(always_kept(connection, "erasure_key"))


class ConsentBook(Table):
    """Opt-outs, sharing consents, switches of places, and incognito: periods in which a person is not recorded."""

    @writes
    def opt_out(self, connection: Connection, user_id: str, at: datetime) -> bool:
        """Record that a person opts out, in all places; return whether that was new."""
        return OPT_OUT.added(connection, OptOut(user_id, at))

    @writes
    def opt_in(self, connection: Connection, user_id: str, at: datetime | None = None) -> None:
        """Remove a person's opt-out; what they said before ``at`` may have been said while it was in force."""
        removed = connection.execute("DELETE FROM opt_outs WHERE user_id = ?", bound(user_id)).rowcount
        if removed and at is not None:
            record_change(connection, at, user_id=user_id)

    @writes
    def note_unknown(self, connection: Connection, at: datetime) -> None:
        """Record that it is not known of anybody what might be recorded before ``at``."""
        record_change(connection, at)

    @reads
    def opted_out(self, connection: Connection) -> frozenset[str]:
        """Return the ids of all people who opted out."""
        return frozenset(row[0] for row in connection.execute("SELECT user_id FROM opt_outs"))

    @writes
    def set_switch(self, connection: Connection, switch: PlaceSwitch, at: datetime | None = None) -> None:
        """Set the switch of a place, replacing the previous one, which was in force until ``at`` or until its end."""
        former = SWITCH.first(connection, "WHERE scope = ?", (switch.scope.key,))
        if former is not None and not former.records and at is not None:
            record_change(connection, min(at, former.until or at), scope=former.scope)
        connection.execute("DELETE FROM switches WHERE scope = ?", (switch.scope.key,))
        if switch.switch != "on":
            SWITCH.added(connection, switch)

    @reads
    def switches(self, connection: Connection) -> list[PlaceSwitch]:
        """Return the switches that are not "on", including expired ones."""
        return SWITCH.found(connection, "")

    @writes
    def set_sharing(self, connection: Connection, user_id: str, *, shared: bool, at: datetime) -> bool:
        """Record whether a person shares their own profile with all places; return whether that was new."""
        if not shared:
            return connection.execute("DELETE FROM sharing WHERE user_id = ?", bound(user_id)).rowcount > 0
        return SHARED.added(connection, Shared(user_id, at))

    @reads
    def shared(self, connection: Connection) -> frozenset[str]:
        """Return the ids of all people who share their profile."""
        return frozenset(row[0] for row in connection.execute("SELECT user_id FROM sharing"))

    @writes
    def keep_incognito(self, connection: Connection, period: Incognito) -> None:
        """Store a period, or replace the end of the one with the same place, person and start."""
        again = "ON CONFLICT (scope, user_id, starts_at) DO UPDATE SET ends_at = excluded.ends_at"
        connection.execute(f"{INCOGNITO.insert} {again}, ends_us = excluded.ends_us", INCOGNITO.values(period))

    @reads
    def incognito(self, connection: Connection) -> list[Incognito]:
        """Return all incognito periods (times in which nothing is recorded), oldest first."""
        return INCOGNITO.found(connection, "ORDER BY e.seq")

    @writes
    def drop_incognito(self, connection: Connection, before: datetime) -> None:
        """Delete the periods that ended before an instant."""
        _end_periods(connection, "ends_us < ?", (micros(before),))

    @writes
    def erase_incognito(self, connection: Connection, periods: Collection[Incognito], at: datetime) -> None:
        """Erase periods because their person or place was erased; a purge is due afterwards."""
        for one in periods:
            these = bound(one.scope.key, one.user_id, one.starts_at.isoformat())
            _end_periods(connection, "scope = ? AND user_id = ? AND starts_at = ?", these)
        if periods:
            record_purge_due(connection, at)


def _end_periods(connection: Connection, where: str, values: Row) -> None:
    """Delete periods and record their ends."""
    ended = connection.execute(f"DELETE FROM incognito WHERE {where} RETURNING scope, user_id, ends_us", values)
    for key, user_id, ends_us in ended.fetchall():
        record_change(connection, instant_of(ends_us), scope=Scope.of_key(key), user_id=user_id)
