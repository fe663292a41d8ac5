"""Lists of rows for the operator, in pages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from itertools import islice
from sqlite3 import Connection

from ..domain.event import Event
from ..domain.people import Alias
from ..domain.profile import EntityType, Profile, ProfileKey
from ..domain.reading import Answering, EventListing, EventState, PersonEntry, PlaceEntry, PlaceListing, ProfileSource
from ..domain.scope import Scope
from .database.database import Table, reads
from .database.rows import (
    ALIAS,
    EVENT,
    LISTED,
    PROFILE,
    bound,
    bounded,
    escaped,
    instant_of,
    key_values,
    listed,
    micros,
    moment_of,
    select,
)
from .search.filters import GONE, NOT_OF, Filter, joined, within

_STATES: Mapping[EventState, str] = {
    "active": "e.retired_at IS NULL",
    "retired": GONE,
    "relative": "e.retired_at IS NULL AND e.is_absolute = 0",
}
_PLACES = """
WITH RECURSIVE places (scope) AS (
    SELECT ?1 UNION ALL SELECT (
        SELECT min(scope) FROM (
            SELECT min(scope) AS scope FROM messages WHERE scope > p.scope AND scope < ?2
            UNION ALL SELECT min(scope) FROM events WHERE scope > p.scope AND scope < ?2
        )
    ) FROM places p WHERE p.scope IS NOT NULL
)
SELECT scope, (
    SELECT max(at_us) FROM (
        SELECT max(at_us) AS at_us FROM messages m WHERE m.scope = p.scope UNION ALL
        SELECT * FROM (
            SELECT at_us FROM events e WHERE e.scope = p.scope AND retired_at IS NULL ORDER BY at_us DESC LIMIT 1
        )
    )
) AS last FROM places p WHERE last IS NOT NULL ORDER BY last DESC, scope"""  # from index to index, a place at a time
_COUNTS = (  # from indexes alone
    "SELECT count(*) FROM events INDEXED BY events_standing WHERE scope = ? AND retired_at IS NULL",
    "SELECT count(*) FROM messages WHERE scope = ?",
)

_OF_AGENT = "substr(scope, 1, length(?) + 1) = ? || char(31)"
_LIKE = "LIKE '%' || ? || '%' ESCAPE '\\'"


def listing_filter(agent: str, listing: EventListing, without: Collection[str]) -> Filter:
    """Compile an operator's list over ``events e``: the clause selects exactly the rows of the list."""
    said, about = select("seq", "events", "agent = ? AND sender_id = ?"), select("seq", "event_subjects", "subject = ?")
    is_few = listing.place or listing.voice == "others"
    return joined(
        (True, "+e.agent = ?" if is_few else "e.agent = ?", bound(agent)),  # +: not by an index of the agent
        (True, _STATES[listing.state], ()),
        (listing.place, "e.scope = ?", bound(listing.place.key if listing.place else "")),
        (
            listing.user_id and listing.voice == "any",
            f"e.seq IN ({said} UNION ALL {about})",
            bound(agent, listing.user_id, listing.user_id),
        ),
        (listing.voice == "own", "e.sender_id = ?", bound(listing.user_id)),
        (listing.voice == "others", f"e.sender_id <> ? AND e.seq IN ({about})", bound(listing.user_id) * 2),
        (listing.kind, "e.kind = ?", bound(listing.kind)),
        (listing.window, *within(listing.window)),
        (without, NOT_OF, (listed(sorted(without)),) * 2),
    )


