"""What happened once, or will, and may happen again: no state that lasts."""

from __future__ import annotations

import re

from ..lexical.folding import folded

_HAPPENS = re.compile("了|过(?!敏)|要|将|准备|打算|计划|决定|改到|取消|(?<![a-z])(?:was|were|will|went|moved)(?![a-z])")


def is_episode(text: str) -> bool:
    """Tell whether a text tells of something that happened or will; of a state now and then, too (需要, 为了)."""
    return _HAPPENS.search(folded(text)) is not None
