"""Conversion between domain objects and rows, and the parts that statements are built of.

Statements hold only this package's own constants and compiled filters; values are always parameters.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import datetime, timedelta, timezone
from functools import lru_cache, partial
from operator import attrgetter
from sqlite3 import Connection, Cursor, DataError
from typing import Any, Generic, TypeVar, cast, get_type_hints

from ...domain.belief import Belief, Change, SuggestionDecision
from ...domain.consent import Incognito, OptOut, PlaceSwitch, Shared
from ...domain.event import Event, Quote, duplicate_key
from ...domain.figures import Spending
from ...domain.ids import derived_id
from ...domain.instants import EARLIEST, FIRST_YEAR, LAST_YEAR, LATEST
from ...domain.message import Message
from ...domain.notes import Memo, Pin
from ...domain.people import Alias
from ...domain.profile import Profile, ProfileKey
from ...domain.scope import Scene, Scope
from ...ports import Vector
from ...text.characters import cleared_on_erasure
from .words import FORM, event_words, line_words

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_MOST_COUNTED = 2**53
MOST = 1_000_000  # maximum rows of one call
KEPT = 2048  # converted rows of a table that stay in memory
LISTED = "(SELECT value FROM json_each(?))"  # any number of values as one parameter
Row = Sequence[Any]
T = TypeVar("T")


@contextmanager
def bytes_replaced(connection: Connection) -> Generator[None, None, None]:
    """Replace bytes that are not UTF-8 by U+FFFD in texts read during the ``with`` block, instead of raising."""
    kept = connection.text_factory
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    try:
        yield
    finally:
        connection.text_factory = kept


def micros(instant: datetime) -> int:
    """Return an instant as microseconds since 1970 in UTC."""
    return (instant - _EPOCH) // _MICROSECOND


def instant_of(microseconds: int) -> datetime:
    """Return the UTC instant of microseconds since 1970, clamped to the range that every time zone can represent."""
    return _EPOCH + timedelta(microseconds=min(max(microseconds, micros(EARLIEST)), micros(LATEST)))


def moment_of(text: str) -> datetime:
    """Parse an instant with its offset, clamped to the range that every time zone can represent."""
    instant = datetime.fromisoformat(text)
    if instant.year < FIRST_YEAR:
        return EARLIEST
    return LATEST if instant.year > LAST_YEAR else instant


def bound(*values: Any) -> tuple[Any, ...]:
    """Prepare values for SQLite: lone surrogates, which UTF-8 cannot encode, are replaced in text."""
    return tuple(
        [
            value.encode("utf-8", "replace").decode() if isinstance(value, str) and not value.isascii() else value
            for value in values
        ]
    )


@cleared_on_erasure
@lru_cache(maxsize=256)  # a commit needs that of a new event five times
def digest(text: str) -> str:
    """Return the hash of a text's :func:`duplicate_key`; an index by this hash finds equal statements."""
    return derived_id(duplicate_key(text))


def vector_of(blob: bytes) -> Vector:
    """Read a vector of 32-bit floats."""
    vector: Vector = array("f")
    vector.frombytes(blob)
    return vector


@dataclass(frozen=True)
class Nested:
    """How a field that is an object itself is stored: in which columns, each as declared, and its conversions."""

    columns: Mapping[str, str]
    write: Callable[[Any], tuple[Any, ...]]
    read: Callable[[tuple[Any, ...]], Any]