class OperatorLists(Table):
    """Lists of one agent's rows in pages, the latest first. Nothing is searched, and no scene narrows them."""

    @reads
    def events(
        self,
        connection: Connection,
        agent: str,
        listing: EventListing,
        limit: int,
        offset: int = 0,
        *,
        without: Collection[str] = (),
    ) -> list[Event]:
        """Return the events of a listing, newest first; none said by or about the people ``without``."""
        clause, values = listing_filter(agent, listing, without)
        rest = f"WHERE {clause} ORDER BY e.at_us DESC, e.seq DESC LIMIT ? OFFSET ?"
        return EVENT.found(connection, rest, (*values, bounded(limit), bounded(offset)))

    @reads
    def learned_from(
        self, connection: Connection, agent: str, message_ids: Collection[str]
    ) -> Mapping[tuple[str, str], str]:
        """Map the scope key and id of each message to the id of an active event made from it; others are left out."""
        rows = connection.execute(  # a CROSS JOIN keeps its order
            "SELECT e.scope, s.message_id, e.id FROM event_sources s CROSS JOIN events e ON e.seq = s.seq"
            f" WHERE s.message_id IN {LISTED} AND e.agent = ? AND e.retired_at IS NULL",
            (listed(message_ids), *bound(agent)),
        )
        return {(scope, message_id): event_id for scope, message_id, event_id in rows}

    @reads
    def said_at(self, connection: Connection, agent: str, user_id: str, since: datetime) -> list[datetime]:
        """Return when a person's active events since an instant happened."""
        rows = connection.execute(
            "SELECT at_us FROM events INDEXED BY events_by_sender"
            " WHERE agent = ? AND sender_id = ? AND retired_at IS NULL AND at_us >= ?",
            (*bound(agent, user_id), micros(since)),
        )
        return [instant_of(at_us) for (at_us,) in rows]

    @reads
    def answers(self, connection: Connection, scope: Scope, newest: int, limit: int) -> list[Answering]:
        """Return who answers whom in the ``newest`` lines of a place, the most frequent first."""
        rows = connection.execute(
            "SELECT m.sender_id, o.sender_id, count(*), max(iif(m.is_bot, '', m.user_name)),"
            " max(iif(o.is_bot, '', o.user_name)) FROM"
            " (SELECT * FROM messages WHERE scope = ?1 ORDER BY at_us DESC LIMIT ?2) m"
            " JOIN messages o ON o.scope = m.scope AND o.id = m.reply_to WHERE m.sender_id <> o.sender_id"
            " GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT ?3",
            (*bound(scope.key), bounded(newest), bounded(limit)),
        )
        return [Answering(*row) for row in rows]

    @reads
    def wordings(self, connection: Connection, event: Event) -> list[Event]:
        """Return the other wordings of an event: the same place, speaker, instant and messages, oldest first.

        A correction keeps place, speaker, instant and messages, so these are the versions before or after a correction.
        """
        rest = "WHERE scope = ? AND at_us = ? AND sender_id = ? AND id <> ? ORDER BY seq"
        values = bound(event.scope.key, micros(event.happened_at), event.sender_id, event.id)
        return [one for one in EVENT.found(connection, rest, values) if one.message_ids == event.message_ids]

    @reads
    def places(
        self, connection: Connection, agent: str, listing: PlaceListing, limit: int, offset: int = 0
    ) -> list[PlaceEntry]:
        """Return places with an active event or a logged line, the one with the newest line or event first.

        Events and lines are counted only for the places of the returned page.
        """
        begin, end = bound(f"{agent}\x1f", f"{agent}\x20")  # the keys of its places
        if listing.place is not None:
            begin, end = bound(listing.place.key, f"{listing.place.key}\x01")
        entries: list[PlaceEntry] = []
        for scope, name, last_at in islice(_places_of(connection, listing, begin, end), offset, offset + limit):
            counted = _COUNTS if listing.is_counted else ()
            counts = [connection.execute(count, bound(scope.key)).fetchone()[0] for count in counted]
            entries.append(PlaceEntry(scope, name, *counts, last_at=last_at))
        return entries

    @reads
    def place_names(self, connection: Connection, places: Collection[Scope]) -> dict[Scope, str]:
        """Return the latest names of places; "" for one without a name."""
        return {scope: _name_of(connection, scope) for scope in places}

    @reads
    def people_names(self, connection: Connection, agent: str, user_ids: Collection[str]) -> dict[str, str]:
        """Return the latest names of those of these people whose names were seen."""
        rows = connection.execute(  # SQLite takes the bare column from the row of the maximum
            f"SELECT user_id, name, max(last_us) FROM names WHERE {_OF_AGENT} AND user_id IN {LISTED} GROUP BY user_id",
            (*bound(agent, agent), listed(user_ids)),
        )
        return {user_id: name for user_id, name, _ in rows}

    @reads
    def people(self, connection: Connection, agent: str, text: str, limit: int, offset: int = 0) -> list[PersonEntry]:
        """Return the people whose names were seen, the last seen first; opt-out and sharing are not filled in.

        With ``text``, only those whose id equals it or one of whose names contains it, ignoring case.
        """
        named, values = (f"AND (user_id = ? OR name {_LIKE})", (text, escaped(text))) if text else ("", ())
        rows = connection.execute(  # SQLite takes the bare column from the row of the maximum
            f"SELECT user_id, name, max(last_us) FROM names WHERE {_OF_AGENT} {named}"
            " GROUP BY user_id ORDER BY 3 DESC, user_id LIMIT ? OFFSET ?",
            (*bound(agent, agent, *values), bounded(limit), bounded(offset)),
        )
        found = rows.fetchall()
        count = (
            "SELECT sender_id, count(*) FROM events"
            f" WHERE agent = ? AND retired_at IS NULL AND sender_id IN {LISTED} GROUP BY sender_id"
        )
        said = dict(connection.execute(count, (*bound(agent), listed(row[0] for row in found))).fetchall())
        return [PersonEntry(user_id, name, said.get(user_id, 0), instant_of(last)) for user_id, name, last in found]

    @reads
    def names(self, connection: Connection, agent: str, user_id: str) -> list[Alias]:
        """Return the names that a person had in any place, the last seen first."""
        query = f"WHERE {_OF_AGENT} AND user_id = ? ORDER BY last_us DESC"
        return ALIAS.found(connection, query, bound(agent, agent, user_id))

    @reads
    def profiles(
        self, connection: Connection, agent: str, entity_type: EntityType | None, text: str, limit: int, offset: int = 0
    ) -> list[Profile]:
        """Return profiles, of a type or of all, the last updated first.

        With ``text``, only those whose person or group has it as id, or whose name contains it, ignoring case.
        """
        clause, values = joined(
            (True, "agent = ?", bound(agent)),
            (entity_type, "entity_type = ?", bound(entity_type)),
            (text, f"(user_id = ? OR group_id = ? OR name {_LIKE})", bound(text, text, escaped(text))),
        )
        rest = f"WHERE {clause} ORDER BY datetime(updated_at) DESC, seq DESC LIMIT ? OFFSET ?"
        return PROFILE.found(connection, rest, (*values, bounded(limit), bounded(offset)))

    @reads
    def sources(self, connection: Connection, key: ProfileKey, limit: int, offset: int = 0) -> list[ProfileSource]:
        """Return the facts of a profile, the newest first."""
        rows = connection.execute(
            "SELECT e.id, f.text, f.happened_at, f.merged, f.fallen FROM facts f JOIN events e ON e.seq = f.event_seq"
            " WHERE f.agent = ? AND f.entity_type = ? AND f.group_id = ? AND f.user_id = ?"
            " ORDER BY f.seq DESC LIMIT ? OFFSET ?",
            (*key_values(key), bounded(limit), bounded(offset)),
        )
        return [
            ProfileSource(event_id, text, moment_of(at), bool(merged), bool(fallen))
            for event_id, text, at, merged, fallen in rows
        ]


