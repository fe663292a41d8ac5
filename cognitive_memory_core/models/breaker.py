"""Circuit breakers for models and stores: after five failures in a row, calls are refused at once."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from typing import Literal, TypeVar

from .. import sentences
from ..domain.scope import log_fields
from ..errors import Busy, CognitiveMemoryError, ModelRefused, UnavailableError

log = logging.getLogger(__name__)
State = Literal["uninitialised", "ready", "failed"]
MAX_FAILURES = 5  # failures in a row
FIRST_PAUSE, LONGEST_PAUSE = 2.0, 300.0
T = TypeVar("T")


class Breaker:
    """Refuses calls to a component for a growing pause after five failures in a row, then lets one call probe.

    Only UnavailableError counts, except Busy: a component that answers, however badly, is available. If an error has a
    ``retry_after``, calls are refused until that time, even after the first failure.
    """

    def __init__(self, name: str, *, elapsed: Callable[[], float] = time.monotonic) -> None:
        """Guard the component of this name; ``elapsed`` returns monotonic seconds."""
        self.name = name
        self.state: State = "uninitialised"
        self.last_error = ""
        self.refusal = ""  # of the provider; an operator must act
        self._refused_at = 0.0
        self._elapsed = elapsed
        self._failures = 0
        self._pause = FIRST_PAUSE
        self._paused_until = 0.0
        self._is_probing = False

    async def call(self, act: Callable[[], Awaitable[T]], *, overdue: float | None = None) -> T:
        """Call the component, or raise UnavailableError at once while the breaker is open.

        A call that runs for more than ``overdue`` seconds is reported then, while its caller still waits.
        """
        is_probe = self.state == "failed"
        rest = self._paused_until - self._elapsed()
        if rest > 0 or (is_probe and self._is_probing):
            message = sentences.log.PART_RESTS.format(part=self.name, reason=self.last_error)
            error = (ModelRefused if self.refusal else UnavailableError)(message, retry_after=max(rest, FIRST_PAUSE))
            if isinstance(error, ModelRefused):
                error.waited = self._elapsed() - self._refused_at
            raise error
        self._is_probing = is_probe
        timer = asyncio.get_running_loop().call_later(overdue, self._note_overdue, overdue) if overdue else None
        try:
            answer = await act()
        except Busy:
            raise
        except UnavailableError as error:
            self._note_failure(error, is_probe=is_probe)
            raise
        except CognitiveMemoryError:
            self._note_success()
            raise
        finally:
            if timer:
                timer.cancel()
            if is_probe:
                self._is_probing = False
        self._note_success()
        return answer

    def renew(self) -> None:
        """Forget every failure, because the component was replaced by another one."""
        self.state, self._failures, self._pause, self._paused_until = "uninitialised", 0, FIRST_PAUSE, 0.0
        self.last_error = self.refusal = ""

    def try_now(self) -> None:
        """Let the next call through, however long calls would still be refused."""
        self._paused_until = 0.0

    def give_up(self) -> None:
        """Let the rules take what the provider refuses, without waiting longer."""
        self._refused_at = -math.inf

    def _note_overdue(self, seconds: float) -> None:
        self.last_error = sentences.log.PART_DOES_NOT_ANSWER.format(part=self.name, seconds=seconds)
        if self.state != "failed":
            self._warn(sentences.log.PART_HANGS.format(reason=self.last_error))
        self.state = "failed"

    def _note_failure(self, error: UnavailableError, *, is_probe: bool) -> None:
        if isinstance(error, ModelRefused):
            self._refused_at = self._refused_at if self.refusal else self._elapsed()
            self.refusal, error.waited = str(error), self._elapsed() - self._refused_at
        self.last_error = str(error)
        self._failures += 1
        self._paused_until = max(self._paused_until, self._elapsed() + (error.retry_after or 0.0))
        if self._failures < MAX_FAILURES or (self.state == "failed" and not is_probe):  # a straggler tells nothing new
            return
        if is_probe:
            self._pause = min(self._pause * 2, LONGEST_PAUSE)
        else:
            self._warn(sentences.log.PART_FAILED.format(part=self.name, reason=self.last_error))
        self.state = "failed"
        self._paused_until = max(self._paused_until, self._elapsed() + self._pause)

    def _note_success(self) -> None:
        if self.state == "failed":
            self._warn(sentences.log.PART_IS_BACK.format(part=self.name))
        self.state, self._failures, self._pause = "ready", 0, FIRST_PAUSE
        self.last_error = self.refusal = ""

    def _warn(self, message: str) -> None:
        log.warning("%s", message, extra=log_fields("part", part=self.name))
