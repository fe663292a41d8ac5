"""The queue's file names, which encode order, identity and attempts: ``{instant}-{job_id}.{attempts}.json``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from ..domain.ids import derived_id

SUFFIX = ".json"
INSTANT_WIDTH = 17  # sixteen digits and a hyphen
LATEST = 9_000_000_000_000_000  # microseconds, the year 2255: later values are invalid
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_JOB_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
_OURS = re.compile(r"([0-9]{16})-([0-9A-Za-z_-]{1,64})\.([0-9]{1,6})\.json")


@dataclass(frozen=True)
class JobName:
    """The fields of a job that its file name encodes."""

    instant: int
    job_id: str
    attempts: int

    def __str__(self) -> str:
        return f"{self.instant:016d}-{self.job_id}.{self.attempts}{SUFFIX}"


def parsed(name: str) -> JobName | None:
    """Parse a file name of this queue; None for any other."""
    match = _OURS.fullmatch(name)
    if match is None or int(match[1]) > LATEST:
        return None
    return JobName(int(match[1]), match[2], int(match[3]))


def job_id_of(name: str) -> str:
    """Return the job id in a name of another format (older versions used ``{job_id}.json``), or derive one from it."""
    stem = name.removesuffix(SUFFIX)
    return stem if is_job_id(stem) else derived_id("file", stem)


def is_job_id(text: str) -> bool:
    """Return whether a job id is valid in a file name on every system."""
    return _JOB_ID.fullmatch(text) is not None


def microseconds(instant: datetime) -> int:
    """Return an instant as microseconds since 1970, clamped to [0, :data:`LATEST`]."""
    return min(max((instant - _EPOCH) // _MICROSECOND, 0), LATEST)


def moment(instant: int) -> datetime:
    """Return the instant of microseconds since 1970."""
    return _EPOCH + instant * _MICROSECOND


class Instants:
    """Issues strictly increasing instants, whatever the clock does, so that names sort by arrival."""

    def __init__(self) -> None:
        """Initialise; the first instant is the clock's."""
        self._last = 0

    def note(self, instant: int) -> None:
        """Never issue ``instant`` or an earlier one, because a file name contains it already."""
        self._last = max(self._last, instant)

    def issued(self, now: datetime) -> int:
        """Return the current time, or the last instant plus one microsecond if that is later."""
        self._last = max(microseconds(now), self._last + 1)
        return self._last
