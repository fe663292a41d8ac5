"""Compiles read filters to SQL, from typed values only, never from user text."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...domain.interval import Interval
from ...domain.listing import EventListing, EventState, LineListing
from ...domain.read_filter import ReadFilter
from ...domain.scope import Scene
from ..database.rows import bound, micros
from ..database.sql import LISTED, listed, select

Filter = tuple[str, tuple[str | int, ...]]

_SPEAKS_OF = f"EXISTS ({select('1', 'event_subjects s', 's.seq = e.seq AND s.subject IN ' + LISTED)})"
NOT_HIDDEN = f"NOT EXISTS ({select('1', 'veils v', 'v.seq = e.seq')})"  # lines that are not hidden
RESTS_ON_NOTHING = f"e.message_ids <> '[]' AND NOT EXISTS ({select('1', 'event_sources s', 's.seq = e.seq')})"
ON_REQUEST = "f.cause <> 'correction'"
FORGOTTEN = f"EXISTS ({select('1', 'forgotten f', f'f.seq = e.seq AND {ON_REQUEST}')})"
GONE = f"e.retired_at IS NOT NULL AND ({FORGOTTEN} OR ({RESTS_ON_NOTHING}))"  # not only worded anew by a correction
_NOTHING: Filter = ("0", ())
_STATES: Mapping[EventState, str] = {
    "active": "e.retired_at IS NULL",
    "retired": GONE,
    "relative": "e.retired_at IS NULL AND e.is_absolute = 0",
}


def sql_filter(read_filter: ReadFilter) -> Filter:
    """Compile a read filter over ``events e``: the clause selects exactly the rows that the read filter admits."""
    parts: list[Filter] = [scene_filter(read_filter.scene), ("e.retired_at IS NULL", ()), *_common(read_filter)]
    if read_filter.scene.kind == "private":
        parts.append(("(e.request_type = 'private' OR e.others_words = 0)", ()))
    if read_filter.user_id:
        person = read_filter.user_id
        parts.append((f"(e.sender_id = ? OR e.user_id = ? OR {_SPEAKS_OF})", (person, person, listed([person]))))
    if read_filter.kinds:
        parts.append((f"e.kind IN {LISTED}", (listed(read_filter.kinds),)))
    if read_filter.without:
        names = listed(sorted(read_filter.without))
        parts.append((f"e.sender_id NOT IN {LISTED} AND NOT {_SPEAKS_OF}", (names, names)))
    return _all(parts)


def message_filter(read_filter: ReadFilter) -> Filter:
    """Compile a read filter over ``messages e``; a line of the bot belongs to the person whom it addresses."""
    parts: list[Filter] = [scene_filter(read_filter.scene), (NOT_HIDDEN, ()), *_common(read_filter)]
    if read_filter.user_id:
        parts.append(("e.user_id = ?", (read_filter.user_id,)))
    if read_filter.kinds and "message" not in read_filter.kinds:
        parts.append(_NOTHING)
    if read_filter.without:
        parts.append((f"e.user_id NOT IN {LISTED}", (listed(sorted(read_filter.without)),)))
    return _all(parts)


def listing_filter(agent: str, listing: EventListing, without: Collection[str]) -> Filter:
    """Compile an operator's list over ``events e``: the clause selects exactly the rows of the list."""
    parts: list[Filter] = [("e.agent = ?", bound(agent)), (_STATES[listing.state], ())]
    if listing.place is not None:
        parts.append(("e.scope = ?", bound(listing.place.key)))
    if listing.user_id:
        said = select("seq", "events", "agent = ? AND sender_id = ?")
        about = select("seq", "event_subjects", "subject = ?")
        parts.append((f"e.seq IN ({said} UNION ALL {about})", bound(agent, listing.user_id, listing.user_id)))
    if listing.kind:
        parts.append(("e.kind = ?", bound(listing.kind)))
    if listing.window is not None:
        parts.append(_within(listing.window))
    if without:
        names = listed(sorted(without))
        parts.append((f"e.sender_id NOT IN {LISTED} AND NOT {_SPEAKS_OF}", (names, names)))
    return _all(parts)


def line_filter(agent: str, listing: LineListing, without: Collection[str]) -> Filter:
    """Compile a list of lines over ``messages e``; none of the people ``without``, or of the bot's to them."""
    parts: list[Filter] = [("e.agent = ?", bound(agent)), (NOT_HIDDEN, ())]
    if listing.place is not None:
        parts.append(("e.scope = ?", bound(listing.place.key)))
    if listing.user_id:
        parts.append(("e.sender_id = ?", bound(listing.user_id)))
    if listing.window is not None:
        parts.append(_within(listing.window))
    if without:
        parts.append((f"e.user_id NOT IN {LISTED}", (listed(without),)))
    return _all(parts)


def missed_filter(agent: str | None, without: Collection[str]) -> Filter:
    """Compile a list of failed recalls whose events are active, over ``missed m`` and ``events e``."""
    parts: list[Filter] = [("e.retired_at IS NULL", ())]
    if agent is not None:
        parts.append(("e.agent = ?", bound(agent)))
    if without:
        names = listed(sorted(without))
        parts.append((f"m.user_id NOT IN {LISTED} AND e.sender_id NOT IN {LISTED} AND NOT {_SPEAKS_OF}", (names,) * 3))
    return _all(parts)


def scene_filter(scene: Scene) -> Filter:
    """Compile the scope rule alone, over ``events e`` or ``messages e``."""
    if scene.kind == "operator":
        return "e.agent = ?", (scene.agent,)
    if scene.kind == "group":
        return "e.scope = ?", (scene.scope.key,)
    own_words = "e.agent = ? AND e.sender_id = ? AND e.request_type = 'group'"
    return f"(e.scope = ? OR ({own_words}))", (scene.scope.key, scene.agent, scene.user_id)


def place_filter(read_filter: ReadFilter) -> Filter:
    """Compile the filter of the whole place (or places) that contains every row that a read filter admits.

    Search caches are kept per such place.
    """
    scene = read_filter.scene
    if scene.kind == "operator" and read_filter.group_id:
        scene = Scene.operator(scene.agent, group_id=read_filter.group_id)
        return "e.scope = ?", (scene.scope.key,)
    return scene_filter(scene)


def _common(read_filter: ReadFilter) -> list[Filter]:
    parts: list[Filter] = []
    if read_filter.group_id:
        parts.append(("e.group_id = ?", (read_filter.group_id,)))
    if read_filter.window is not None:
        parts.append(_within(read_filter.window))
    return parts


def _within(window: Interval) -> Filter:
    return "e.at_us >= ? AND e.at_us < ?", (micros(window.start), micros(window.stop))


def _all(parts: list[Filter]) -> Filter:
    return " AND ".join(clause for clause, _ in parts), tuple(value for _, values in parts for value in values)
