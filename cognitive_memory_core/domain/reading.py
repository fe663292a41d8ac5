"""Which rows a read may return, and the lists that it returns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from .event import Event
from .instants import Interval
from .message import Message
from .scope import PlaceKind, Scene, Scope

NARROWED = 40  # candidates of each filter of :meth:`ReadFilter.narrowed`, beside the others
NAMED = 3  # named times, and people, that get a filter of their own


@dataclass(frozen=True)
class ReadFilter:
    """Which rows a read may return. The scene sets the access bounds; all other fields only narrow it.

    ``user_id`` keeps events whose sender, scene person or subject is that person; ``without`` holds the ids of people
    (opted out) whose statements and mentions are excluded.
    """

    scene: Scene
    user_id: str = ""
    group_id: str = ""
    kinds: tuple[str, ...] = ()
    window: Interval | None = None
    without: frozenset[str] = field(default=frozenset())

    def admits(self, event: Event) -> bool:
        """Return whether an event may be shown. Every row is checked, whichever store returned it."""
        told_of = (event.sender_id, *event.subjects)
        is_standing = event.retired_at is None
        return is_standing and self._admits(
            event.scope, event.kind, event.happened_at, event.own_voice, event.user_id, told_of
        )

    def admits_line(self, line: Message) -> bool:
        """Return whether a line may be shown, as :meth:`admits` decides for :meth:`Message.as_event`."""
        scene, sender_id = line.scene, line.sender_id
        told_of = (sender_id or scene.user_id,)
        return self._admits(scene.scope, "message", line.sent_at, sender_id, scene.user_id, told_of)

    def _admits(
        self, scope: Scope, kind: str, at: datetime, voice: str, user_id: str, told_of: Collection[str]
    ) -> bool:
        """Check what ``voice`` said in the presence of ``user_id``; ``told_of`` are its voices and subjects."""
        return (
            scope.readable_by(self.scene, sender_id=voice)
            and (not self.user_id or self.user_id in (user_id, *told_of))
            and (not self.group_id or self.group_id == scope.group_id)
            and (not self.kinds or kind in self.kinds)
            and (self.window is None or at in self.window)
            and self.without.isdisjoint(told_of)
        )

    def narrowed(self, windows: Sequence[Interval], people: Collection[str]) -> Iterator[ReadFilter]:
        """Yield a filter for each time, and for each person, that a query names, unless this one has one already.

        A search with it finds rows that the other rows of a large place would crowd out.
        """
        for window in windows[:NAMED] if self.window is None else ():
            yield replace(self, window=window)
        for person in sorted(people)[:NAMED] if not self.user_id else ():
            yield replace(self, user_id=person)


EventState = Literal["active", "retired", "relative"]


@dataclass(frozen=True)
class EventListing:
    """Which events are listed; an empty field does not narrow.

    ``user_id`` keeps events that a person said or that are about that person, ``voice`` "own" of these what they said
    themselves, and "others" the rest. ``state`` is "active", "retired", or
    "relative": active events that do not stand on their own, because the instant or person that a word such as
    "yesterday" or "I" means could not be written out.
    """

    place: Scope | None = None
    user_id: str = ""
    kind: str = ""
    state: EventState = "active"
    window: Interval | None = None
    voice: Literal["any", "own", "others"] = "any"


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
