"""What an operator lists without a search: criteria, and the entries of the lists."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .interval import Interval
from .scope import PlaceKind, Scope

EventState = Literal["active", "retired", "relative"]


@dataclass(frozen=True)
class EventListing:
    """Which events are listed; an empty field does not narrow.

    ``user_id`` keeps events that a person said or that are about that person. ``state``: "active" ones, "retired" ones,
    or active ones whose statement is "relative", because no instant or person could be written for a word of it.
    """

    place: Scope | None = None
    user_id: str = ""
    kind: str = ""
    state: EventState = "active"
    window: Interval | None = None


@dataclass(frozen=True)
class PlaceListing:
    """Which places are listed; an empty field does not narrow.

    ``text`` keeps places that have it as their id, or in their latest name in any case; ``without`` leaves out the
    private chats of these people. Without ``is_counted`` the entries' counts are 0. With ``newest_rows`` only places
    among that many events and messages stored last are listed: quick however many places there are.
    """

    place: Scope | None = None
    kind: PlaceKind | None = None
    text: str = ""
    without: frozenset[str] = frozenset()
    is_counted: bool = True
    newest_rows: int = 0


@dataclass(frozen=True)
class PlaceEntry:
    """A place with its latest name, its active events, its logged lines, and the instant of the newest of either.

    The name of a private chat is that of its person.
    """

    scope: Scope
    name: str = ""
    events: int = 0
    messages: int = 0
    last_at: datetime | None = None


@dataclass(frozen=True)
class PersonEntry:
    """A person with the name seen last anywhere, the number of their active statements, and when they were seen last.

    Of a person who opted out only the id is given.
    """

    user_id: str
    name: str = ""
    events: int = 0
    last_at: datetime | None = None
    has_opted_out: bool = False
    is_sharing: bool = False


@dataclass(frozen=True)
class WornName:
    """A name that a person wore in a place, with the instants at which it was seen first and last."""

    scope: Scope
    name: str
    first_seen_at: datetime
    last_seen_at: datetime


@dataclass(frozen=True)
class ProfileSource:
    """A fact of a profile: its text, the event that it came from, and whether it is merged into the profile yet.

    ``is_withdrawn``: its event was retired; the fact leaves, or has left, the profile.
    """

    event_id: str
    text: str
    happened_at: datetime
    is_merged: bool = False
    is_withdrawn: bool = False
