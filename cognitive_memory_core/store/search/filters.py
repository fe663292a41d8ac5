"""Read filters as SQL, and the rows that a read filter admits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from sqlite3 import Connection
from typing import Generic, TypeVar

from ...domain.instants import Interval
from ...domain.reading import ReadFilter
from ...domain.scope import Scene
from ...text.characters import cleared_on_erasure
from ..database.connections import kept
from ..database.rows import EVENT, LISTED, MESSAGE, Columns, Row, listed, micros, select

Values = tuple[str | int, ...]
Filter = tuple[str, Values]

_SPEAKS_OF = f"EXISTS ({select('1', 'event_subjects s', 's.seq = e.seq AND s.subject IN ' + LISTED)})"
NOT_OF = f"e.sender_id NOT IN {LISTED} AND NOT {_SPEAKS_OF}"  # neither by nor about some people
NOT_HIDDEN = f"NOT EXISTS ({select('1', 'veils v', 'v.seq = e.seq')})"  # lines that are not hidden
RESTS_ON_NOTHING = f"e.message_ids <> '[]' AND NOT EXISTS ({select('1', 'event_sources s', 's.seq = e.seq')})"
ON_REQUEST = "f.cause <> 'correction'"
FORGOTTEN = f"EXISTS ({select('1', 'forgotten f', f'f.seq = e.seq AND {ON_REQUEST}')})"
GONE = f"e.retired_at IS NOT NULL AND ({FORGOTTEN} OR ({RESTS_ON_NOTHING}))"  # not only worded anew by a correction


@cleared_on_erasure
@lru_cache(maxsize=256)  # a question asks with the same one again and again
def sql_filter(read_filter: ReadFilter) -> Filter:
    """Compile a read filter over ``events e``: the clause selects exactly the rows that the read filter admits."""
    person, kinds, is_private = read_filter.user_id, read_filter.kinds, read_filter.scene.kind == "private"
    return joined(
        (True, *scene_filter(read_filter.scene)),
        (True, "e.retired_at IS NULL", ()),
        (read_filter.group_id, "e.group_id = ?", (read_filter.group_id,)),
        (read_filter.window, *within(read_filter.window)),
        (is_private, "(e.request_type = 'private' OR e.others_words = 0)", ()),
        (person, f"(e.sender_id = ? OR e.user_id = ? OR {_SPEAKS_OF})", (person, person, listed([person]))),
        (kinds, f"e.kind IN {LISTED}", (listed(kinds),)),
        (read_filter.without, NOT_OF, (listed(sorted(read_filter.without)),) * 2),
    )


@cleared_on_erasure
@lru_cache(maxsize=256)
def message_filter(read_filter: ReadFilter) -> Filter:
    """Compile a read filter over ``messages e``; a line of the bot belongs to the person whom it addresses."""
    return joined(
        (True, *scene_filter(read_filter.scene)),
        (True, NOT_HIDDEN, ()),
        (read_filter.group_id, "e.group_id = ?", (read_filter.group_id,)),
        (read_filter.window, *within(read_filter.window)),
        (read_filter.user_id, "e.user_id = ?", (read_filter.user_id,)),
        (read_filter.kinds and "message" not in read_filter.kinds, "0", ()),
        (read_filter.without, f"e.user_id NOT IN {LISTED}", (listed(sorted(read_filter.without)),)),
    )


def scene_filter(scene: Scene) -> Filter:
    """Compile the scope rule alone, over ``events e`` or ``messages e``."""
    if scene.kind == "operator":
        return "e.agent = ?", (scene.agent,)
    if scene.kind == "group":
        return "e.scope = ?", (scene.scope.key,)
    own_words = "e.agent = ? AND e.sender_id = ? AND e.request_type = 'group'"
    return f"(e.scope = ? OR ({own_words}))", (scene.scope.key, scene.agent, scene.user_id)


@cleared_on_erasure
@lru_cache(maxsize=256)
def place_filter(read_filter: ReadFilter) -> Filter:
    """Compile the filter of the whole place (or places) that contains every row that a read filter admits.

    Search caches are kept per such place.
    """
    scene = read_filter.scene
    if scene.kind == "operator" and read_filter.group_id:
        scene = Scene.operator(scene.agent, group_id=read_filter.group_id)
        return "e.scope = ?", (scene.scope.key,)
    return scene_filter(scene)


def within(window: Interval | None) -> Filter:
    """Compile the interval in which a row of ``e`` must lie."""
    return "e.at_us >= ? AND e.at_us < ?", (micros(window.start), micros(window.stop)) if window else ()


def joined(*parts: tuple[object, str, Values]) -> Filter:
    """Join the clauses whose first member is true."""
    wanted = [(clause, values) for is_wanted, clause, values in parts if is_wanted]
    return " AND ".join(clause for clause, _ in wanted), tuple(value for _, values in wanted for value in values)


T = TypeVar("T")


@dataclass(frozen=True)
class Corpus(Generic[T]):
    """Events, or messages: how they are stored, and their access rule, as SQL and for an object."""

    stored: Columns[T]
    filter_of: Callable[[ReadFilter], Filter]
    admits: Callable[[ReadFilter, T], bool]

    @cached_property
    def columns(self) -> str:
        """What :meth:`admitted` converts: seq and the fields, from the table as ``e``."""
        return f"e.seq, {self.stored.of()}"

    def admitted(self, read_filter: ReadFilter, rows: Iterable[Row]) -> dict[int, T]:
        """Convert rows, and drop those that the read filter does not admit, whatever the query returned."""
        read, admits = self.stored.read_again, self.admits
        return {row[0]: item for row in rows if admits(read_filter, item := read(row[1:]))}

    def at(self, connection: Connection, read_filter: ReadFilter, seqs: Sequence[int]) -> dict[int, T]:
        """Return, by seq and in the given order, those of the rows that the read filter admits."""
        table = self.stored.table
        found = kept(connection, (table, read_filter))  # None: not admitted, or gone
        if missing := [seq for seq in seqs if seq not in found]:
            clause, values = self.filter_of(read_filter)
            query = select(self.columns, f"json_each(?) j CROSS JOIN {table} e", f"e.seq = j.value AND {clause}")
            rows = connection.execute(query, (listed(missing), *values))
            found |= dict.fromkeys(missing) | self.admitted(read_filter, rows)
        return {seq: item for seq in seqs if (item := found[seq]) is not None}


EVENTS = Corpus(EVENT, sql_filter, ReadFilter.admits)
MESSAGES = Corpus(MESSAGE, message_filter, ReadFilter.admits_line)
