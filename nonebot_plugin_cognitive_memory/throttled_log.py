"""Rate-limited warnings: the same one is logged at most once a minute."""

from __future__ import annotations

import time

from nonebot import logger

from . import replies
from .bounded_maps import Newest

PAUSE = 60.0  # seconds
REMEMBERED = 100
_last: Newest[str, float] = Newest(REMEMBERED)


def complain(sentence: str) -> None:
    """Log a warning, unless the same was logged within the last minute."""
    now = time.monotonic()
    if now - _last.get(sentence, -PAUSE) < PAUSE:
        return
    _last[sentence] = now
    logger.warning(replies.log.logged(sentence))
