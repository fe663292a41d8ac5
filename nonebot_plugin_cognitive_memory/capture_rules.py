"""Decides which people and places are recorded, by ``capture.groups``, ``ignore_groups`` and ``ignore_users``."""

from __future__ import annotations

import cognitive_memory_core as core

from .config import setup


def is_captured(scene: core.Scene) -> bool:
    """Return whether the settings allow recording this person and place."""
    capture = setup.settings.capture
    if scene.user_id in capture.ignore_users:
        return False
    is_wanted = not capture.groups or scene.group_id in capture.groups
    return not scene.group_id or (is_wanted and scene.group_id not in capture.ignore_groups)