class Columns(Generic[T]):
    """The columns of a table, one for each field of a dataclass, by its type, and how objects become its rows.

    ``fields`` are those that an object is made from, and ``declared`` is how a table declares them. Those after them
    follow from them, for searches.
    """

    def __init__(self, kind: type[T], table: str, /, **written: str | Nested | Callable[[T], Any] | None) -> None:
        """Choose the columns.

        ``written`` names the column of an instant that is stored in microseconds, writes a field or a further column,
        tells the columns of a field that is an object itself, or leaves a field out (None).
        """
        self.table, self._kind = table, kind
        hints = get_type_hints(kind)
        columns: dict[str, str] = {}
        self._names: list[str] = []
        self._writes: list[Callable[[T], Any]] = []
        self._reads: list[tuple[str, Callable[[Any], Any]]] = []
        self._nests: list[tuple[str, Nested]] = []
        for name in (field.name for field in fields(cast("Any", kind))):
            how = written.pop(name, name)
            if isinstance(how, Nested):
                self._nests.append((name, how))
            elif how is not None:
                column = how if isinstance(how, str) else name
                stored = _STORED if column == name else _IN_MICROSECONDS
                columns[column], to_column, to_field = stored.get(hints[name], _AS_TEXT)
                self._names.append(name)
                self._writes.append(_writing(name, to_column) if isinstance(how, str) else how)
                self._reads += [(name, to_field)] if to_field else []
        for _, nested in self._nests:
            columns |= nested.columns
        self._derived = cast("list[Callable[[T], Any]]", list(written.values()))
        self.fields = tuple(columns)
        stored_in = (*columns, *written)
        self.insert = f"INSERT INTO {table} ({', '.join(stored_in)}) VALUES ({', '.join('?' * len(stored_in))})"
        self.update = f"UPDATE {table} SET {', '.join(f'{name} = ?' for name in stored_in)}"
        self.declared = ", ".join(f"{name} {declared}" for name, declared in columns.items())
        self._select = f"{self.of()} FROM {table} e"
        # the same rows are found again and again; one that changed is another row
        self.read_again = cleared_on_erasure(lru_cache(maxsize=KEPT)(self.read))

    def of(self, alias: str = "e") -> str:
        """Return the fields as columns of a table's alias."""
        return ", ".join(f"{alias}.{name}" for name in self.fields)

    def values(self, one: T) -> tuple[Any, ...]:
        """Return what is stored of an object: its fields, and what follows from them."""
        nested = [value for name, how in self._nests for value in how.write(getattr(one, name))]
        return bound(*[write(one) for write in self._writes], *nested, *[write(one) for write in self._derived])

    def read(self, row: Row) -> T:
        """Convert a row of ``fields``; one that cannot be converted is damaged, and raises SQLite's DataError."""
        at = len(self._names)
        found: dict[str, Any] = dict(zip(self._names, row[:at], strict=True))
        try:
            for name, conversion in self._reads:
                if (value := found[name]) is not None:
                    found[name] = () if value == "[]" else conversion(value)
            for name, how in self._nests:
                found[name] = how.read(tuple(row[at : at + len(how.columns)]))
                at += len(how.columns)
            return self._kind(**found)
        except (TypeError, ValueError) as damage:
            raise sqlite3.DataError(f"{self.table}: {damage}") from damage

    def added(self, connection: Connection, one: T) -> bool:
        """Insert the row of an object unless the table has it, by one of its unique keys; return whether it was new."""
        return connection.execute(f"{self.insert} ON CONFLICT DO NOTHING", self.values(one)).rowcount > 0

    def found(self, connection: Connection, rest: str, values: Sequence[Any] = ()) -> list[T]:
        """Return the objects of the rows of the table, as ``e``, that the rest of a SELECT chooses."""
        return [self.read_again(row) for row in connection.execute(f"SELECT {self._select} {rest}", values)]

    def first(self, connection: Connection, rest: str, values: Sequence[Any]) -> T | None:
        """Return the object of the first row; None if there is none."""
        row = connection.execute(f"SELECT {self._select} {rest}", values).fetchone()
        return None if row is None else self.read_again(row)

    def beside(
        self, connection: Connection, columns: str, rest: str, values: Sequence[Any] = ()
    ) -> list[tuple[Any, ...]]:
        """Return further columns of each row, and its object after them; all are read before this returns."""
        rows = connection.execute(f"SELECT {columns}, {self._select} {rest}", values).fetchall()
        others = -len(self.fields)
        return [(*row[:others], self.read_again(row[others:])) for row in rows]

    def numbered(self, connection: Connection, rest: str, values: Sequence[Any] = ()) -> list[tuple[int, T]]:
        """Return each object with the seq of its row; all are read before this returns."""
        return [(seq, one) for seq, one in self.beside(connection, "e.seq", rest, values)]


