"""Holidays of the solar and the lunar calendar that people name in chats."""

from __future__ import annotations

import re
from datetime import date

from .lunar_calendar import lunar_holiday
from .time_rules import RELATIVE_YEARS, Rule, TimeFrame, nth_weekday, rule
from .time_spans import DAY, TimeSpan, days

_NEAR = 14 * DAY  # range of "before" and "after" a holiday
_HOLIDAYS: dict[str, tuple[int, int, int]] = {  # month, day, length in days
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
    "光棍节": (11, 11, 1),
    "暑假": (7, 1, 62),
    "寒假": (1, 10, 50),
    "平安夜": (12, 24, 1),
    "圣诞": (12, 24, 2),
    "圣诞节": (12, 24, 2),
}
_LUNAR: dict[str, tuple[str, int, int]] = {  # holiday of the table, days after it, length in days
    "春节": ("春节", 0, 7),
    "过年期间": ("春节", -1, 8),
    "过年的时候": ("春节", -1, 8),
    "过年那几天": ("春节", -1, 8),
    "大年初一": ("春节", 0, 1),
    "大年初二": ("春节", 1, 1),
    "大年初三": ("春节", 2, 1),
    "腊八": ("春节", -22, 1),
    "腊八节": ("春节", -22, 1),
    "小年夜": ("春节", -7, 1),
    "正月十五": ("春节", 14, 1),
    "除夕": ("春节", -1, 1),
    "除夕夜": ("春节", -1, 1),
    "大年三十": ("春节", -1, 1),
    "元宵": ("春节", 14, 1),
    "元宵节": ("春节", 14, 1),
    "端午": ("端午", 0, 1),
    "端午节": ("端午", 0, 1),
    "七夕": ("七夕", 0, 1),
    "七夕节": ("七夕", 0, 1),
    "中秋": ("中秋", 0, 1),
    "中秋节": ("中秋", 0, 1),
    "重阳": ("重阳", 0, 1),
    "重阳节": ("重阳", 0, 1),
}
_NTH_WEEKDAYS: dict[str, tuple[int, int, int]] = {  # month, how manyth, weekday (Monday is 0)
    "母亲节": (5, 2, 6),
    "父亲节": (6, 3, 6),
    "感恩节": (11, 4, 3),
}
_COUNTED = "零一二三四五六七八九十百千万月初第老"  # 三百五一晚, 初六一起走, 老六一直不来
_NAMES = "|".join(sorted((*_HOLIDAYS, *_LUNAR, *_NTH_WEEKDAYS), key=len, reverse=True))


def _holiday(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    holiday, named = match["holiday"], _year_named(match, frame)
    first = _begun(holiday, frame.today) if named is None else _first_day(holiday, named)
    last = first + (_length(holiday) - 1) * DAY
    time_span = days(first, last)
    if match["before"]:
        time_span = days(first - _NEAR, first - DAY)
    elif match["after"]:
        time_span = days(last + DAY, last + _NEAR)
    said = f"{first.year}年{holiday}{match['before'] or match['after'] or ''}" if match.groupdict().get("ry") else ""
    # without a relative year the holiday's name is precise enough
    return TimeSpan(time_span.start, time_span.stop, said)


def _year_named(match: re.Match[str], frame: TimeFrame) -> int | None:
    found = match.groupdict()
    if found.get("ry"):
        return frame.today.year + RELATIVE_YEARS[match["ry"]]
    return int(match["y"]) if found.get("y") else None


def _length(holiday: str) -> int:
    return 1 if holiday in _NTH_WEEKDAYS else (_HOLIDAYS.get(holiday) or _LUNAR[holiday])[2]


def _first_day(holiday: str, year: int) -> date:
    if holiday in _NTH_WEEKDAYS:
        return nth_weekday(year, *_NTH_WEEKDAYS[holiday])
    if holiday in _LUNAR:
        name, after, _ = _LUNAR[holiday]
        return lunar_holiday(name, year) + after * DAY
    month, number, _ = _HOLIDAYS[holiday]
    return date(year, month, number)


def _begun(holiday: str, today: date) -> date:
    """Return the first day of a holiday's latest occurrence that began today or before."""
    first = _first_day(holiday, today.year)
    return first if first <= today else _first_day(holiday, today.year - 1)


_WORDS = (
    f"(?P<holiday>{_NAMES})(?![0-9一二三四五六七八九十]|[块元路村]|广场|上河|假期作业|月饼|序曲|联欢|档(?!口)|粽|快乐|工(?![作资])|青鸟|蒜|粥|作业|班(?!里|上))"
    "(?<!元宵(?=[怎煮馅吃和或汤]))(?:(?P<before>[之以]?前(?!后))|(?P<after>[之以]?后(?!天|台)))?"
)
HOLIDAYS: tuple[Rule, ...] = (
    rule("yearless", f"(?<![0-9{_COUNTED}]){_WORDS}", _holiday),
    rule("relative", f"(?P<ry>大前|前|去|今|明|后|本)年的?{_WORDS}", _holiday),
    rule("absolute", f"(?<![0-9])(?P<y>(?:19|20)[0-9]{{2}}) ?年的?{_WORDS}", _holiday),
)
