"""Computes when the facts of a profile are due to be merged."""

from __future__ import annotations

from datetime import datetime, timedelta

from ...settings import ProfileSettings
from ...store.facts import PendingFacts

FIRST_DELAY = 20.0  # seconds that facts wait if there is no profile yet
PAUSES = (60.0, 3600.0, 86400.0)  # seconds after the first failure in a row, the second, and every further one
LONGEST_HIDDEN = 3600.0  # seconds between two tries while the profile is hidden for a withdrawn fact
LONGEST_WAIT = 86_400.0  # seconds that fewer facts than merge_min_facts wait for more
LEARNING_DELAY = 10.0  # seconds that facts wait at least while jobs wait, which may bring more of them
_LONGEST_DELAY = 1e8  # seconds; a longer delay would overflow a date


def due_at(
    waiting: PendingFacts,
    settings: ProfileSettings,
    now: datetime,
    *,
    is_first: bool,
    skips_waiting: bool,
    is_learning: bool = False,
) -> datetime:
    """Return when the facts of one profile are due; stored instants in the future count as past.

    Fewer than ``merge_min_facts`` facts of an existing profile wait for more, a day at the longest, unless there is no
    delay at all. Withdrawn facts are due at once. ``skips_waiting`` skips the wait for more facts. Even withdrawn or
    hurried facts wait for the end of the pause after a failure. ``is_learning`` says that jobs are waiting: then facts
    wait a few seconds even without a delay.
    """
    least = LEARNING_DELAY if is_learning else 0.0
    delay = _delay(waiting, settings, least, is_first=is_first, skips_waiting=skips_waiting)
    ready = now if waiting.since > now else waiting.since + timedelta(seconds=delay)
    failed_at = waiting.failed_at
    if failed_at is None or failed_at > now:
        return ready
    pause = pause_after(waiting.attempts)
    return max(ready, failed_at + timedelta(seconds=min(pause, LONGEST_HIDDEN) if waiting.withdrawn else pause))


def pause_after(failures: int) -> float:
    """Return the pause in seconds after ``failures`` failures in a row."""
    return PAUSES[min(max(failures, 1), len(PAUSES)) - 1]


def _delay(
    waiting: PendingFacts, settings: ProfileSettings, least: float, *, is_first: bool, skips_waiting: bool
) -> float:
    if skips_waiting or waiting.withdrawn or waiting.facts >= settings.merge_max_facts:
        return 0.0
    delay = min(settings.merge_delay_seconds, _LONGEST_DELAY)
    if is_first:
        return max(min(delay, FIRST_DELAY), least)
    is_enough = waiting.facts >= settings.merge_min_facts or not delay
    return max(delay if is_enough else max(delay, LONGEST_WAIT), least)
