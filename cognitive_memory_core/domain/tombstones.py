"""Tombstones: keyed hashes that keep erased data out without revealing whose it was."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from .profile import Profile
from .scope import Scope

_NUMBER = re.compile("[0-9]{5,}")  # a possible user id; shorter numbers are days and counts
RESTORABLE = timedelta(days=30)  # how long a forgotten event can be restored
_WRONG = timedelta(days=1)  # a tombstone further ahead of now than this was dated by a wrong clock


@dataclass(frozen=True)
class Erasure:
    """Counts of what was erased. ``reworded`` counts other people's texts from which the person was removed.

    ``purged`` is true once the bytes are gone from the disk; until then the next purge removes them, and the status
    reports when. ``copies`` lists earlier exports and backups, which people must delete themselves.
    """

    events: int = 0
    messages: int = 0
    memos: int = 0
    pins: int = 0
    beliefs: int = 0
    names: int = 0
    jobs: int = 0
    profiles: int = 0
    reworded: int = 0
    purged: bool = False
    copies: tuple[str, ...] = ()


def covered_until(at: datetime, previous: datetime | None) -> datetime:
    """Return up to which instant a renewed tombstone rejects data: the later of ``at`` and ``previous``.

    A ``previous`` more than a day after ``at`` was dated by a wrong clock and is ignored.
    """
    return at if previous is None or not at < previous <= at + _WRONG else previous


@dataclass(frozen=True)
class Tombstones:
    """Keyed hashes of people and places that were erased, each with the instant up to which their data is rejected."""

    key: bytes = b""
    marks: Mapping[str, datetime] = field(default_factory=dict[str, datetime])

    def covers_person(self, user_id: str, at: datetime) -> bool:
        """Return whether this person was erased at ``at`` or later, so that what they said at ``at`` must stay out."""
        return self._covers(self.of_person(user_id), at) if self.marks else False

    def covers_place(self, scope: Scope, at: datetime) -> bool:
        """Return whether a place was erased at ``at`` or later, so that what was said there at ``at`` must stay out."""
        return self._covers(self.of_place(scope), at) if self.marks else False

    def covers_profile(self, profile: Profile) -> bool:
        """Return whether a profile was last updated before its person, its place or somebody in its text was erased.

        Somebody is recognised in the text by their id only.
        """
        if not self.marks:
            return False
        key, at = profile.key, profile.updated_at
        place = Scope(key.agent, "group", key.group_id) if key.group_id else Scope(key.agent, "private", key.user_id)
        numbers = _NUMBER.findall("\n".join((profile.name, *profile.tags, profile.summary)))
        people = {key.user_id, *numbers} - {""}
        return self.covers_place(place, at) or any(self.covers_person(person, at) for person in people)

    def of_person(self, user_id: str) -> str:
        """Return the hash of a person."""
        return self._digest("person", user_id)

    def of_place(self, scope: Scope) -> str:
        """Return the hash of a place."""
        return self._digest("place", scope.key)

    def _covers(self, digest: str, at: datetime) -> bool:
        until = self.marks.get(digest)
        return until is not None and at <= until

    def _digest(self, kind: str, identifier: str) -> str:
        identity = f"{kind}\x1f{identifier}".encode("utf-8", "surrogatepass")
        return hmac.new(self.key, identity, hashlib.sha256).hexdigest()
