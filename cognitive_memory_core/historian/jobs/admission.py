"""Rate limits per person and per place, applied before a turn or dialogue is cleaned or written."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass, field

from ... import sentences
from ...domain.scope import Scene
from ...errors import QueueFull
from ...settings import Live, QueueSettings, Settings

PERSON_SHARE = 0.5  # share of a place's rate that one person may use, so that the other members keep room
LOG_PAUSE = 60.0  # seconds between two log lines about refusals
MANY = 1_000  # buckets held before the full ones are swept
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Allowance:
    """The size of a token bucket: it has at most ``burst`` tokens and gains ``per_minute`` tokens a minute."""

    per_minute: float
    burst: int

    @property
    def interval(self) -> float:
        """Seconds between two tokens."""
        return 60.0 / self.per_minute

    def share(self, part: float) -> Allowance:
        """Return the allowance scaled by ``part``, with a burst of at least one."""
        return Allowance(self.per_minute * part, max(round(self.burst * part), 1))


class TokenBuckets:
    """One token bucket per key, full at first. For each bucket only the instant at which it is full again is stored."""

    def __init__(self) -> None:
        """Start with full buckets."""
        self._full_at: dict[Hashable, float] = {}
        self._sweep_at = MANY

    def __len__(self) -> int:
        """Return the number of stored buckets; one that was not used for long is full and may be dropped."""
        return len(self._full_at)

    def wait(self, key: Hashable, allowance: Allowance, now: float) -> float:
        """Return the seconds until the bucket has a token; 0 if it has one."""
        missing = max(self._full_at.get(key, now) - now, 0.0)
        wait = missing - (allowance.burst - 1) * allowance.interval
        return wait if wait > allowance.interval * 1e-6 else 0.0  # sums of intervals are not exact

    def take(self, key: Hashable, allowance: Allowance, now: float) -> None:
        """Remove a token from a bucket."""
        self._full_at[key] = max(self._full_at.get(key, now), now) + allowance.interval
        if len(self._full_at) > self._sweep_at:
            self._full_at = {key: full_at for key, full_at in self._full_at.items() if full_at > now}
            self._sweep_at = max(2 * len(self._full_at), MANY)


@dataclass
class Admission:
    """Admits turns and dialogues within ``queue.turns_per_minute`` and ``queue.turn_burst``; counts those refused.

    Turns are limited per place and per person. Dialogues are limited per place, in buckets of their own, so that they
    do not use up the turns of a place.
    """

    settings: Live[Settings]
    elapsed: Callable[[], float] = time.monotonic
    refused: int = field(default=0, init=False)
    _buckets: TokenBuckets = field(default_factory=TokenBuckets, init=False)
    _logged_at: float = field(default=-math.inf, init=False)

    def admit_turn(self, scene: Scene) -> None:
        """Take a token of the place and one of the person; if either has none, take neither and raise QueueFull."""
        bounds, now = self.settings.current.queue, self.elapsed()
        if not bounds.turns_per_minute:
            return
        here = _allowance(bounds)
        each = here.share(PERSON_SHARE)
        place, person = ("turn", scene.scope), ("turn", scene.agent, scene.user_id)
        self._check(sentences.caller.TOO_MANY_TURNS_HERE, bounds.turns_per_minute, self._buckets.wait(place, here, now))
        if scene.user_id:
            limit = math.ceil(each.per_minute)
            self._check(sentences.caller.TOO_MANY_TURNS_OF_PERSON, limit, self._buckets.wait(person, each, now))
            self._buckets.take(person, each, now)
        self._buckets.take(place, here, now)

    def admit_dialogue(self, scene: Scene) -> None:
        """Take a token of the place's dialogues; raise QueueFull if it has none."""
        bounds, now = self.settings.current.queue, self.elapsed()
        if not bounds.turns_per_minute:
            return
        here, place = _allowance(bounds), ("dialogue", scene.scope)
        self._check(sentences.caller.TOO_MANY_TURNS_HERE, bounds.turns_per_minute, self._buckets.wait(place, here, now))
        self._buckets.take(place, here, now)

    @contextmanager
    def counting(self) -> Generator[None, None, None]:
        """Count each QueueFull raised in the ``with`` block, by these limits or by the queue."""
        try:
            yield
        except QueueFull:
            self.refused += 1
            raise

    def _check(self, said: str, limit: int, wait: float) -> None:
        if wait <= 0:
            return
        refusal, now = said.format(limit=limit, seconds=math.ceil(wait)), self.elapsed()
        if now - self._logged_at >= LOG_PAUSE:
            self._logged_at = now
            log.warning("%s", sentences.log.QUEUE_REFUSED.format(refusal=refusal, count=self.refused + 1))
        raise QueueFull(refusal)


def _allowance(bounds: QueueSettings) -> Allowance:
    return Allowance(bounds.turns_per_minute, bounds.turn_burst)
