"""Current and former names of people, by place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sqlite3 import Connection

from ..domain.erasure import stays_out
from ..domain.people import Alias, Person
from ..domain.scope import Scope
from .consent import tombstones_of
from .database.database import Table, reads, writes
from .database.rows import ALIAS, LISTED, bound, listed, micros

LATELY = 30 * 86_400.0  # seconds; who changes their name for good is called by the new one after two weeks
MOST_NAMES = 64  # of one person that are hidden; the latest ones where there are more
MOST_ALIASES = 8  # of one person in one place that are returned beside their name
RANKED_LINES = 1_000  # newest lines of a group that are read for who runs it
_HOUR_US = 3_600_000_000
_WORN = (7 * 24 * _HOUR_US, 10)  # duration or lines of a stay after which the name that a person came with is theirs
_LATEST_FIRST = "ORDER BY last_us DESC, first_us DESC, seq DESC"
_SHARED = """
WITH here AS (
    SELECT scope, user_id, min(first_us) AS came, max(last_us) - min(first_us) AS stay FROM names
    WHERE user_id IN (SELECT value FROM json_each(?1)) GROUP BY scope, user_id
), worn AS (
    SELECT n.user_id, name, min(first_us) AS since, max(first_us = came) AS is_first,
    max((first_us = came) * stay) AS stay FROM names n JOIN here USING (scope, user_id) GROUP BY n.user_id, name
)
SELECT DISTINCT w.name FROM worn w WHERE EXISTS (
    SELECT 1 FROM here h JOIN names o ON o.scope = h.scope
    WHERE h.user_id = w.user_id AND o.name = w.name AND o.user_id NOT IN (SELECT value FROM json_each(?1))
) OR ?2 AND EXISTS (
    SELECT 1 FROM here h JOIN messages m ON m.scope = h.scope AND m.at_us < w.since
    WHERE h.user_id = w.user_id AND NOT m.is_bot AND m.sender_id NOT IN (SELECT value FROM json_each(?1))
    AND instr(m.text, w.name) AND NOT instr(m.text, w.name || '(' || w.user_id)
) AND NOT (w.stay >= ?3 OR w.is_first AND ?4 <= (
    SELECT count(*) FROM here h JOIN messages m ON m.scope = h.scope AND m.sender_id = h.user_id
    WHERE h.user_id = w.user_id
)) ORDER BY w.name"""  # with the id behind it, it is the name; who comes with a name may have had it before


class NameBook(Table):
    """Current and earlier names of people, by place."""

    @writes
    def note_all(self, connection: Connection, sightings: Iterable[Alias]) -> dict[Alias, bool]:
        """Record names that are not blank; return those that are the person's latest in their place, and if it is new.

        To spare the disk, nothing is written if only last-seen times would change, by less than an hour each.
        """
        tombstones, standing = tombstones_of(connection), dict[Alias, bool]()
        query = f"SELECT name, first_us, last_us FROM names WHERE scope = ? AND user_id = ? {_LATEST_FIRST} LIMIT 1"
        for alias in sorted(sightings, key=lambda alias: alias.last_seen_at):
            if not alias.name.strip() or stays_out(tombstones, alias):
                continue
            row = connection.execute(query, bound(alias.scope.key, alias.user_id)).fetchone()
            latest, since, until = row or (None, 0, 0)
            is_other = latest != bound(alias.name)[0]
            first, last = micros(alias.first_seen_at), micros(alias.last_seen_at)
            if is_other or first < since or last >= until + _HOUR_US:
                keep_name(connection, alias)
            if not is_other or last >= until:
                standing[alias] = is_other
        return standing

    @reads
    def people(self, connection: Connection, scope: Scope, user_ids: Iterable[str] = ()) -> list[Person]:
        """Return the people known in a place with their latest names, latest seen first; all, or those in ``user_ids``.

        ``aliases`` are their other names in this place, latest first, at most :data:`MOST_ALIASES`; ``usual`` is the
        name used longest in the last :data:`LATELY` seconds before the last sighting.
        """
        user_ids = list(user_ids)
        asked, values = (f"AND user_id IN {LISTED}", (scope.key, listed(user_ids))) if user_ids else ("", (scope.key,))
        query = (
            f"SELECT user_id, name, first_us / 1e6, last_us / 1e6 FROM names WHERE scope = ? {asked} {_LATEST_FIRST}"
        )
        periods: dict[str, list[tuple[str, float, float]]] = {}
        for user_id, *period in connection.execute(query, values):
            periods.setdefault(user_id, []).append((period[0], period[1], period[2]))
        found: list[Person] = []
        for user_id, names in periods.items():
            lately = max(last for _, _, last in names) - LATELY
            usual = max(names, key=lambda period: period[2] - max(period[1], lately))[0]
            (name, *_), *others = names
            aliases = tuple(former for former, *_ in others[:MOST_ALIASES])
            found.append(Person(user_id, name, aliases, usual, min(first for _, first, _ in names)))
        return found

    @reads
    def admins(self, connection: Connection, scope: Scope, user_ids: Iterable[str]) -> frozenset[str]:
        """Return those of these people who run a group, as the platform told with their latest line of it.

        Only the group's newest :data:`RANKED_LINES` lines are read.
        """
        rows = connection.execute(
            "SELECT user_id, is_admin, max(at_us) FROM"
            " (SELECT * FROM messages WHERE scope = ? ORDER BY at_us DESC LIMIT ?)"
            f" WHERE is_bot = 0 AND user_id IN {LISTED} GROUP BY user_id",
            (scope.key, RANKED_LINES, listed(user_ids)),
        )
        return frozenset(user_id for user_id, is_admin, _ in rows if is_admin)

    @reads
    def names_of(self, connection: Connection, user_ids: Iterable[str]) -> list[str]:
        """Return current and earlier names of these people in all places, at most :data:`MOST_NAMES` of each person."""
        rows = connection.execute(
            "SELECT name FROM (SELECT name,"
            " row_number() OVER (PARTITION BY user_id ORDER BY max(last_us) DESC, max(seq) DESC) AS rank"
            f" FROM names WHERE user_id IN {LISTED} GROUP BY user_id, name)"
            " WHERE rank <= ? GROUP BY name ORDER BY min(rank), name",
            (listed(user_ids), MOST_NAMES),
        )
        return [row[0] for row in rows]

    @reads
    def borne(self, connection: Connection, user_id: str) -> list[str]:
        """Return all names of a person, in any place, and with their events and lines, latest first."""
        rows = connection.execute(
            "SELECT name FROM (SELECT name, last_us AS at_us FROM names WHERE user_id = ?1"
            " UNION ALL SELECT sender_name, at_us FROM events WHERE sender_id = ?1"
            " UNION ALL SELECT user_name, at_us FROM messages WHERE sender_id = ?1)"
            " WHERE trim(name) <> '' GROUP BY name ORDER BY max(at_us) DESC",
            bound(user_id),
        )
        return [row[0] for row in rows]

    @reads
    def shared(self, connection: Connection, user_ids: Iterable[str], *, with_words: bool = False) -> list[str]:
        """Return those names of these people that another person has in a place where they were seen.

        ``with_words`` adds names that others used there as a word before the name was first seen. A name with which
        the person was first seen in a place is none, once they were seen for a week or on ten lines.
        """
        return [row[0] for row in connection.execute(_SHARED, (listed(user_ids), with_words, *_WORN))]


def keep_name(connection: Connection, alias: Alias) -> bool:
    """Write a name, or the longer period of a known one; return whether it is new."""
    query = "SELECT 1 FROM names WHERE scope = ? AND user_id = ? AND name = ?"
    is_new = connection.execute(query, bound(alias.scope.key, alias.user_id, alias.name)).fetchone() is None
    longer = "first_us = min(first_us, excluded.first_us), last_us = max(last_us, excluded.last_us)"
    connection.execute(f"{ALIAS.insert} ON CONFLICT DO UPDATE SET {longer}", ALIAS.values(alias))
    return is_new


def add_told(connection: Connection, told: Sequence[Alias]) -> None:
    """Write those names by which the agent does not know the person in any place."""
    query = f"SELECT scope, user_id, name FROM names WHERE user_id IN {LISTED}"
    rows = connection.execute(query, (listed(alias.user_id for alias in told),))
    known = {(Scope.of_key(key).agent, *names) for key, *names in rows}
    for alias in told:
        if (alias.scope.agent, *bound(alias.user_id, alias.name)) not in known:
            keep_name(connection, alias)
