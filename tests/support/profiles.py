"""What tests of portraits need beside the nouns."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from cognitive_memory_core.adapters.files.profiles import FileProfiles
from cognitive_memory_core.adapters.inmemory.profiles import InMemoryProfiles
from cognitive_memory_core.domain.profile import Profile, ProfileKey

from .clock import NOON

Profiles = FileProfiles | InMemoryProfiles
KEEP = 5
TANG = ProfileKey.user("2000001")
TANG_THERE = ProfileKey.member("10001", "2000001")
GROUP_KEY = ProfileKey.group("10001")
MILI_THERE = ProfileKey.member("10001", "2000002")


def a_profile(summary: str = "阿棠喜欢乌龙茶。", key: ProfileKey = TANG, at: datetime = NOON, **fields: Any) -> Profile:
    """Make a portrait that nobody has kept yet."""
    known: dict[str, Any] = {"name": "阿棠", "tags": ("茶", "编程"), "source_event_id": "abc123_0", **fields}
    return Profile(key, summary=summary, updated_at=at, **known)
