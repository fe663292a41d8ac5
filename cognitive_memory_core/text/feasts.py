"""Days that people call by a name: those of the solar calendar that a chat speaks of."""

from __future__ import annotations

import re

from .time_spans import DAY, Stretch, days
from .timerule import Frame, Rule, dated, rule

_NEAR = 14 * DAY  # what is said to be before or after a feast
_FEASTS: dict[str, tuple[int, int, int]] = {  # month, day, how many days it lasts
    "元旦": (1, 1, 1),
    "情人节": (2, 14, 1),
    "妇女节": (3, 8, 1),
    "愚人节": (4, 1, 1),
    "清明": (4, 4, 3),
    "清明节": (4, 4, 3),
    "五一": (5, 1, 5),
    "劳动节": (5, 1, 5),
    "六一": (6, 1, 1),
    "儿童节": (6, 1, 1),
    "高考": (6, 7, 3),
    "教师节": (9, 10, 1),
    "国庆": (10, 1, 7),
    "国庆节": (10, 1, 7),
    "万圣节": (10, 31, 1),
    "双十一": (11, 11, 1),
    "双11": (11, 11, 1),
    "双十二": (12, 12, 1),
    "双12": (12, 12, 1),
    "平安夜": (12, 24, 1),
    "圣诞": (12, 24, 2),
    "圣诞节": (12, 24, 2),
}
_COUNTED = "零一二三四五六七八九十百千万月初第老"  # 三百五一晚, 初六一起走, 老六一直不来
_NAMES = "|".join(sorted(_FEASTS, key=len, reverse=True))


def _feast(match: re.Match[str], frame: Frame) -> Stretch:
    month, number, length = _FEASTS[match["feast"]]
    first = dated(None, month, number, frame)
    last = first + (length - 1) * DAY
    if match["before"]:
        return _unwritten(days(first - _NEAR, first - DAY))
    return _unwritten(days(last + DAY, last + _NEAR) if match["after"] else days(first, last))


def _unwritten(stretch: Stretch) -> Stretch:
    """A feast says itself when it is; its dates would say no more."""
    return Stretch(stretch.start, stretch.stop)


FEASTS: tuple[Rule, ...] = (
    rule(
        "yearless",
        f"(?<![0-9{_COUNTED}])(?P<feast>{_NAMES})(?![0-9一二三四五六七八九十]|[块元路村]|广场|上河|假期作业)"
        "(?:(?P<before>[之以]?前(?!后))|(?P<after>[之以]?后(?!天|台)))?",
        _feast,
    ),
)
