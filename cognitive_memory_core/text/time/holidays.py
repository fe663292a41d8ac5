"""Holidays by their names, solar ones, nth weekdays of a month, and lunar ones of 2000 to 2049."""

from __future__ import annotations

import re
from datetime import date

from .calendar_spans import DAY, TimeSpan, days
from .chinese import CALENDAR_YEAR, RELATIVE_YEAR
from .time_rules import Rule, TimeFrame, nth_weekday, rule, said, year_of
from .vocabulary import either, meaning, western
from .western import latin_rule

_NEAR = 14 * DAY  # range of "before" and "after" a holiday
_SOLAR = meaning(  # month, day, length in days
    {
        (1, 1, 1): "元旦|new year's day",
        (2, 14, 1): "情人节|valentine's day",
        (3, 8, 1): "妇女节|三八节|三八妇女节",
        (4, 1, 1): "愚人节",
        (4, 4, 3): "清明|清明节",
        (5, 1, 5): "五一|劳动节",
        (6, 1, 1): "六一|儿童节",
        (6, 7, 3): "高考",
        (9, 10, 1): "教师节",
        (10, 1, 7): "国庆|国庆节",
        (10, 31, 1): "万圣节|halloween",
        (11, 11, 1): "双十一|双11|光棍节",
        (12, 12, 1): "双十二|双12",
        (7, 1, 62): "暑假",
        (1, 10, 50): "寒假",
        (12, 24, 1): "平安夜|christmas eve",
        (12, 24, 2): "圣诞|圣诞节|christmas",
        (12, 31, 1): "new year's eve",
    }
)
_WEEKDAYS = meaning(  # month, how manyth, weekday (Monday is 0)
    {
        (5, 2, 6): "母亲节|mother's day|mothers day|mothers' day",
        (6, 3, 6): "父亲节|father's day|fathers day|fathers' day",
        (11, 4, 3): "感恩节|thanksgiving",
    }
)
_LUNAR = meaning(  # lunar month, day of it, days after that day, length in days
    {
        (1, 1, 0, 7): "春节|chinese new year|lunar new year|spring festival",
        (1, 1, -1, 8): "过年期间|过年的时候|过年那几天",
        (1, 1, 0, 1): "大年初一",
        (1, 2, 0, 1): "大年初二",
        (1, 3, 0, 1): "大年初三",
        (1, 1, -22, 1): "腊八|腊八节",
        (1, 1, -7, 1): "小年夜",
        (1, 1, -1, 1): "除夕|除夕夜|大年三十",
        (1, 15, 0, 1): "元宵|元宵节|正月十五",
        (5, 5, 0, 1): "端午|端午节|dragon boat festival|the dragon boat festival",
        (7, 7, 0, 1): "七夕|七夕节",
        (8, 15, 0, 1): "中秋|中秋节|mid-autumn festival|moon festival",
        (9, 9, 0, 1): "重阳|重阳节",
    }
)
_FIRST_YEAR, _FIRST_DAY = 2000, date(2000, 2, 5)
# The lunar years 2000 to 2049, because computing them requires astronomy: a bit for each month, set if it has 30 days,
# not 29; then the number of the leap month, 0 for none; a digit before all that if the leap month has 30 days.
_LUNAR_CODES = (
    "c960 d954 d4a0 da50 7552 56a0 abb7 25d0 92d0 cab5 a950 b4a0 baa4 ad50 55d9 4ba0 a5b0 15176 52b0 a930 "
    "7954 6aa0 ad50 5b52 4b60 a6e6 a4e0 d260 ea65 d530 5aa0 76a3 96d0 4afb 4ad0 a4d0 1d0b6 d250 d520 dd45 "
    "b5a0 56d0 55b2 49b0 a577 a4b0 aa50 1b255 6d20 ada0"
)
_LUNAR_YEARS = [int(code, 16) for code in _LUNAR_CODES.split()]


def _holiday(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Return a holiday of the named year, or else the latest that has begun; "next" is the one a year after that."""
    holiday, named = match["holiday"], year_of(match, frame)
    first = _first_day(holiday, frame.today.year if named is None else named)
    if named is None and first > frame.today:
        first = _first_day(holiday, frame.today.year - 1)
    if said(match, "which") == "next":
        first = _first_day(holiday, first.year + 1)
    last = first + ((_SOLAR.get(holiday) or _LUNAR.get(holiday) or (1,))[-1] - 1) * DAY
    if said(match, "before"):
        return days(first - _NEAR, first - DAY)
    return days(last + DAY, last + _NEAR) if said(match, "after") else days(first, last)


def _first_day(holiday: str, year: int) -> date:
    """Return when a holiday begins in a solar year; raise ValueError for a lunar one outside the table."""
    if holiday in _WEEKDAYS:
        return nth_weekday(year, *_WEEKDAYS[holiday])
    if holiday in _SOLAR:
        return date(year, *_SOLAR[holiday][:2])
    month, on_day, after, _ = _LUNAR[holiday]
    if not 0 <= year - _FIRST_YEAR < len(_LUNAR_YEARS):
        raise ValueError(year)
    before = sum(_days_before(13, one) for one in _LUNAR_YEARS[: year - _FIRST_YEAR])
    return _FIRST_DAY + (before + _days_before(month, _LUNAR_YEARS[year - _FIRST_YEAR]) + on_day - 1 + after) * DAY


def _days_before(month: int, code: int) -> int:
    """Return the number of days in a lunar year before a month, from the code of the year."""
    lengths = (30 if code & (0x10000 >> one) else 29 for one in range(1, month))
    return sum(lengths) + (29 + (code >> 16) if 0 < code & 0xF < month else 0)


_NAMES = (*_SOLAR, *_WEEKDAYS, *_LUNAR)
_COUNTED = "零一二三四五六七八九十百千万月初第老"  # 三百五一晚, 初六一起走, 老六一直不来
_CHINESE = (
    f"(?P<holiday>{either(name for name in _NAMES if not name.isascii())})"
    "(?![0-9一二三四五六七八九十]|[块元路村]|广场|上河|假期作业|月饼|序曲|联欢|档(?!口)|粽|快乐|工(?![作资])|青鸟|蒜|粥|作业|班(?!里|上))"
    "(?<!元宵(?=[怎煮馅吃和或汤]))(?:(?P<before>[之以]?前(?!后))|(?P<after>[之以]?后(?!天|台)))?"
)
_ENGLISH = f"(?P<holiday>{western(_NAMES)})"
HOLIDAYS: tuple[Rule, ...] = (
    rule("dated", f"(?:{RELATIVE_YEAR}的?|{CALENDAR_YEAR}的?|(?<![0-9{_COUNTED}])){_CHINESE}", _holiday),
    latin_rule(
        "dated",
        f"(?:(?P<which>last|this|next) )?{_ENGLISH}(?:(?: of|,| in)? (?P<y>(?:19|20)[0-9]{{2}}))?"
        "(?! (?:tree|carol|card))",
        _holiday,
    ),
)
