"""Facts: statements about one person or group that wait to be merged into a profile."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .ids import derived_id
from .profile import ProfileKey

EventKind = Literal["event", "preference", "knowledge", "experience", "message"]


@dataclass(frozen=True)
class Fact:
    """One statement to be merged into one profile; code chooses the profile from the place and the speaker.

    If ``is_withdrawn``, the profile already contains it and the merge must remove it, because its event was retired or
    its speaker said something else instead.
    """

    key: ProfileKey
    event_id: str
    text: str
    kind: EventKind
    happened_at: datetime
    is_withdrawn: bool = False

    @property
    def id(self) -> str:
        """An id derived from the event and the profile, hence stable."""
        key = self.key
        return derived_id("fact", self.event_id, key.agent, key.entity_type, key.group_id, key.user_id)
