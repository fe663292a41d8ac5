"""Lists of the ledger's rows for its operator; see the package for the guarantees of all its ports."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from ...domain.event import Event
from ...domain.listing import EventListing, PersonEntry, PlaceEntry, PlaceListing, ProfileSource, SeenName
from ...domain.profile import EntityType, Profile, ProfileKey


class OperatorLists(Protocol):
    """Lists of one agent's rows in pages, the latest first. Nothing is searched, and no scene narrows them."""

    async def events(
        self, agent: str, listing: EventListing, limit: int, offset: int = 0, *, without: Collection[str] = ()
    ) -> list[Event]:
        """Return the events of a listing, newest first; none said by or about the people ``without``."""
        ...

    async def wordings(self, event: Event) -> list[Event]:
        """Return the other wordings of an event: the same place, speaker, instant and messages, oldest first.

        A correction keeps place, speaker, instant and messages, so these are the versions before or after a correction.
        """
        ...

    async def places(self, agent: str, listing: PlaceListing, limit: int, offset: int = 0) -> list[PlaceEntry]:
        """Return places with an active event or a logged line, the one with the newest line or event first.

        Events and lines are counted only for the places of the returned page.
        """
        ...

    async def people(self, agent: str, text: str, limit: int, offset: int = 0) -> list[PersonEntry]:
        """Return the people whose names were seen, the last seen first; opt-out and sharing are not filled in.

        With ``text``, only those whose id equals it or one of whose names contains it, ignoring case.
        """
        ...

    async def names(self, agent: str, user_id: str) -> list[SeenName]:
        """Return the names that a person had in any place, the last seen first."""
        ...

    async def profiles(
        self, agent: str, entity_type: EntityType | None, text: str, limit: int, offset: int = 0
    ) -> list[Profile]:
        """Return profiles, of a type or of all, the last updated first.

        With ``text``, only those whose person or group has it as id, or whose name contains it, ignoring case.
        """
        ...

    async def sources(self, key: ProfileKey, limit: int, offset: int = 0) -> list[ProfileSource]:
        """Return the facts of a profile, the newest first."""
        ...
