"""One round of scheduled evolution: every group with enough new lines, the one that waited longest first."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

from .. import sentences
from ..consent import Consent
from ..domain.scope import Scene, log_fields
from ..errors import AlreadyEvolving
from ..ports.clock import Clock
from ..settings import Live, Settings
from ..store.beliefs import BeliefBook, GroupActivity
from .evolver import Evolver

log = logging.getLogger(__name__)
LONGEST = timedelta(days=14)  # unread lines older than that are left out


@dataclass
class EvolutionRounds:
    """Runs evolution rounds, one at a time; ``may_call`` returns whether the day's call budget allows another run.

    If the budget ends a round early, the next one begins with the groups left over, because their last run is longest
    ago.
    """

    evolver: Evolver
    book: BeliefBook
    consent: Consent
    settings: Live[Settings]
    clock: Clock
    may_call: Callable[[], bool]
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def run(self, within: float) -> int:
        """Evolve each due group once, spread over ``within`` seconds; return how many were evolved.

        Returns 0 while another round runs, or if evolution is disabled. Raises UnavailableError, StorageRefused.
        """
        if self._turn.locked() or not self.settings.current.evolution.enabled:
            return 0
        async with self._turn:
            due = await self._due()
            done = 0
            for number, activity in enumerate(due):
                if not self.may_call():
                    log.info("%s", sentences.log.GROUPS_WAIT.format(count=len(due) - number, all=len(due)))
                    break
                if number:
                    await self.sleep(max(within, 0.0) / len(due))
                done += await self._evolved(activity)
            return done

    async def _due(self) -> list[GroupActivity]:
        least = self.settings.current.evolution.min_messages
        return [one for one in await self.book.unread() if self._is_due(one, least)]

    def _is_due(self, activity: GroupActivity, least: int) -> bool:
        is_enough = activity.messages >= max(least, 1)
        return is_enough and self.consent.is_recorded(activity.scope)

    async def _evolved(self, activity: GroupActivity) -> bool:
        scope = activity.scope
        since = max(activity.since, self.clock.now() - LONGEST)
        try:
            evolution = await self.evolver.evolve(Scene.operator(scope.agent, group_id=scope.place_id), since)
        except AlreadyEvolving:
            return False
        said = sentences.log.EVOLVED.format(message=evolution.message)
        log.info("%s", said, extra=log_fields("beliefs", place=scope))
        return True
