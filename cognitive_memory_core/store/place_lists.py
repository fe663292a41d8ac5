"""Lists of places. Each scope of a table is found by one index step, however many rows it has."""

from __future__ import annotations

from sqlite3 import Connection
from typing import Any

from ..domain.listing import PlaceEntry, PlaceListing
from ..domain.scope import Scope
from .database.rows import bound, instant_of
from .database.statements import bounded, escaped, listed, select

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
_PAGE = _WITH + select(f"p.scope, ({_LATEST}) AS last", "p", _FITS, _ORDER)
_QUICK_PAGE = _AMONG_NEWEST + select("p.scope, p.last AS last", "p", _FITS, _ORDER)
_THIS = f"({select(':scope AS scope', '(VALUES (0))', 'TRUE')}) p"
_NAME_OF = select(_NAME, _THIS, "TRUE")
_COUNTS = (  # from indexes alone
    select("count(*)", "events INDEXED BY events_standing", "scope = ? AND retired_at IS NULL"),
    select("count(*)", "messages", "scope = ?"),
)


def places(connection: Connection, agent: str, listing: PlaceListing, page: tuple[int, int]) -> list[PlaceEntry]:
    """Return a page of the places of an agent; names and counts are read only for the places on the page."""
    values = _values(agent, listing)
    numbers = {"limit": page[0], "offset": page[1], "newest": bounded(listing.newest_rows)}
    found = connection.execute(_QUICK_PAGE if listing.newest_rows else _PAGE, {**values, **numbers}).fetchall()
    named = [
        (key, _single_value(connection, _NAME_OF, {**values, "scope": key}), instant_of(last)) for key, last in found
    ]
    if not listing.is_counted:
        return [PlaceEntry(Scope.of_key(key), name, last_at=last) for key, name, last in named]
    return [PlaceEntry(Scope.of_key(key), name, *_counts(connection, key), last) for key, name, last in named]


def _counts(connection: Connection, key: str) -> tuple[int, int]:
    events, messages = (_single_value(connection, query, (key,)) for query in _COUNTS)
    return events, messages


def _single_value(connection: Connection, query: str, values: Any) -> Any:
    return connection.execute(query, values).fetchone()[0]


def _values(agent: str, listing: PlaceListing) -> dict[str, str]:
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
