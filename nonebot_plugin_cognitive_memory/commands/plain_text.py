"""Converts what Alconna leaves of a message to plain text."""

from __future__ import annotations

from collections.abc import Iterable

from nonebot_plugin_alconna import At, Text

import cognitive_memory_core as core

from ..heard_names import heard_names
from ..message_text import TEXT_LENGTH, writable


def words_of(rest: Iterable[object], scene: core.Scene | None = None) -> str:
    """Join texts and mentions, using the names heard in the place of ``scene``; other parts are left out."""
    return writable(" ".join(_word(part, scene) for part in rest)[:TEXT_LENGTH]).strip()


def _word(part: object, scene: core.Scene | None) -> str:
    if isinstance(part, At):
        heard = heard_names.name(scene, part.target) if scene else ""
        return f"@{part.display or heard or 'QQ'}({part.target})"
    return part.text if isinstance(part, Text) else part if isinstance(part, str) else ""