def _writing(name: str, to_column: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    """Return a function that converts a field, if it is not None, for its column."""
    if to_column is None:
        return attrgetter(name)

    def written(one: object) -> object:
        value = getattr(one, name)
        return None if value is None else to_column(value)

    return written


def _quotes_written(quotes: Sequence[Quote]) -> str:
    rows = [
        [one.message_id, one.sender_id, one.text, one.sender_name, one.sent_at and one.sent_at.isoformat()]
        for one in quotes
    ]
    return json.dumps(rows, ensure_ascii=False)


def _quotes_read(written: str) -> tuple[Quote, ...]:
    return tuple(
        Quote(message_id, sender_id, text, name, sent_at and moment_of(sent_at))
        for message_id, sender_id, text, name, sent_at in json.loads(written)
    )


_Stored = tuple[str, Callable[[Any], Any] | None, Callable[[Any], Any] | None]
_AS_TEXT: _Stored = ("TEXT NOT NULL DEFAULT ''", None, None)
_LIST = "TEXT NOT NULL DEFAULT '[]'"
_NUMBER = "INTEGER NOT NULL DEFAULT 0"
_STORED: Mapping[Any, _Stored] = {
    str | None: ("TEXT", None, None),
    int: (_NUMBER, None, None),
    float: ("REAL NOT NULL DEFAULT 0", None, None),
    bool: (_NUMBER, None, bool),
    datetime: (_AS_TEXT[0], datetime.isoformat, moment_of),
    datetime | None: ("TEXT", datetime.isoformat, moment_of),
    Scope: (_AS_TEXT[0], lambda scope: scope.key, Scope.of_key),
    tuple[str, ...]: (_LIST, json.dumps, lambda written: tuple(json.loads(written))),
    tuple[Quote, ...]: (_LIST, _quotes_written, _quotes_read),
}  # by the type of a field: how its column is declared, which is the default of older rows, and its conversions
_IN_MICROSECONDS: Mapping[Any, _Stored] = {
    datetime: ("INTEGER NOT NULL", micros, instant_of),
    datetime | None: ("INTEGER", micros, instant_of),
}
EVENT = Columns(
    Event,
    "events",
    count=lambda event: min(event.count, _MOST_COUNTED),
    scope=lambda event: event.scope.key,
    at_us=lambda event: micros(event.happened_at),
    duplicate_key=lambda event: digest(event.text),
    others_words=lambda event: not event.is_own_words,
    words=event_words,
)
BELIEF = Columns(
    Belief,
    "beliefs",
    tags=lambda belief: json.dumps(belief.tags, ensure_ascii=False),
    quotes=None,
    duplicate_key=lambda belief: digest(belief.statement),
)
CHANGE = Columns(
    Change, "belief_changes", old_quotes=None, new_quotes=None, at_us=lambda change: micros(change.changed_at)
)
MEMO = Columns(Memo, "memos", at_us=lambda memo: micros(memo.written_at))
PIN = Columns(Pin, "pins", at_us=lambda pin: micros(pin.pinned_at))
OPT_OUT = Columns(OptOut, "opt_outs", at="at_us")
SHARED = Columns(Shared, "sharing", at="at_us")
SWITCH = Columns(PlaceSwitch, "switches", until="until_us")
ALIAS = Columns(Alias, "names", first_seen_at="first_us", last_seen_at="last_us")
DECISION = Columns(SuggestionDecision, "decisions", event_ids=None)
SPENDING = Columns(Spending, "spending")
INCOGNITO = Columns(Incognito, "incognito", ends_us=lambda period: micros(period.ends_at))


@cleared_on_erasure
@lru_cache(maxsize=2048)  # the same people speak again and again
def _scene(row: tuple[Any, ...]) -> Scene:
    agent, place, group_id, user_id, user_name, group_name, is_admin = row
    kind = "private" if place == "private" else "group" if user_id else "operator"  # also of a damaged row
    return Scene(kind, agent, group_id, user_id, user_name, group_name, bool(is_admin))


_NAMES = ("group_id", "user_id", "user_name", "group_name")  # of a scene
_IN_SCENE = Nested(
    {
        **dict.fromkeys(("agent", "request_type", *_NAMES), "TEXT NOT NULL"),
        "is_admin": "INTEGER NOT NULL DEFAULT 0",
    },
    lambda scene: (scene.agent, scene.scope.kind, *(getattr(scene, name) for name in _NAMES), scene.is_admin),
    _scene,
)
MESSAGE = Columns(
    Message,
    "messages",
    scene=_IN_SCENE,
    reply_to=Nested({"reply_to": "TEXT"}, lambda message_id: (message_id,), lambda row: row[0] or None),
    sender_id=lambda message: message.sender_id,
    scope=lambda message: message.scene.scope.key,
    at_us=lambda message: micros(message.sent_at),
    words=lambda message: line_words(message, micros(message.sent_at)),
)


KEY = ("agent", "entity_type", "group_id", "user_id")  # of a profile


def key_values(key: ProfileKey) -> tuple[str, ...]:
    """Return a profile's key in the order of :data:`KEY`."""
    return bound(key.agent, key.entity_type, key.group_id, key.user_id)


def profile_digest(profile: Profile) -> str:
    """Return the digest of the text that a profile's vector is made from."""
    return derived_id(json.dumps(bound(profile.name, *profile.tags)), *bound(profile.summary))


PROFILE = Columns(
    Profile,
    "profiles",
    key=Nested(dict.fromkeys(KEY, "TEXT NOT NULL"), key_values, lambda row: ProfileKey(*row)),
    tags=lambda profile: json.dumps(bound(*profile.tags)),
    sources=None,
    words=profile_digest,
)


def refresh_words(connection: Connection) -> None:
    """Make the words of all rows anew if their form changed; a damaged row, which no read returns, has none."""
    if always_kept(connection, "terms") == FORM:
        return
    with bytes_replaced(connection):
        for columns, anew in ((EVENT, "UPDATE events SET words = ?"), (MESSAGE, "UPDATE messages SET words = ?")):
            query, rows = f"SELECT seq, {columns.of()} FROM {columns.table} e", [(0,)]
            while rows := connection.execute(f"{query} WHERE seq > ? ORDER BY seq LIMIT 500", rows[-1][:1]).fetchall():
                connection.executemany(f"{anew} WHERE seq = ?", [(_words(columns, row[1:]), row[0]) for row in rows])
    connection.execute("UPDATE meta SET value = ? WHERE key = 'terms'", (FORM,))


def _words(columns: Columns[Any], row: Row) -> bytes:
    try:
        return columns.values(columns.read(row))[-1]  # the last of the derived columns
    except DataError:
        return b""


def select(columns: str, source: str, where: str, rest: str = "") -> str:
    """Build a SELECT."""
    return f"SELECT {columns} FROM {source} WHERE {where} {rest}"


def listed(values: Iterable[object]) -> str:
    """Return values as a JSON list, the single parameter of :data:`LISTED`."""
    return json.dumps(list(values))


def bounded(limit: int) -> int:
    """Clamp a limit to the range of SQLite's LIMIT; a negative limit becomes 0."""
    return min(max(limit, 0), MOST)


def escaped(text: str) -> str:
    r"""Return a text for LIKE with ESCAPE '\\', which then matches only itself."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def next_revision(connection: Connection) -> int:
    """Increment the ledger's revision and return it; rows of one transaction may share it."""
    connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'revision'")
    return always_kept(connection, "revision")


def always_kept(connection: Connection, key: str) -> Any:
    """Return a value that every ledger keeps in ``meta``; raises sqlite3.DataError if the file was damaged there."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    if row is None:
        raise DataError(f"meta: {key}")
    return row[0]


def new_seq(inserted: Cursor) -> int:
    """Return the seq of the row that a statement has just inserted."""
    return cast("int", inserted.lastrowid)
