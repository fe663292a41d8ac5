"""Detection of events that happened or will happen once, as opposed to lasting states."""

from __future__ import annotations

import re

from ..lexical.folding import folded

_HAPPENS = re.compile("了|过(?!敏)|要|将|准备|打算|计划|决定|改到|取消|(?<![a-z])(?:was|were|will|went|moved)(?![a-z])")


def is_episode(text: str) -> bool:
    """Return whether a text describes a past or future event; some states match, too (需要, 为了)."""
    return _HAPPENS.search(folded(text)) is not None
