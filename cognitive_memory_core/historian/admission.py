"""Admission of turns and dialogues by rate limits."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass, field

from .. import sentences
from ..domain.scope import Scene
from ..errors import QueueFull
from ..settings.schema import Live, Settings

PERSON_SHARE = 0.5  # share of a place's rate that one person may use, so that the other members keep room
LOG_PAUSE = 60.0  # seconds between two log lines about refusals
MANY = 1_000  # token buckets held before the full ones are swept
log = logging.getLogger(__name__)


@dataclass
class Admission:
    """Admits turns and dialogues within ``queue.turns_per_minute`` and ``queue.turn_burst``; counts those refused.

    Turns are limited per place and per person. Dialogues are limited per place, in token buckets of their own, so that
    they do not use up the turns of a place. Of each bucket only the instant at which it is full again is stored.
    """

    settings: Live[Settings]
    elapsed: Callable[[], float] = time.monotonic
    refused: int = field(default=0, init=False)
    _full_at: dict[Hashable, float] = field(default_factory=dict[Hashable, float], init=False)
    _logged_at: float = field(default=-math.inf, init=False)

    def admit_turn(self, scene: Scene) -> None:
        """Take a token of the place and one of the person; if either has none, take neither and raise QueueFull."""
        place = ("turn", scene.scope), 1.0, sentences.caller.HERE
        person = ("turn", scene.agent, scene.user_id), PERSON_SHARE, sentences.caller.EACH_PERSON
        self._take(*((place, person) if scene.user_id else (place,)))

    def admit_dialogue(self, scene: Scene) -> None:
        """Take a token of the place's dialogues; raise QueueFull if it has none."""
        self._take((("dialogue", scene.scope), 1.0, sentences.caller.HERE))

    @contextmanager
    def counting(self) -> Generator[None, None, None]:
        """Count each QueueFull of these limits or of the queue in the ``with`` block, and log it once a minute."""
        try:
            yield
        except QueueFull as refusal:
            self.refused += 1
            if (now := self.elapsed()) - self._logged_at >= LOG_PAUSE:
                self._logged_at = now
                log.warning("%s", sentences.log.QUEUE_REFUSED.format(refusal=refusal, count=self.refused))
            raise

    def _take(self, *buckets: tuple[Hashable, float, str]) -> None:
        """Take a token of each bucket: its key, its share of the rate and burst, and whose it is."""
        bounds, now = self.settings.current.queue, self.elapsed()
        if not bounds.turns_per_minute:
            return
        full_at: dict[Hashable, float] = {}
        for key, share, whose in buckets:
            rate, burst = bounds.turns_per_minute * share, max(round(bounds.turn_burst * share), 1)
            interval, full = 60.0 / rate, max(self._full_at.get(key, now), now)
            wait = full - now - (burst - 1) * interval
            if wait > interval * 1e-6:  # sums of intervals are not exact
                said = sentences.caller.TOO_MANY_TURNS
                raise QueueFull(said.format(whose=whose, limit=math.ceil(rate), seconds=math.ceil(wait)))
            full_at[key] = full + interval
        self._full_at |= full_at
        if len(self._full_at) > MANY:
            self._full_at = {key: full for key, full in self._full_at.items() if full > now}
