"""Lists of rows for the operator, in pages."""

from __future__ import annotations

from collections.abc import Collection
from sqlite3 import Connection

from ..domain.event import Event
from ..domain.listing import EventListing, PersonEntry, PlaceEntry, PlaceListing, ProfileSource, SeenName
from ..domain.profile import EntityType, Profile, ProfileKey
from ..domain.scope import Scope
from . import place_lists
from .database.rows import EVENT_FIELDS, bound, event_of, instant_of, micros, moment_of
from .database.statements import bounded, escaped, select
from .database.table import Table, reads
from .profile_index import PROFILE_FIELDS, profile_of
from .profile_keys import KEY_COLUMNS, key_values
from .search.read_filter_sql import listing_filter

_PAGE = "LIMIT ? OFFSET ?"
_EVENTS = ", ".join(f"e.{name}" for name in EVENT_FIELDS)
_PROFILES = ", ".join(PROFILE_FIELDS)
_SCOPES = "substr(scope, 1, length(?) + 1) = ? || char(31)"  # the scopes of an agent
_OF_KEY = " AND ".join(f"f.{name} = ?" for name in KEY_COLUMNS)
_LIKE = "LIKE '%' || ? || '%' ESCAPE '\\'"


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
        query = select(_EVENTS, "events e", clause, f"ORDER BY e.at_us DESC, e.seq DESC {_PAGE}")
        return [event_of(row) for row in connection.execute(query, (*values, bounded(limit), bounded(offset)))]

    @reads
    def wordings(self, connection: Connection, event: Event) -> list[Event]:
        """Return the other wordings of an event: the same place, speaker, instant and messages, oldest first.

        A correction keeps place, speaker, instant and messages, so these are the versions before or after a correction.
        """
        clause = "e.scope = ? AND e.at_us = ? AND e.sender_id = ? AND e.id <> ?"
        values = bound(event.scope.key, micros(event.happened_at), event.sender_id, event.id)
        query = select(_EVENTS, "events e", clause, "ORDER BY e.seq")
        found = [event_of(row) for row in connection.execute(query, values)]
        return [one for one in found if one.message_ids == event.message_ids]

    @reads
    def places(
        self, connection: Connection, agent: str, listing: PlaceListing, limit: int, offset: int = 0
    ) -> list[PlaceEntry]:
        """Return places with an active event or a logged line, the one with the newest line or event first.

        Events and lines are counted only for the places of the returned page.
        """
        return place_lists.places(connection, agent, listing, (bounded(limit), bounded(offset)))

    @reads
    def people(self, connection: Connection, agent: str, text: str, limit: int, offset: int = 0) -> list[PersonEntry]:
        """Return the people whose names were seen, the last seen first; opt-out and sharing are not filled in.

        With ``text``, only those whose id equals it or one of whose names contains it, ignoring case.
        """
        named = f" AND (user_id = ? OR name {_LIKE})" if text else ""
        wanted = bound(agent, agent, *((text, escaped(text)) if text else ()))
        rest = f"GROUP BY user_id ORDER BY 3 DESC, user_id {_PAGE}"
        rows = connection.execute(
            select("user_id, name, max(last_us)", "names", f"{_SCOPES}{named}", rest),
            (*wanted, bounded(limit), bounded(offset)),
        )  # SQLite takes the bare column from the row of the maximum
        return [
            PersonEntry(user_id, name, _statements(connection, agent, user_id), instant_of(last))
            for user_id, name, last in rows.fetchall()
        ]

    @reads
    def names(self, connection: Connection, agent: str, user_id: str) -> list[SeenName]:
        """Return the names that a person had in any place, the last seen first."""
        query = select("scope, name, first_us, last_us", "names", f"{_SCOPES} AND user_id = ?", "ORDER BY last_us DESC")
        rows = connection.execute(query, bound(agent, agent, user_id))
        return [
            SeenName(Scope.of_key(key), name, instant_of(first), instant_of(last)) for key, name, first, last in rows
        ]

    @reads
    def profiles(
        self, connection: Connection, agent: str, entity_type: EntityType | None, text: str, limit: int, offset: int = 0
    ) -> list[Profile]:
        """Return profiles, of a type or of all, the last updated first.

        With ``text``, only those whose person or group has it as id, or whose name contains it, ignoring case.
        """
        clause, values = "agent = ?", [agent]
        if entity_type:
            clause, values = f"{clause} AND entity_type = ?", [*values, entity_type]
        if text:
            clause += f" AND (user_id = ? OR group_id = ? OR name {_LIKE})"
            values += [text, text, escaped(text)]
        query = select(_PROFILES, "profiles", clause, f"ORDER BY datetime(updated_at) DESC, seq DESC {_PAGE}")
        return [
            profile_of(row) for row in connection.execute(query, (*bound(*values), bounded(limit), bounded(offset)))
        ]

    @reads
    def sources(self, connection: Connection, key: ProfileKey, limit: int, offset: int = 0) -> list[ProfileSource]:
        """Return the facts of a profile, the newest first."""
        columns = "e.id, f.text, f.happened_at, f.merged, f.fallen"
        query = select(columns, "facts f JOIN events e ON e.seq = f.event_seq", _OF_KEY, f"ORDER BY f.seq DESC {_PAGE}")
        rows = connection.execute(query, (*key_values(key), bounded(limit), bounded(offset)))
        return [
            ProfileSource(event_id, text, moment_of(at), bool(merged), bool(fallen))
            for event_id, text, at, merged, fallen in rows
        ]


def _statements(connection: Connection, agent: str, user_id: str) -> int:
    clause = "agent = ? AND sender_id = ? AND retired_at IS NULL"
    return connection.execute(select("count(*)", "events", clause), bound(agent, user_id)).fetchone()[0]
