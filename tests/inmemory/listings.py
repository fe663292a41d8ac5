"""Lists of rows for the operator, in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.listing import (
    EventListing,
    PersonEntry,
    PlaceEntry,
    PlaceListing,
    ProfileSource,
    SeenName,
)
from cognitive_memory_core.domain.profile import EntityType, Profile, ProfileKey
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.ports.ledger import Alias

from .state import InMemoryState

T = TypeVar("T")


class InMemoryListings:
    """The lists of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def events(
        self, agent: str, listing: EventListing, limit: int, offset: int = 0, *, without: Collection[str] = ()
    ) -> list[Event]:
        """Return the events of a listing, newest first."""
        found = [
            event
            for event in reversed(self._state.events.values())
            if event.agent == agent and _is_of(listing, event) and not {event.sender_id, *event.subjects} & {*without}
        ]
        return _page(sorted(found, key=lambda event: event.happened_at, reverse=True), limit, offset)

    async def wordings(self, event: Event) -> list[Event]:
        """Return the other wordings of an event, oldest first."""
        same = (event.scope, event.sender_id, event.happened_at, event.message_ids)
        return [
            one
            for one in self._state.events.values()
            if one.id != event.id and (one.scope, one.sender_id, one.happened_at, one.message_ids) == same
        ]

    async def places(self, agent: str, listing: PlaceListing, limit: int, offset: int = 0) -> list[PlaceEntry]:
        """Return places, the latest first."""
        events = [event for event in self._state.events.values() if event.agent == agent]
        said = [message for (scope, _), message in self._state.messages.items() if scope.agent == agent]
        standing = {event.scope for event in events if event.retired_at is None}
        entries: list[PlaceEntry] = []
        for scope in standing | {message.scene.scope for message in said}:
            here = sorted((one for one in said if one.scene.scope == scope), key=lambda one: one.sent_at)
            happened = [event.happened_at for event in events if event.scope == scope]
            active = sum(event.scope == scope and event.retired_at is None for event in events)
            name = here[-1].scene.group_name if here else ""
            if scope.kind == "private":
                worn = [alias for alias in self._aliases(agent) if alias.scope == scope]
                name = max(worn, key=lambda alias: alias.last_seen_at).name if worn else ""
            last = max([*happened, *(one.sent_at for one in here)])
            entries.append(PlaceEntry(scope, name, active, len(here), last))
        wanted = [entry for entry in entries if _is_place_of(listing, entry)]
        if listing.newest_rows:
            wanted = [entry for entry in wanted if entry.scope in self._newest(listing.newest_rows)]
        latest = sorted(wanted, key=lambda entry: entry.last_at.timestamp() if entry.last_at else 0.0, reverse=True)
        shown = _page(latest, limit, offset)
        return shown if listing.is_counted else [replace(entry, events=0, messages=0) for entry in shown]

    def _newest(self, rows: int) -> set[Scope]:
        standing = [event.scope for event in self._state.events.values() if event.retired_at is None]
        return {*standing[-rows:], *(scope for scope, _ in [*self._state.messages][-rows:])}

    async def people(self, agent: str, text: str, limit: int, offset: int = 0) -> list[PersonEntry]:
        """Return the people whose names were seen, the last seen first."""
        latest: dict[str, Alias] = {}
        for alias in self._aliases(agent):
            is_asked = not text or alias.user_id == text or text.lower() in alias.name.lower()
            known = latest.get(alias.user_id)
            if is_asked and (known is None or alias.last_seen_at > known.last_seen_at):
                latest[alias.user_id] = alias
        entries = [
            PersonEntry(alias.user_id, alias.name, self._statements(agent, alias.user_id), alias.last_seen_at)
            for alias in sorted(latest.values(), key=lambda one: (-one.last_seen_at.timestamp(), one.user_id))
        ]
        return _page(entries, limit, offset)

    async def names(self, agent: str, user_id: str) -> list[SeenName]:
        """Return a person's names, the last seen first."""
        own = [alias for alias in self._aliases(agent) if alias.user_id == user_id]
        return [
            SeenName(alias.scope, alias.name, alias.first_seen_at, alias.last_seen_at)
            for alias in sorted(own, key=lambda alias: alias.last_seen_at, reverse=True)
        ]

    async def profiles(
        self, agent: str, entity_type: EntityType | None, text: str, limit: int, offset: int = 0
    ) -> list[Profile]:
        """Return profiles, the last updated first."""
        found = [
            profile
            for key, profile in self._state.profiles.items()
            if key.agent == agent and entity_type in (None, key.entity_type)
            if not text or text in (key.user_id, key.group_id) or text.lower() in profile.name.lower()
        ]
        newest_first = sorted(found, key=lambda one: one.updated_at, reverse=True)
        return _page(newest_first, limit, offset)

    async def sources(self, key: ProfileKey, limit: int, offset: int = 0) -> list[ProfileSource]:
        """Return the facts of a profile, the newest first."""
        found: list[ProfileSource] = []
        for noted in reversed(self._state.facts.of(key)):
            fact, event = noted.fact, self._state.events[noted.fact.event_id]
            is_withdrawn = event.retired_at is not None
            found.append(ProfileSource(event.id, fact.text, fact.happened_at, noted.is_merged, is_withdrawn))
        return _page(found, limit, offset)

    def _aliases(self, agent: str) -> list[Alias]:
        return [alias for alias in self._state.names.values() if alias.scope.agent == agent]

    def _statements(self, agent: str, user_id: str) -> int:
        own = (one for one in self._state.events.values() if one.agent == agent and one.sender_id == user_id)
        return sum(event.retired_at is None for event in own)


def _is_of(listing: EventListing, event: Event) -> bool:
    is_retired = event.retired_at is not None
    return (
        is_retired == (listing.state == "retired")
        and (listing.state != "relative" or not event.is_absolute)
        and (listing.place is None or event.scope == listing.place)
        and (not listing.user_id or listing.user_id in (event.sender_id, *event.subjects))
        and (not listing.kind or event.kind == listing.kind)
        and (listing.window is None or event.happened_at in listing.window)
    )


def _is_place_of(listing: PlaceListing, entry: PlaceEntry) -> bool:
    scope = entry.scope
    return (
        listing.place in (None, scope)
        and listing.kind in (None, scope.kind)
        and (not listing.text or listing.text == scope.place_id or listing.text.lower() in entry.name.lower())
        and (scope.kind == "group" or scope.place_id not in listing.without)
    )


def _page(rows: Sequence[T], limit: int, offset: int) -> list[T]:
    start = max(offset, 0)
    return list(rows[start : start + max(limit, 0)])
