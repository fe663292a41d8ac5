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

    ``user_id`` keeps events that a person said or that are about that person. ``state`` is "active", "retired", or
    "relative": active events that do not stand on their own, because the instant or person that a word such as
    "yesterday" or "I" means could not be written out.
    """

    place: Scope | None = None
    user_id: str = ""
    kind: str = ""
    state: EventState = "active"
    window: Interval | None = None


@dataclass(frozen=True)
class LineListing:
    """Which lines of the log are listed; an empty field does not narrow. ``user_id`` keeps what a person said."""

    place: Scope | None = None
    user_id: str = ""
    window: Interval | None = None


@dataclass(frozen=True)
class PlaceListing:
    """Which places are listed; an empty field does not narrow.

    ``text`` keeps places whose id equals it or whose latest name contains it, ignoring case; ``without`` leaves out the
    private chats of these people. If ``is_counted`` is false, the entries' counts are 0.
    """

    place: Scope | None = None
    kind: PlaceKind | None = None
    text: str = ""
    without: frozenset[str] = frozenset()
    is_counted: bool = True


@dataclass(frozen=True)
class PlaceEntry:
    """A place: its latest name, the counts of active events and logged lines, and the instant of the newest one.

    A private chat has the name of its person.
    """

    scope: Scope
    name: str = ""
    events: int = 0
    messages: int = 0
    last_at: datetime | None = None


@dataclass(frozen=True)
class PersonEntry:
    """A person with the name seen last anywhere, the number of their active statements, and when they were seen last.

    For a person who opted out, only the id is set.
    """

    user_id: str
    name: str = ""
    events: int = 0
    last_at: datetime | None = None
    has_opted_out: bool = False
    is_sharing: bool = False


@dataclass(frozen=True)
class SeenName:
    """A name that a person had in a place, with the instants at which it was first and last seen."""

    scope: Scope
    name: str
    first_seen_at: datetime
    last_seen_at: datetime


@dataclass(frozen=True)
class Answering:
    """How often one person answered another in a place, with their names there; id and name of the bot are ""."""

    user_id: str
    answered_id: str
    times: int
    name: str = ""
    answered_name: str = ""


@dataclass(frozen=True)
class ProfileSource:
    """A fact of a profile: its text, the event that it came from, and whether it is merged into the profile yet.

    ``is_withdrawn``: its event was retired; the fact is removed from the profile at the next merge, or was removed.
    """

    event_id: str
    text: str
    happened_at: datetime
    is_merged: bool = False
    is_withdrawn: bool = False
