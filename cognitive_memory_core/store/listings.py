"""Lists of rows for the operator, in pages."""

from __future__ import annotations

from collections.abc import Collection
from sqlite3 import Connection

from ..domain.event import Event
from ..domain.listing import EventListing, PersonEntry, PlaceEntry, PlaceListing, ProfileSource, SeenName
from ..domain.profile import EntityType, Profile, ProfileKey
from ..domain.scope import Scope
from . import place_lists
from .database.database import Database
from .database.rows import EVENT_FIELDS, bound, event_of, instant_of, micros, moment_of
from .database.statements import bounded, escaped, select
from .profile_index import PROFILE_FIELDS, profile_of
from .profile_keys import KEY_COLUMNS, key_values
from .search.read_filter_sql import listing_filter

_PAGE = "LIMIT ? OFFSET ?"
_EVENTS = ", ".join(f"e.{name}" for name in EVENT_FIELDS)
_PROFILES = ", ".join(PROFILE_FIELDS)
_SCOPES = "substr(scope, 1, length(?) + 1) = ? || char(31)"  # the scopes of an agent
_OF_KEY = " AND ".join(f"f.{name} = ?" for name in KEY_COLUMNS)
_LIKE = "LIKE '%' || ? || '%' ESCAPE '\\'"


class OperatorLists:
    """Lists of one agent's rows in pages, the latest first. Nothing is searched, and no scene narrows them."""

    def __init__(self, database: Database) -> None:
        """List the rows of a database."""
        self._database = database

    async def events(
        self, agent: str, listing: EventListing, limit: int, offset: int = 0, *, without: Collection[str] = ()
    ) -> list[Event]:
        """Return the events of a listing, newest first; none said by or about the people ``without``."""
        return await self._database.read(_events, agent, listing, (bounded(limit), bounded(offset)), without)

    async def wordings(self, event: Event) -> list[Event]:
        """Return the other wordings of an event: the same place, speaker, instant and messages, oldest first.

        A correction keeps place, speaker, instant and messages, so these are the versions before or after a correction.
        """
        return await self._database.read(_wordings, event)

    async def places(self, agent: str, listing: PlaceListing, limit: int, offset: int = 0) -> list[PlaceEntry]:
        """Return places with an active event or a logged line, the one with the newest line or event first.

        Events and lines are counted only for the places of the returned page.
        """
        return await self._database.read(place_lists.places, agent, listing, (bounded(limit), bounded(offset)))

    async def people(self, agent: str, text: str, limit: int, offset: int = 0) -> list[PersonEntry]:
        """Return the people whose names were seen, the last seen first; opt-out and sharing are not filled in.

        With ``text``, only those whose id equals it or one of whose names contains it, ignoring case.
        """
        return await self._database.read(_people, agent, text, (bounded(limit), bounded(offset)))

    async def names(self, agent: str, user_id: str) -> list[SeenName]:
        """Return the names that a person had in any place, the last seen first."""
        return await self._database.read(_names, agent, user_id)

    async def profiles(
        self, agent: str, entity_type: EntityType | None, text: str, limit: int, offset: int = 0
    ) -> list[Profile]:
        """Return profiles, of a type or of all, the last updated first.

        With ``text``, only those whose person or group has it as id, or whose name contains it, ignoring case.
        """
        return await self._database.read(_profiles, (agent, entity_type, text), (bounded(limit), bounded(offset)))

    async def sources(self, key: ProfileKey, limit: int, offset: int = 0) -> list[ProfileSource]:
        """Return the facts of a profile, the newest first."""
        return await self._database.read(_sources, key, (bounded(limit), bounded(offset)))


def _events(
    connection: Connection, agent: str, listing: EventListing, page: tuple[int, int], without: Collection[str]
) -> list[Event]:
    clause, values = listing_filter(agent, listing, without)
    query = select(_EVENTS, "events e", clause, f"ORDER BY e.at_us DESC, e.seq DESC {_PAGE}")
    return [event_of(row) for row in connection.execute(query, (*values, *page))]


def _wordings(connection: Connection, event: Event) -> list[Event]:
    clause = "e.scope = ? AND e.at_us = ? AND e.sender_id = ? AND e.id <> ?"
    values = bound(event.scope.key, micros(event.happened_at), event.sender_id, event.id)
    query = select(_EVENTS, "events e", clause, "ORDER BY e.seq")
    found = [event_of(row) for row in connection.execute(query, values)]
    return [one for one in found if one.message_ids == event.message_ids]


def _people(connection: Connection, agent: str, text: str, page: tuple[int, int]) -> list[PersonEntry]:
    named = f" AND (user_id = ? OR name {_LIKE})" if text else ""
    wanted = bound(agent, agent, *((text, escaped(text)) if text else ()))
    rest = f"GROUP BY user_id ORDER BY 3 DESC, user_id {_PAGE}"
    rows = connection.execute(
        select("user_id, name, max(last_us)", "names", f"{_SCOPES}{named}", rest), (*wanted, *page)
    )  # SQLite takes the bare column from the row of the maximum
    return [
        PersonEntry(user_id, name, _statements(connection, agent, user_id), instant_of(last))
        for user_id, name, last in rows.fetchall()
    ]


def _statements(connection: Connection, agent: str, user_id: str) -> int:
    clause = "agent = ? AND sender_id = ? AND retired_at IS NULL"
    return connection.execute(select("count(*)", "events", clause), bound(agent, user_id)).fetchone()[0]


def _names(connection: Connection, agent: str, user_id: str) -> list[SeenName]:
    query = select("scope, name, first_us, last_us", "names", f"{_SCOPES} AND user_id = ?", "ORDER BY last_us DESC")
    rows = connection.execute(query, bound(agent, agent, user_id))
    return [SeenName(Scope.of_key(key), name, instant_of(first), instant_of(last)) for key, name, first, last in rows]


def _profiles(
    connection: Connection, wanted: tuple[str, EntityType | None, str], page: tuple[int, int]
) -> list[Profile]:
    agent, entity_type, text = wanted
    clause, values = "agent = ?", [agent]
    if entity_type:
        clause, values = f"{clause} AND entity_type = ?", [*values, entity_type]
    if text:
        clause += f" AND (user_id = ? OR group_id = ? OR name {_LIKE})"
        values += [text, text, escaped(text)]
    query = select(_PROFILES, "profiles", clause, f"ORDER BY datetime(updated_at) DESC, seq DESC {_PAGE}")
    return [profile_of(row) for row in connection.execute(query, (*bound(*values), *page))]


def _sources(connection: Connection, key: ProfileKey, page: tuple[int, int]) -> list[ProfileSource]:
    columns = "e.id, f.text, f.happened_at, f.merged, f.fallen"
    query = select(columns, "facts f JOIN events e ON e.seq = f.event_seq", _OF_KEY, f"ORDER BY f.seq DESC {_PAGE}")
    rows = connection.execute(query, (*key_values(key), *page))
    return [
        ProfileSource(event_id, text, moment_of(at), bool(merged), bool(fallen))
        for event_id, text, at, merged, fallen in rows
    ]
