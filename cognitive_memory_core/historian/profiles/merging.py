"""Brings waiting facts into portraits: who is due, several entities at once, none twice, and what went wrong waits."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from ...background import BackgroundLoop, Trouble, latest
from ...domain.profile import ProfileKey
from ...errors import CognitiveMemoryError, TransientError, UnavailableError
from ...ports.ledger import PendingFacts
from ...text.failures import described
from .entity_merge import EntityMerge
from .merge_times import due_at

log = logging.getLogger(__name__)
POLL = 0.25  # seconds between two looks at the clock, which nobody hears of when it is set
GATHERED = 0.1  # seconds in which new facts come together
LOOKS = 60.0  # seconds between two looks at the ledger that nothing called for
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0  # seconds, where model or store is away


@dataclass(frozen=True)
class MergeState:
    """For how many ``profiles`` how many ``facts`` wait; ``failing`` of those profiles could not be merged so far."""

    profiles: int = 0
    facts: int = 0
    failing: int = 0
    last_error: str = ""


class ProfileMerging:
    """One loop that keeps up to ``historian.concurrency`` entities in work; facts wait until their portrait is written.

    An entity is due with ``merge_max_facts`` facts or after ``merge_delay_seconds`` (its first portrait sooner), by
    the clock. A merge that fails is repeated after a growing pause, which is kept in the ledger; where model or store
    is away, nothing is counted and all wait.
    """

    def __init__(self, entity: EntityMerge, *, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Merge entities; ``elapsed`` times the pauses while something is away."""
        self._entity = entity
        self._elapsed = elapsed
        self.trouble = Trouble("historian_profile_merge")
        self.loop = BackgroundLoop("historian_profile_merge", self._round, gathered=GATHERED, on_failure=self._call)
        self._beginning = asyncio.Lock()
        self._hands: dict[asyncio.Task[None], ProfileKey] = {}
        self._ended: deque[tuple[ProfileKey, BaseException | None]] = deque()
        self._due: deque[ProfileKey] = deque()
        self._next_due: datetime | None = None
        self._looked_at = 0.0
        self._unlucky: set[ProfileKey] = set()  # whose last merge found model or store away
        self._pause = FIRST_PAUSE
        self._rests_until = 0.0
        self._is_called = self._is_hurried = self._stopping = False
        self.paused = False

    @property
    def last_error(self) -> str:
        """Why the last merge that went wrong did; "" when none waits for another try."""
        return latest(self.troubles)

    @property
    def troubles(self) -> list[Trouble]:
        """What may be wrong with merges, and with looking for them."""
        return [self.trouble, self.loop.trouble]

    @property
    def is_idle(self) -> bool:
        """Whether no merge is in hand; facts may wait all the same."""
        return not self._hands

    def nudge(self) -> None:
        """Look for new facts soon."""
        self._call()
        self.loop.nudge()

    def hurry(self) -> None:
        """Merge at once whatever waits, but what failed within its pause; call it when no more facts are to come."""
        self._is_hurried = True
        self._call()
        self.loop.hurry()

    async def waiting(self) -> int:
        """Count the facts that wait, also while they are being merged; those of people left out are not counted."""
        return sum(one.facts for one in await self._waiting())

    async def state(self) -> MergeState:
        """Say for the status what waits and what went wrong."""
        waiting = await self._waiting()
        error = next((one.error for one in waiting if one.attempts and one.error), "")
        failing = sum(1 for one in waiting if one.attempts)
        return MergeState(len(waiting), sum(one.facts for one in waiting), failing, self.last_error or error)

    async def run(self) -> None:
        """Merge until cancelled; only cancellation escapes."""
        self._stopping = False
        try:
            await self.loop.run()
        finally:
            await self._let_go()

    async def stop(self) -> None:
        """Let merges in hand end within ``shutdown_seconds``; what does not is done again another time."""
        self._stopping = True
        if self._hands:
            await asyncio.wait(self._hands, timeout=self._entity.settings.current.historian.shutdown_seconds)
        await self._let_go()
        with contextlib.suppress(UnavailableError):
            await self._decide()

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None, None]:
        """Let nothing be in work until the block is left; what is being written is written first."""
        async with self._beginning:
            await self._let_go()
            self._due.clear()
            yield
        self.nudge()

    async def _round(self) -> float:
        """Look for work when called, or when something is due; the clock is looked at every moment."""
        if self._is_called or self._is_time():
            self._is_called = False
            await self._look()
        return POLL

    def _call(self) -> None:
        self._is_called = True

    async def _look(self) -> None:
        await self._decide()
        if self._elapsed() < self._rests_until:
            return
        self._rests_until = 0.0
        if not self.paused:
            async with self._beginning:
                await self._fill_hands()

    async def _fill_hands(self) -> None:
        most = self._entity.settings.current.historian.concurrency
        while len(self._hands) < most and (self._due or await self._finds_due()) and not self._stopping:
            self._begin(self._due.popleft())

    async def _finds_due(self) -> bool:
        """Look who is due, longest waiting first; all of them have their turn before anybody's next."""
        self._looked_at = self._elapsed()
        waiting = await self._waiting()
        now, in_work = self._entity.clock.now(), self._in_work()
        portrayed = await self._entity.index.portrayed([one.key for one in waiting])
        when = {one.key: self._due_at(one, now, portrayed) for one in waiting if one.key not in in_work}
        due = [key for key, at in when.items() if at <= now]
        self._due = deque(due)
        self._next_due = min((at for at in when.values() if at > now), default=None)
        self._is_hurried = self._is_hurried and bool(due)
        self._unlucky &= when.keys() | in_work
        if not self._unlucky:  # the ledger answers, and nobody misses anything else
            self._pause = FIRST_PAUSE
            if not any(one.attempts for one in waiting):
                self.trouble.end()
        return bool(due)

    def _due_at(self, one: PendingFacts, now: datetime, portrayed: Collection[ProfileKey]) -> datetime:
        is_first = one.key not in portrayed
        profile = self._entity.settings.current.profile
        return due_at(one, profile, now, is_first=is_first, is_hurried=self._is_hurried)

    async def _waiting(self) -> Sequence[PendingFacts]:
        return [one for one in await self._entity.book.waiting() if not self._entity.is_left_out(one.key)]

    def _in_work(self) -> set[ProfileKey]:
        return {*self._hands.values(), *(key for key, _ in self._ended)}

    def _begin(self, key: ProfileKey) -> None:
        task = asyncio.create_task(self._entity.merge(key), name=f"merge-{key.entity_type}")
        self._hands[task] = key
        task.add_done_callback(self._put_down)

    def _put_down(self, task: asyncio.Task[None]) -> None:
        key = self._hands.pop(task)
        if not task.cancelled():
            self._ended.append((key, task.exception()))
        self._call()
        self.loop.hurry()

    async def _let_go(self) -> None:
        in_hand = list(self._hands)
        for task in in_hand:
            task.cancel()
        await asyncio.gather(*in_hand, return_exceptions=True)

    async def _decide(self) -> None:
        """Draw the conclusions from merges that ended; what cannot be noted down is noted later."""
        while self._ended:
            await self._conclude(*self._ended[0])
            self._ended.popleft()

    async def _conclude(self, key: ProfileKey, error: BaseException | None) -> None:
        if error is None:
            self._go_on(key)
        elif isinstance(error, UnavailableError):
            self._unlucky.add(key)
            self._be_patient(error)
        else:
            await self._entity.book.fail(key, _told(error), self._entity.clock.now())
            log.warning("historian_profile_merge %s: %s", _whose(key), _told(error))
            self.trouble.tell(_told(error), is_logged=True)

    def _go_on(self, key: ProfileKey) -> None:
        self._pause, self._rests_until = FIRST_PAUSE, 0.0
        self._unlucky.discard(key)

    def _be_patient(self, error: Exception) -> None:
        """Leave a model or store that is away alone for a while, as long as it wishes itself."""
        wished = error.retry_after if isinstance(error, TransientError | UnavailableError) else None
        self._rests_until = self._elapsed() + min(max(self._pause, wished or 0.0), LONGEST_PAUSE)
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
        self.trouble.tell(_told(error))

    def _is_time(self) -> bool:
        if self._rests_until:
            return self._elapsed() >= self._rests_until
        is_due = self._next_due is not None and self._entity.clock.now() >= self._next_due
        return is_due or self._elapsed() >= self._looked_at + LOOKS


def _told(error: BaseException) -> str:
    """Say an error in one line; of one that nobody foresaw only its class, since it may quote somebody."""
    return described(error) if isinstance(error, CognitiveMemoryError) else type(error).__name__


def _whose(key: ProfileKey) -> str:
    """Name a portrait by kind and ids."""
    ids = " ".join(f"{what}={value}" for what, value in (("group", key.group_id), ("user", key.user_id)) if value)
    return f"{key.entity_type} {ids}"
