"""People: consent, switches of places, incognito periods, names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ...domain.incognito import Incognito
from ...domain.people import Person
from ...domain.place_switch import PlaceSwitch
from ...domain.scope import Scope

MOST_NAMES = 64  # of one person that are hidden; the latest ones where there are more
MOST_ALIASES = 8  # of one person in one place that are returned beside their name


class ConsentBook(Protocol):
    """Opt-outs, sharing consents, and the switch of each place."""

    async def opt_out(self, user_id: str, at: datetime) -> None:
        """Record that a person opts out, in all places."""
        ...

    async def opt_in(self, user_id: str) -> None:
        """Remove a person's opt-out."""
        ...

    async def opted_out(self) -> frozenset[str]:
        """Return the ids of all people who opted out."""
        ...

    async def set_switch(self, switch: PlaceSwitch) -> None:
        """Set the switch of a place, replacing the previous one."""
        ...

    async def switches(self) -> list[PlaceSwitch]:
        """Return the switches that are not "on", including expired ones."""
        ...

    async def set_sharing(self, user_id: str, *, shared: bool, at: datetime) -> None:
        """Record whether a person shares their own profile with all places."""
        ...

    async def shared(self) -> frozenset[str]:
        """Return the ids of all people who share their profile."""
        ...


class IncognitoBook(Protocol):
    """Periods in which people asked not to be recorded in a place."""

    async def keep(self, period: Incognito) -> None:
        """Store a period, or replace the end of the one with the same place, person and start."""
        ...

    async def periods(self) -> list[Incognito]:
        """Return all incognito periods (times in which nothing is recorded), oldest first."""
        ...

    async def drop(self, before: datetime) -> None:
        """Delete the periods that ended before an instant."""
        ...

    async def erase(self, periods: Collection[Incognito], at: datetime) -> None:
        """Erase periods because their person or place was erased; a purge is due afterwards."""
        ...


@dataclass(frozen=True)
class Alias:
    """One name of a person in one place, as exported."""

    scope: Scope
    user_id: str
    name: str
    first_seen_at: datetime
    last_seen_at: datetime


class NameBook(Protocol):
    """Current and earlier names of people, by place."""

    async def note(self, scope: Scope, user_id: str, name: str, at: datetime) -> None:
        """Record a person's name in a place; blank names are ignored."""
        ...

    async def note_all(self, sightings: Sequence[Alias]) -> bool:
        """Record several names; return whether anything was written.

        To spare the disk, nothing is written if only last-seen times would change, by less than an hour each.
        """
        ...

    async def people(self, scope: Scope, user_ids: Iterable[str] = ()) -> list[Person]:
        """Return the people known in a place with their latest names, latest seen first; all, or those in ``user_ids``.

        ``aliases`` are their other names in this place, latest first, at most :data:`MOST_ALIASES`; ``usual`` is the
        name used longest in recent time (:func:`longest_used_name`).
        """
        ...

    async def names_of(self, user_ids: Iterable[str]) -> list[str]:
        """Return current and earlier names of these people in all places, at most :data:`MOST_NAMES` of each person."""
        ...

    async def shared(self, user_ids: Iterable[str], *, with_words: bool = False) -> list[str]:
        """Return those names of these people that another person has in a place where they were seen.

        ``with_words`` adds names that others used there as a word before the name was first seen. A name with which
        the person was first seen in a place is none, once they were seen for a week or on ten lines.
        """
        ...
