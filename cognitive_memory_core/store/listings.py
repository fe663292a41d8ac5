"""Lists of rows for the operator, in pages."""

from __future__ import annotations

from collections.abc import Collection
from sqlite3 import Connection

from ..domain.event import Event
from ..domain.listing import EventListing, PersonEntry, PlaceEntry, PlaceListing, ProfileSource, SeenName
from ..domain.profile import EntityType, Profile, ProfileKey
from ..domain.scope import Scope
from .database.rows import EVENT_FIELDS, bound, event_of, instant_of, micros, moment_of
from .database.statements import bounded, escaped, listed, select
from .database.table import Table, reads
from .profiles import KEY_COLUMNS, PROFILE_FIELDS, key_values, profile_of
from .search.read_filter_sql import listing_filter

_SEPARATOR = "\x1f"  # between the parts of a scope's key
_ACTIVE = "retired_at IS NULL AND"


def _scopes(name: str, table: str, where: str = "") -> str:
    """Return a WITH clause ``name`` that lists the scopes of a table from ``:begin`` up to ``:end``."""
    first = select("min(scope)", table, f"{where} scope >= :begin AND scope < :end")
    following = select("min(scope)", table, f"{where} scope > {name}.scope AND scope < :end")
    return f"{name} (scope) AS ({first} UNION ALL {select(f'({following})', name, f'{name}.scope IS NOT NULL')})"


_GROUP_NAME = select("group_name", "messages m", "m.scope = p.scope", "ORDER BY m.at_us DESC LIMIT 1")
_PERSON_NAME = select("name", "names n", "n.scope = p.scope", "ORDER BY n.last_us DESC LIMIT 1")
_OF_GROUP = "agent = :agent AND entity_type = 'group' AND group_id = substr(p.scope, length(:group) + 1)"
_GROUP = f"ifnull(nullif(({_GROUP_NAME}), ''), ({select('name', 'profiles', _OF_GROUP)}))"
_NAME = f"ifnull(CASE WHEN p.scope LIKE :private ESCAPE '\\' THEN ({_PERSON_NAME}) ELSE {_GROUP} END, '')"
_LAST = " UNION ALL ".join(select("max(at_us) AS at", table, "scope = p.scope") for table in ("messages", "events"))
_FOUND = " UNION ".join(select("scope", name, "scope IS NOT NULL") for name in ("told", "spoken"))
_NEWEST = " UNION ALL ".join(
    select("scope, at_us", f"({select('scope, at_us', table, where, 'ORDER BY seq DESC LIMIT :newest')})", "TRUE")
    for table, where in (("events", "retired_at IS NULL"), ("messages", "TRUE"))
)
_BETWEEN = "scope >= :begin AND scope < :end GROUP BY scope"
_AMONG_NEWEST = f"WITH p (scope, last) AS ({select('scope, max(at_us)', f'({_NEWEST})', _BETWEEN)}) "
_WITH = f"WITH RECURSIVE {_scopes('told', 'events', _ACTIVE)}, {_scopes('spoken', 'messages')}, p AS ({_FOUND}) "
_IDS, _HIDDEN = (select("value", f"json_each({name})", "TRUE") for name in (":ids", ":without"))
_IS_ASKED = f"(:text = '' OR p.scope IN ({_IDS}) OR {_NAME} LIKE '%' || :like || '%' ESCAPE '\\')"
_FITS = f"{_IS_ASKED} AND p.scope NOT IN ({_HIDDEN})"
_ORDER = "ORDER BY last DESC, p.scope LIMIT :limit OFFSET :offset"
_LATEST = select("max(at)", f"({_LAST})", "TRUE")
_PLACES = _WITH + select(f"p.scope, ({_LATEST}) AS last", "p", _FITS, _ORDER)
_QUICK_PAGE = _AMONG_NEWEST + select("p.scope, p.last AS last", "p", _FITS, _ORDER)
_THIS = f"({select(':scope AS scope', '(VALUES (0))', 'TRUE')}) p"
_NAME_OF = select(_NAME, _THIS, "TRUE")
_COUNTS = (  # from indexes alone
    select("count(*)", "events INDEXED BY events_standing", "scope = ? AND retired_at IS NULL"),
    select("count(*)", "messages", "scope = ?"),
)


def _place_values(agent: str, listing: PlaceListing) -> dict[str, str]:
    """Return the parameters of a listing's query, among them the range of scope keys that its places can have."""
    begin = _SEPARATOR.join((agent, listing.kind, "") if listing.kind else (agent, ""))
    end = begin[:-1] + chr(ord(_SEPARATOR) + 1)
    if listing.place is not None:
        begin, end = listing.place.key, f"{listing.place.key}\x01"
    values = {
        "begin": begin,
        "end": end,
        "private": f"{escaped(_private(agent, ''))}%",
        "agent": agent,
        "group": Scope(agent, "group", "").key,
        "text": listing.text,
        "like": escaped(listing.text),
        "ids": listed([Scope(agent, "group", listing.text).key, _private(agent, listing.text)]),
        "without": listed(_private(agent, person) for person in sorted(listing.without)),
    }
    return dict(zip(values, bound(*values.values()), strict=True))


def _private(agent: str, person: str) -> str:
    return Scope(agent, "private", person).key


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
        values = _place_values(agent, listing)
        numbers = {"limit": bounded(limit), "offset": bounded(offset), "newest": bounded(listing.newest_rows)}
        query = _QUICK_PAGE if listing.newest_rows else _PLACES
        entries: list[PlaceEntry] = []
        for key, last in connection.execute(query, {**values, **numbers}).fetchall():
            name = connection.execute(_NAME_OF, {**values, "scope": key}).fetchone()[0]
            counted = _COUNTS if listing.is_counted else ()
            counts = [connection.execute(count, (key,)).fetchone()[0] for count in counted]
            entries.append(PlaceEntry(Scope.of_key(key), name, *counts, last_at=instant_of(last)))
        return entries

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
