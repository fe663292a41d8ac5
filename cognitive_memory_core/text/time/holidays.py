"""Holidays of the solar and the lunar calendar that people name in chats."""

from __future__ import annotations

import re
from datetime import date

from .time_rules import Rule, TimeFrame, nth_weekday, rule, said, year_of
from .time_spans import DAY, TimeSpan, days
from .vocabulary import either, meaning
from .western_time import FROM, TO

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
_LUNAR = meaning(  # holiday of the table, days after it, length in days
    {
        ("春节", 0, 7): "春节|chinese new year|lunar new year|spring festival",
        ("春节", -1, 8): "过年期间|过年的时候|过年那几天",
        ("春节", 0, 1): "大年初一",
        ("春节", 1, 1): "大年初二",
        ("春节", 2, 1): "大年初三",
        ("春节", -22, 1): "腊八|腊八节",
        ("春节", -7, 1): "小年夜",
        ("春节", -1, 1): "除夕|除夕夜|大年三十",
        ("春节", 14, 1): "元宵|元宵节|正月十五",
        ("端午", 0, 1): "端午|端午节|dragon boat festival|the dragon boat festival",
        ("七夕", 0, 1): "七夕|七夕节",
        ("中秋", 0, 1): "中秋|中秋节|mid-autumn festival|moon festival",
        ("重阳", 0, 1): "重阳|重阳节",
    }
)
_FIRST_YEAR = 2000
_DAYS_AFTER_NEW_YEARS_DAY = {  # in the solar years 2000 to 2049, as a table: computing them requires astronomy
    "春节": (
        "35 23 42 31 21 39 28 48 37 25 44 33 22 40 30 49 38 27 46 35 24 42 31 21 40 28 47 36 25 43 33 22 41 "
        "30 49 38 27 45 34 23 42 31 21 40 29 47 36 25 44 32"
    ),
    "端午": (
        "157 175 165 154 173 161 150 169 159 147 166 156 174 162 152 170 160 149 168 157 176 164 153 172 161 "
        "150 169 159 148 166 155 174 163 151 170 160 150 168 157 146 165 153 172 161 151 169 158 148 166 154"
    ),
    "七夕": (
        "218 236 226 215 234 222 211 230 219 237 227 217 235 224 213 231 221 239 228 218 237 225 215 233 222 "
        "240 230 219 238 227 216 235 224 212 231 221 240 228 218 237 226 214 233 222 212 230 219 238 228 216"
    ),
    "中秋": (
        "255 273 263 253 271 260 278 267 257 275 264 254 273 261 250 269 258 276 266 255 274 263 252 271 260 "
        "278 267 257 276 264 254 273 262 250 269 258 277 266 255 274 263 252 270 259 278 267 257 276 265 253"
    ),
    "重阳": (
        "279 297 286 276 295 283 302 291 280 298 288 277 296 285 274 293 282 300 289 279 298 286 276 295 284 "
        "301 290 280 299 288 277 296 285 273 292 281 300 289 279 298 287 275 294 283 302 290 280 299 289 277"
    ),
}
_TABLE = {holiday: tuple(map(int, numbers.split())) for holiday, numbers in _DAYS_AFTER_NEW_YEARS_DAY.items()}


def _holiday(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Return a holiday of the named year, or else the latest that has begun; "next" is the one a year after that.

    It has a wording only if its year is relative: otherwise its name is precise enough.
    """
    holiday, named = match["holiday"], year_of(match, frame)
    first = _first_day(holiday, frame.today.year if named is None else named)
    if named is None and first > frame.today:
        first = _first_day(holiday, frame.today.year - 1)
    if said(match, "which") == "next":
        first = _first_day(holiday, first.year + 1)
    last = first + ((_SOLAR.get(holiday) or _LUNAR.get(holiday) or (0, 0, 1))[2] - 1) * DAY
    found = days(first, last)
    if said(match, "before"):
        found = days(first - _NEAR, first - DAY)
    elif said(match, "after"):
        found = days(last + DAY, last + _NEAR)
    text = f"{first.year}年{holiday}{said(match, 'before', 'after')}" if said(match, "ry") else ""
    return TimeSpan(found.start, found.stop, text)


def _first_day(holiday: str, year: int) -> date:
    """Return when a holiday begins in a solar year; raise ValueError for a lunar one outside the table."""
    if holiday in _WEEKDAYS:
        return nth_weekday(year, *_WEEKDAYS[holiday])
    if holiday in _SOLAR:
        return date(year, *_SOLAR[holiday][:2])
    name, after, _ = _LUNAR[holiday]
    if not 0 <= year - _FIRST_YEAR < len(_TABLE[name]):
        raise ValueError(year)
    return date(year, 1, 1) + (_TABLE[name][year - _FIRST_YEAR] + after) * DAY


_NAMES = (*_SOLAR, *_WEEKDAYS, *_LUNAR)
_COUNTED = "零一二三四五六七八九十百千万月初第老"  # 三百五一晚, 初六一起走, 老六一直不来
_CHINESE = (
    f"(?P<holiday>{either(name for name in _NAMES if not name.isascii())})"
    "(?![0-9一二三四五六七八九十]|[块元路村]|广场|上河|假期作业|月饼|序曲|联欢|档(?!口)|粽|快乐|工(?![作资])|青鸟|蒜|粥|作业|班(?!里|上))"
    "(?<!元宵(?=[怎煮馅吃和或汤]))(?:(?P<before>[之以]?前(?!后))|(?P<after>[之以]?后(?!天|台)))?"
)
_ENGLISH = f"(?P<holiday>{either(filter(str.isascii, _NAMES))})"
HOLIDAYS: tuple[Rule, ...] = (
    rule("yearless", f"(?<![0-9{_COUNTED}]){_CHINESE}", _holiday),
    rule("relative", f"(?P<ry>大前|前|去|今|明|后|本)年的?{_CHINESE}", _holiday),
    rule("absolute", f"(?<![0-9])(?P<y>(?:19|20)[0-9]{{2}}) ?年的?{_CHINESE}", _holiday),
    rule("yearless", f"{FROM}{_ENGLISH}{TO}(?! (?:tree|carol|card))", _holiday),
    rule("relative", f"{FROM}(?P<which>last|this|next) {_ENGLISH}{TO}", _holiday),
    rule("absolute", f"{FROM}{_ENGLISH}(?: of|,| in)? (?P<y>(?:19|20)[0-9]{{2}}){TO}", _holiday),
)
