"""Current and earlier names of people by place, in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from cognitive_memory_core.domain.erasure_rules import is_covered
from cognitive_memory_core.domain.people import NamePeriod, Person, person_of
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.ports.ledger import MOST_ALIASES, MOST_NAMES, Alias

from .state import InMemoryState


class InMemoryNames:
    """The names of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def note(self, scope: Scope, user_id: str, name: str, at: datetime) -> None:
        """Record a name of a person in a place; blank names are ignored."""
        if not name.strip() or is_covered(self._state.erased, scope, (user_id,), at):
            return
        known = self._state.names.setdefault((scope, user_id, name), Alias(scope, user_id, name, at, at))
        first, last = min(known.first_seen_at, at), max(known.last_seen_at, at)
        self._state.names[scope, user_id, name] = replace(known, first_seen_at=first, last_seen_at=last)

    async def note_all(self, sightings: Sequence[Alias]) -> bool:
        """Record several names unless all are known and were seen recently; return whether any was recorded."""
        named = [alias for alias in sightings if alias.name.strip()]
        is_news = any(map(self._is_news, named))
        for alias in named if is_news else ():
            await self.note(alias.scope, alias.user_id, alias.name, alias.last_seen_at)
        return is_news

    async def people(self, scope: Scope, user_ids: Iterable[str] = ()) -> list[Person]:
        """Return the people of a place with their names."""
        asked = frozenset(user_ids)
        borne: dict[str, list[NamePeriod]] = {}
        for alias in self._latest_first(scope):
            if not asked or alias.user_id in asked:
                worn = NamePeriod(alias.name, alias.first_seen_at.timestamp(), alias.last_seen_at.timestamp())
                borne.setdefault(alias.user_id, []).append(worn)
        return [person_of(user_id, worn, most_aliases=MOST_ALIASES) for user_id, worn in borne.items()]

    async def names_of(self, user_ids: Iterable[str]) -> list[str]:
        """Return the names of these people in any place, the :data:`MOST_NAMES` latest of each."""
        latest: dict[str, dict[str, None]] = {user_id: {} for user_id in user_ids}
        for alias in sorted(self._state.names.values(), key=lambda one: one.last_seen_at, reverse=True):
            if alias.user_id in latest:
                latest[alias.user_id].setdefault(alias.name)
        return list(dict.fromkeys(name for names in latest.values() for name in list(names)[:MOST_NAMES]))

    async def shared(self, user_ids: Iterable[str], *, with_words: bool = False) -> list[str]:
        """Return those of their names that others in their places have or, ``with_words``, used as a word before."""
        asked, names = frozenset(user_ids), self._state.names.values()
        shared: set[str] = set()
        for own in (alias for alias in names if alias.user_id in asked):
            here = {alias.scope for alias in names if alias.user_id == own.user_id}
            since = min(one.first_seen_at for one in names if (one.user_id, one.name) == (own.user_id, own.name))
            others = {one.name for one in names if one.scope in here and one.user_id not in asked}
            is_word = with_words and any(
                one.scene.scope in here
                and one.sent_at < since
                and not one.is_bot
                and one.sender_id not in asked
                and own.name in one.text
                and f"{own.name}({own.user_id}" not in one.text
                for one in self._state.messages.values()
            )
            shared |= {own.name} if own.name in others or is_word else set()
        return sorted(shared)

    def _is_news(self, alias: Alias) -> bool:
        latest = next((one for one in self._latest_first(alias.scope) if one.user_id == alias.user_id), None)
        if latest is None or latest.name != alias.name:
            return True
        is_recent = alias.last_seen_at < latest.last_seen_at + timedelta(hours=1)
        return alias.first_seen_at < latest.first_seen_at or not is_recent

    def _latest_first(self, scope: Scope) -> list[Alias]:
        here = (alias for alias in reversed(self._state.names.values()) if alias.scope == scope)
        return sorted(here, key=lambda one: (one.last_seen_at, one.first_seen_at), reverse=True)
