"""What an event says of one person or group, on its way into their profile."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .ids import derived_id
from .profile import ProfileKey

EventKind = Literal["event", "preference", "knowledge", "experience", "message"]


@dataclass(frozen=True)
class Fact:
    """One statement that waits for one profile. Code chose the profile: from where it was said, and by whom.

    One that ``is_withdrawn`` is in the profile already and must leave it: its event stands no more.
    """

    key: ProfileKey
    event_id: str
    text: str
    kind: EventKind
    happened_at: datetime
    is_withdrawn: bool = False

    @property
    def id(self) -> str:
        """The same for the same event and profile."""
        key = self.key
        return derived_id("fact", self.event_id, key.agent, key.entity_type, key.group_id, key.user_id)