def _places_of(
    connection: Connection, listing: PlaceListing, begin: str, end: str
) -> Iterator[tuple[Scope, str, datetime]]:
    """Yield the places of a listing among those with these keys, each with its name and newest instant."""
    text = listing.text.casefold()
    for key, last in connection.execute(_PLACES, (begin, end)):
        scope = Scope.of_key(key)
        is_left_out = scope.kind == "private" and scope.place_id in listing.without
        if is_left_out or listing.kind not in (None, scope.kind):
            continue
        name = _name_of(connection, scope)
        if text in ("", scope.place_id.casefold()) or text in name.casefold():
            yield scope, name, instant_of(last)


def _name_of(connection: Connection, scope: Scope) -> str:
    """Return the latest name of a group, or of the person of a private chat; "" if unknown."""
    if scope.kind == "private":
        query, values = "SELECT name FROM names WHERE scope = ? ORDER BY last_us DESC LIMIT 1", bound(scope.key)
    else:
        latest = "SELECT group_name FROM messages WHERE scope = ? ORDER BY at_us DESC LIMIT 1"
        portrayed = "SELECT name FROM profiles WHERE agent = ? AND entity_type = 'group' AND group_id = ?"
        query = f"SELECT ifnull(nullif(({latest}), ''), ({portrayed}))"
        values = bound(scope.key, scope.agent, scope.place_id)
    row = connection.execute(query, values).fetchone()
    return (row and row[0]) or ""
