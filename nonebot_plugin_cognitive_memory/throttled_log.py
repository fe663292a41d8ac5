"""Rate-limited warnings: the same one is logged at most once a minute."""

from __future__ import annotations

import time
from collections import OrderedDict

from nonebot import logger

from . import replies

PAUSE = 60.0  # seconds
REMEMBERED = 100
_last: OrderedDict[str, float] = OrderedDict()


def complain(sentence: str) -> None:
    """Log a warning, unless the same was logged within the last minute."""
    now = time.monotonic()
    if now - _last.get(sentence, -PAUSE) < PAUSE:
        return
    _last[sentence] = now
    _last.move_to_end(sentence)
    if len(_last) > REMEMBERED:
        _last.popitem(last=False)
    logger.warning(replies.log.logged(sentence))
