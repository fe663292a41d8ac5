"""Merges facts even if a model refuses one of them: finds the refused fact and leaves it out."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ... import sentences
from ...domain.fact import Fact
from ...domain.people import Person
from ...domain.profile import Profile
from ...errors import PermanentError
from ...ports.models import Merger, ProfileContent

log = logging.getLogger(__name__)
MOST_REFUSALS = 16  # refusals per merge: enough to find two among 48 facts, and a bound on the cost


@dataclass(frozen=True)
class MergerWithoutRefused:
    """Merges facts in halves when a model refuses them, until the refused fact is found; merges the others without it.

    A refused fact is left out of the profile, because later merges with it would be refused, too; its event stays. A
    refused withdrawal is carried out by the rules. If the model accepted none of several facts, or refused too often,
    the rules merge the rest.
    """

    model: Merger
    rules: Merger

    async def merge(
        self, person: Person, profile: Profile | None, facts: Sequence[Fact], now: datetime
    ) -> ProfileContent:
        """Return the profile text with the facts merged in; raises UnavailableError, BadAnswer."""
        sieve, parts = _Sieve(person, profile, now), deque([facts])
        while parts and sieve.refusals < MOST_REFUSALS:
            part = parts.popleft()
            try:
                await sieve.take(self.model, part)
                sieve.has_taken = True
            except PermanentError:
                sieve.refusals += 1
                if len(part) > 1:
                    middle = len(part) // 2
                    parts.extendleft((part[middle:], part[:middle]))
                elif part[0].is_withdrawn:
                    await sieve.take(self.rules, part)
                else:
                    sieve.refused += part
        await self._merge_rest(sieve, [fact for part in parts for fact in part], is_alone=len(facts) == 1)
        return sieve.content

    async def _merge_rest(self, sieve: _Sieve, left: Sequence[Fact], *, is_alone: bool) -> None:
        """Merge the facts in ``left`` by the rules, and log the refused facts by id, without their text."""
        if not (sieve.has_taken or is_alone):
            left, sieve.refused = [*sieve.refused, *left], []
        if left:
            await sieve.take(self.rules, left)
        for fact in sieve.refused:
            said = sentences.log.FACT_REFUSED.format(entity_type=fact.key.entity_type, event_id=fact.event_id)
            log.warning("%s", said)


@dataclass
class _Sieve:
    """A merge in progress: the profile so far, and the facts that the model refused."""

    person: Person
    profile: Profile | None
    now: datetime
    refused: list[Fact] = field(default_factory=list[Fact])
    refusals: int = 0
    has_taken: bool = False

    @property
    def content(self) -> ProfileContent:
        """The profile text so far."""
        return ProfileContent(self.profile.tags, self.profile.summary) if self.profile else ProfileContent((), "")

    async def take(self, merger: Merger, facts: Sequence[Fact]) -> None:
        """Let a merger merge facts into the profile so far."""
        drawn = await merger.merge(self.person, self.profile, facts, self.now)
        if drawn != self.content:
            standing = self.profile or Profile(facts[0].key, self.person.name, (), "", updated_at=self.now)
            self.profile = replace(standing, tags=drawn.tags, summary=drawn.summary)
