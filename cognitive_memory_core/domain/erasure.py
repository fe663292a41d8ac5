"""What remains of what was erased: enough to keep it out, too little to tell who it was."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from .profile import Profile
from .scope import Scope

_NUMBER = re.compile("[0-9]{5,}")  # what may be somebody's id; shorter ones are days and counts
RESTORABLE = timedelta(days=30)  # after it was forgotten an event can be restored for so long
_WRONG = timedelta(days=1)  # a tombstone so far ahead of now was laid by a wrong clock


@dataclass(frozen=True)
class Erasure:
    """What was forgotten, counted. ``reworded`` texts of others name nobody now.

    ``purged`` tells whether the bytes are gone from the disk already; else they go with the next purge, and the
    status says when. ``copies`` names the exports and backups that were made before and that only people can remove.
    """

    events: int = 0
    messages: int = 0
    memos: int = 0
    pins: int = 0
    names: int = 0
    jobs: int = 0
    profiles: int = 0
    reworded: int = 0
    purged: bool = False
    copies: tuple[str, ...] = ()


def covered_until(at: datetime, standing: datetime | None) -> datetime:
    """Give the instant of a tombstone that is laid once more: the later, unless a clock was wrong the first time."""
    return at if standing is None or not at < standing <= at + _WRONG else standing


@dataclass(frozen=True)
class Tombstones:
    """Keyed hashes of people and places that were erased, each with the latest instant that it covers."""

    key: bytes = b""
    marks: Mapping[str, datetime] = field(default_factory=dict[str, datetime])

    def covers_person(self, user_id: str, at: datetime) -> bool:
        """Tell whether what this person said, or what happened with them, at ``at`` was erased."""
        return self._covers(self.of_person(user_id), at) if self.marks else False

    def covers_place(self, scope: Scope, at: datetime) -> bool:
        """Tell whether what was said in a place at ``at`` was erased."""
        return self._covers(self.of_place(scope), at) if self.marks else False

    def covers_profile(self, profile: Profile) -> bool:
        """Tell whether whom a portrait is of, its group, or somebody whose number it holds was erased after it."""
        if not self.marks:
            return False
        key, at = profile.key, profile.updated_at
        place = Scope(key.agent, "group", key.group_id) if key.group_id else Scope(key.agent, "private", key.user_id)
        numbers = _NUMBER.findall("\n".join((profile.name, *profile.tags, profile.summary)))
        people = {key.user_id, *numbers} - {""}
        return self.covers_place(place, at) or any(self.covers_person(person, at) for person in people)

    def of_person(self, user_id: str) -> str:
        """Give the hash of a person."""
        return self._digest("person", user_id)

    def of_place(self, scope: Scope) -> str:
        """Give the hash of a place."""
        return self._digest("place", scope.key)

    def _covers(self, digest: str, at: datetime) -> bool:
        until = self.marks.get(digest)
        return until is not None and at <= until

    def _digest(self, kind: str, identifier: str) -> str:
        said = f"{kind}\x1f{identifier}".encode("utf-8", "surrogatepass")
        return hmac.new(self.key, said, hashlib.sha256).hexdigest()
