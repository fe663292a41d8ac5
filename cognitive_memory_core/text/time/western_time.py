"""English time expressions and the most common ones of other European languages: month names, last week, days ago."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from .lunar_calendar import lunar_holiday
from .numerals import number
from .time_rules import (
    Rule,
    SpanReader,
    TimeFrame,
    Unit,
    ago,
    dated,
    day_of_month,
    lately,
    latest_nth_weekday,
    month_of,
    nth_weekday,
    open_weekend,
    quarter_of,
    rule,
    some,
    stepped_quarter,
    weekday,
)
from .time_spans import DAY, WEEK, TimeSpan, day, days, moment, monday_of, month, shifted, week, weekend, year

_MONTH_NAMES = (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
)
_MONTHS = {name: index for names in _MONTH_NAMES for index, name in enumerate(names.split(), 1)} | {"sept": 9}
_WEEKDAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday"
_WEEKDAYS = {name: index for index, name in enumerate(_WEEKDAY_NAMES.split())}
_DAYS = {
    "the day before yesterday": -2,
    **dict.fromkeys(("yesterday", "gestern", "hier", "ieri", "ayer"), -1),
    **dict.fromkeys(("today", "tonight", "heute", "oggi", "hoy", "aujourd'hui"), 0),
    **dict.fromkeys(("tomorrow", "morgen", "demain", "domani", "manana"), 1),
    "the day after tomorrow": 2,
}
_STEPS = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1}
_PARTS = {"morning": "早上", "afternoon": "下午", "evening": "晚上", "night": "晚上"}
_UNIT_NAMES: dict[Unit, str] = {
    "second": "second seconds",
    "minute": "minute minutes",
    "hour": "hour hours stunden heures horas ore",
    "day": "day days tag tage tagen jour jours dia dias giorno giorni",
    "week": "week weeks woche wochen semaine semaines semana semanas settimana settimane",
    "month": "month months monat monate monaten mois mes meses mese mesi",
    "year": "year years jahr jahre jahren an ans annee annees ano anos anno anni",
}
_SHORT_NAMES: dict[Unit, str] = {  # 2mos ago; only after digits
    "second": "s sec secs",
    "minute": "m min mins",
    "hour": "h hr hrs",
    "day": "d",
    "week": "w wk wks",
    "month": "mo mos mon mons mth mths",
    "year": "y yr yrs",
}
_UNITS: dict[str, Unit] = {name: unit for unit, names in _UNIT_NAMES.items() for name in names.split()}
_SHORT: dict[str, Unit] = {name: unit for unit, names in _SHORT_NAMES.items() for name in names.split()}
_SEASONS = {"spring": "春天", "summer": "夏天", "autumn": "秋天", "fall": "秋天", "winter": "冬天"}
_QUARTER_WORDS = {
    word: index
    for words in ("first second third fourth", "1st 2nd 3rd 4th", "q1 q2 q3 q4")
    for index, word in enumerate(words.split(), 1)
}
_HOLIDAYS: dict[str, tuple[int, int, int]] = {  # month, day, length in days
    "new year's day": (1, 1, 1),
    "valentine's day": (2, 14, 1),
    "halloween": (10, 31, 1),
    "christmas eve": (12, 24, 1),
    "christmas": (12, 24, 2),
    "new year's eve": (12, 31, 1),
}
_NTH_WEEKDAYS: dict[str, tuple[int, int, int]] = {  # month, how manyth, weekday (Monday is 0)
    **dict.fromkeys(("mother's day", "mothers day", "mothers' day"), (5, 2, 6)),
    **dict.fromkeys(("father's day", "fathers day", "fathers' day"), (6, 3, 6)),
    "thanksgiving": (11, 4, 3),
}
_LUNAR: dict[str, tuple[str, int]] = {  # holiday of the table, length in days
    **dict.fromkeys(("chinese new year", "lunar new year", "spring festival"), ("春节", 7)),
    **dict.fromkeys(("dragon boat festival", "the dragon boat festival"), ("端午", 1)),
    **dict.fromkeys(("mid-autumn festival", "moon festival"), ("中秋", 1)),
}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1} | {
    "1st": 1,
    "2nd": 2,
    "3rd": 3,
    "4th": 4,
    "5th": 5,
}
_THIRDS = {"early": "初", "mid": "中", "late": "底"}


def _either(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_FROM = "(?=[a-z0-9])(?<![a-z0-9_])"  # a Chinese character ends a Latin word; the cheap lookahead comes first
_TO = "(?![a-z0-9_])"
_UNIT = f"(?P<unit>{_either(_UNITS)}){_TO}"
_MONTH = f"(?P<month>{_either(_MONTHS)})\\.?"
_WEEKDAY = f"(?P<on>{_either(_WEEKDAYS)})"
_SHORT_UNIT = f"(?P<n>[0-9]{{1,3}}) ?(?P<short>{_either(_SHORT)})"
_COUNT = "(?P<n>[0-9]{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_FEW = "(?:a )?(?:few|several)"
_COUPLE = "(?:a )?couple(?: of)?"
_DAY = "(?P<d>[0-3]?[0-9])(?:st|nd|rd|th|\\.)?(?![0-9:])"
_YEAR = "(?:,? ?(?:del? )?(?P<y>[0-9]{4})(?![0-9]))"
_STEP = f"(?P<which>{_either(_STEPS)})"
_HOLIDAY = f"(?P<holiday>{_either((*_HOLIDAYS, *_NTH_WEEKDAYS, *_LUNAR))})"
_SEASON = f"(?P<season>{_either(_SEASONS)})"
_NAMED_QUARTER = (  # not the key, the car, the match and the hamburger
    "(?:the )?(?:(?P<q>first|second|third|fourth|1st|2nd|3rd|4th)[ -]quarter"
    "(?![a-z0-9_-]| (?:final|pounder|mile|note|back|century))"
    "|(?<!press )(?<!audi )(?<!奥迪)(?P<q2>q[1-4])(?![a-z0-9_]|[键纸币]| ?(?:key|button|是哪)))"
)
_NTH = f"(?:on )?(?:the )?(?P<count>{_either(_ORDINALS)}) {_WEEKDAY} (?:of|in)"
_WEEK = "week|woche|semaine|settimana|semana"
_LATIN_UNITS = "semaine|mois|annee|an|week-end|fine settimana|settimana|mese|anno|fin de semana|semana|mes|ano"
_WEEKEND = "weekend|week-end|wochenende|fine settimana|fin de semana"


_MONTHS_OF_A_YEAR = 12
_CENTURY = 100


def _full_year(digits: str) -> int:
    named = int(digits)
    return named if named >= _CENTURY else named + 2000


def _word(match: re.Match[str], group: str) -> str:
    return match[group] or ""


def _day(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    word = _word(match, "word")
    part = "晚上" if word == "tonight" else _PARTS.get(_word(match, "part"), "")
    return day(frame.today + _DAYS[word if word in _DAYS else f"the {word}"] * DAY, part)


def _part_of_day(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    step = -1 if _word(match, "which") == "last" else 0
    return day(frame.today + step * DAY, _PARTS[_word(match, "part")])


def _stepped(unit: str, step: int, frame: TimeFrame) -> TimeSpan:
    monday = monday_of(frame.today) + step * WEEK
    if unit in _WEEKEND.split("|"):  # the last weekend may be the current one
        return open_weekend(frame) if step < 0 else weekend(monday)
    if unit in _WEEK.split("|"):
        return week(monday)
    if _UNITS[unit] == "month":
        return month(shifted(frame.today.replace(day=1), step))
    return year(frame.today.year + step)


def _step(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return _stepped(_word(match, "unit"), _STEPS[_word(match, "which")], frame)


def _last(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return _stepped(_word(match, "unit"), -1, frame)


def _season(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Return a season of the named year, or of this year; "last" is the latest that ended, "next" the first to come."""
    season = _SEASONS[_word(match, "season")]
    named = int(match["y"]) if match.groupdict().get("y") else frame.today.year
    found = year(named, season)
    which = match.groupdict().get("which")
    if which in ("last", "previous", "past"):
        return found if found.stop <= frame.now else year(named - 1, season)
    if which in ("next", "coming"):
        return found if found.start > frame.now else year(named + 1, season)
    return found


def _holiday(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Return a holiday of the named year, or else the latest that has begun; "next" is the one a year after that."""
    holiday, named = _word(match, "holiday"), match.groupdict().get("y")
    length = (
        _LUNAR[holiday][1] if holiday in _LUNAR else (*_HOLIDAYS.get(holiday, ()), 1)[2 if holiday in _HOLIDAYS else 0]
    )
    first = _first_day(holiday, int(named) if named else frame.today.year)
    if not named and first > frame.today:
        first = _first_day(holiday, frame.today.year - 1)
    if match.groupdict().get("which") == "next":
        first = _first_day(holiday, first.year + 1)
    found = days(first, first + (length - 1) * DAY)
    return TimeSpan(found.start, found.stop)


def _first_day(holiday: str, number_of_year: int) -> date:
    if holiday in _LUNAR:
        return lunar_holiday(_LUNAR[holiday][0], number_of_year)
    if holiday in _NTH_WEEKDAYS:
        return nth_weekday(number_of_year, *_NTH_WEEKDAYS[holiday])
    return date(number_of_year, *_HOLIDAYS[holiday][:2])


def _nth_weekday(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Return a day such as the second Sunday or last Friday of a month; without a year, of the latest such month."""
    found = match.groupdict()
    if found.get("which"):
        first = shifted(frame.today.replace(day=1), _STEPS[match["which"]])
    else:
        first = dated(int(found["y"]) if found.get("y") else None, _MONTHS[_word(match, "month")], 1, frame)
    count, index = _ORDINALS[_word(match, "count")], _WEEKDAYS[_word(match, "on")]
    return day(nth_weekday(first.year, first.month, count, index))


def _nth_weekday_alone(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return day(latest_nth_weekday(_ORDINALS[_word(match, "count")], _WEEKDAYS[_word(match, "on")], frame))


def _numbered(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return day(day_of_month(int(match["d"]), frame))


def _quarter(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    named = match.groupdict().get("y")
    return quarter_of(_full_year(named) if named else None, _QUARTER_WORDS[_word(match, "q") or match["q2"]], frame)


def _stepped_quarter(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return stepped_quarter(_STEPS[_word(match, "which")], frame)


def _before_last(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return _stepped(_word(match, "unit"), -2, frame)


def _third_of_month(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    named = match.groupdict().get("y")
    third = _THIRDS[_word(match, "third")]
    return month_of(int(named) if named else None, _MONTHS[_word(match, "month")], frame, third)


def _weekday(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return day(weekday(_WEEKDAYS[_word(match, "on")], frame))


def _stepped_weekday(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    index, step = _WEEKDAYS[_word(match, "on")], _STEPS[_word(match, "which")]
    if step < 0:
        return day(frame.today - ((frame.today.weekday() - index - 1) % 7 + 1) * DAY)
    return day(monday_of(frame.today) + step * WEEK + index * DAY)


def _stepped_month(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    index, step = _MONTHS[_word(match, "month")], _STEPS[_word(match, "which")]
    first = date(frame.today.year, index, 1)
    if step < 0 and index >= frame.today.month:
        first = first.replace(year=first.year - 1)
    if step > 0 and index <= frame.today.month:
        first = first.replace(year=first.year + 1)
    return month(first)


def _date(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    named = match.groupdict().get("y")
    return day(dated(int(named) if named else None, _MONTHS[_word(match, "month")], int(match["d"]), frame))


def _month(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    named = match.groupdict().get("y")
    return month_of(int(named) if named else None, _MONTHS[_word(match, "month")], frame)


def _numeric(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return day(dated(int(match["y"]), int(match["m"]), int(match["d"]), frame))


def _day_or_month_first(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Parse 01/15/2024 and 15/01/2024; if either part may be the day, the first is if the separator is a dot."""
    first, second, named = int(match["a"]), int(match["b"]), _full_year(match["y"])
    is_day_first = first > _MONTHS_OF_A_YEAR or match["s"] == "."
    number_of_month, number_of_day = (second, first) if is_day_first else (first, second)
    return day(dated(named, number_of_month, number_of_day, frame))


def _numeric_month(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return month_of(int(match["y"]), int(match["m"]), frame)


def _slashed(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return day(dated(None, int(match["m"]), int(match["d"]), frame))


def _year(match: re.Match[str], _frame: TimeFrame) -> TimeSpan:
    return year(int(match["y"]))


def _ago(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return ago(number(match["n"]), _UNITS[_word(match, "unit")], frame)


def _half_ago(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return ago(0.5, _UNITS[_word(match, "unit")], frame)


def _short_ago(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return ago(number(match["n"]), _SHORT[_word(match, "short")], frame)


def _short_lately(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return lately(number(match["n"]), _SHORT[_word(match, "short")], frame)


def _ahead(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return ago(-number(match["n"]), _UNITS[_word(match, "unit")], frame)


def _lately(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return lately(number(match["n"]) if match.groupdict().get("n") else 1, _UNITS[_word(match, "unit")], frame)


def _coming(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return lately(-number(match["n"]), _UNITS[_word(match, "unit")], frame)


def _some(most: int, least: int) -> SpanReader:
    def read(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
        return some(_UNITS[_word(match, "unit")], frame, most=most, least=least)

    return read


def _just_now(_match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    around = moment(frame.now, DAY / 12)
    return TimeSpan(around.start, frame.now + DAY / 1440, around.text)


def _now(_match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    return days(frame.today, frame.today)


WESTERN: tuple[Rule, ...] = (
    rule(
        "absolute",
        "(?<![0-9./-])(?P<y>[0-9]{4})(?P<s>[-/.])(?P<m>[0-9]{1,2})(?P=s)(?P<d>[0-9]{1,2})(?![0-9])",
        _numeric,
    ),
    rule(
        "absolute",
        "(?<![0-9a-z./:-])(?P<a>[0-9]{1,2})(?P<s>[-/.])(?P<b>[0-9]{1,2})(?P=s)(?P<y>(?:19|20)[0-9]{2}|(?<=/)[0-9]{2})"
        "(?![0-9]|[-/.][0-9])",
        _day_or_month_first,
    ),
    rule("absolute", "(?<![0-9./-])(?P<y>(?:19|20)[0-9]{2})[-/](?P<m>1[0-2]|0?[1-9])(?![0-9./-])", _numeric_month),
    rule(
        "yearless",
        "(?<![0-9a-z./:-])(?P<m>1[0-2]|0?[1-9])/(?P<d>3[01]|[12][0-9]|0?[1-9])"
        "(?![0-9a-z/.%]|的|个|以上|杯| ?(?:cup|inch|mile|tea|table|tsp|tbsp|of |price))",
        _slashed,
    ),
    rule(
        "relative",
        f"{_FROM}(?P<word>(?:the )?day (?:before yesterday|after tomorrow)|{_either(_DAYS)})"
        f"(?: (?P<part>{_either(_PARTS)}))?{_TO}",
        _day,
    ),
    rule("relative", f"{_FROM}(?P<which>last|this) (?P<part>{_either(_PARTS)}){_TO}", _part_of_day),
    rule("relative", f"{_FROM}{_STEP} (?P<unit>week|month|year|weekend){_TO}", _step),
    rule("relative", f"{_FROM}(?:the )?(?P<unit>week|month|year) before last{_TO}", _before_last),
    rule("relative", f"{_FROM}{_STEP} quarter{_TO}", _stepped_quarter),
    rule("relative", f"{_FROM}(?P<which>last|past|previous|this|next|coming) {_SEASON}{_TO}", _season),
    rule("absolute", f"{_FROM}(?:in |during )?(?:the )?{_SEASON}(?: of|,)? (?P<y>(?:19|20)[0-9]{{2}}){_TO}", _season),
    rule(
        "absolute",
        f"{_FROM}(?:in |during )?{_NAMED_QUARTER}(?: of|,)? ?'?(?P<y>20[0-9]{{2}}|(?<=')[0-9]{{2}}){_TO}",
        _quarter,
    ),
    rule("absolute", f"{_FROM}(?P<y>20[0-9]{{2}})[ -]?(?P<q>q[1-4]){_TO}", _quarter),
    rule("yearless", f"{_FROM}{_NAMED_QUARTER}{_TO}", _quarter),
    rule("absolute", f"{_FROM}(?:in )?(?P<third>early|mid|late)[ -]{_MONTH}{_YEAR}", _third_of_month),
    rule("yearless", f"{_FROM}(?:in )?(?P<third>early|mid|late)[ -]{_MONTH}{_TO}", _third_of_month),
    rule("relative", f"{_FROM}(?:letzte|vergangene)[snr]? (?P<unit>woche|monat|jahr|wochenende){_TO}", _last),
    rule(
        "relative", f"{_FROM}(?P<unit>{_LATIN_UNITS}) (?:derniere?|passee?|scors[ao]|passat[ao]|pasad[ao]){_TO}", _last
    ),
    rule("absolute", f"{_FROM}{_NTH} {_MONTH}{_YEAR}", _nth_weekday),
    rule("yearless", f"{_FROM}{_NTH} {_MONTH}{_TO}", _nth_weekday),
    rule("relative", f"{_FROM}{_NTH} {_STEP} month{_TO}", _nth_weekday),
    rule(
        "yearless",
        f"{_FROM}on the (?P<count>second|third|fourth|fifth) {_WEEKDAY}{_TO}(?! (?:of|in|each|every))",
        _nth_weekday_alone,
    ),
    rule("decoy", f"{_FROM}(?:the )?(?:second|third|fourth|fifth) {_WEEKDAY}{_TO}"),
    rule("relative", f"{_FROM}{_STEP} {_WEEKDAY}{_TO}", _stepped_weekday),
    rule("open", f"{_FROM}(?:on )?{_WEEKDAY}{_TO}", _weekday),
    rule("relative", f"{_FROM}{_STEP} {_MONTH}{_TO}", _stepped_month),
    rule("absolute", f"{_FROM}{_DAY} ?(?:of |de )?{_MONTH}{_YEAR}", _date),
    rule("absolute", f"{_FROM}{_MONTH} ?{_DAY}{_YEAR}", _date),
    rule("absolute", f"{_FROM}(?:(?:in|during|since|of|until|by|through) )?{_MONTH}{_YEAR}", _month),
    rule("yearless", f"{_FROM}{_DAY} ?(?:of |de )?{_MONTH}{_TO}", _date),
    rule("yearless", f"{_FROM}{_MONTH} {_DAY}{_TO}", _date),
    rule(
        "open",
        f"{_FROM}(?:(?<=on )|(?<=by )|(?<=before )|(?<=after )|(?<=since ))the "
        f"(?P<d>3[01]|[12]?[0-9])(?:st|nd|rd|th){_TO}"
        "(?! (?:of|floor|century|street|avenue|time|try|place|day|attempt|page|chapter))",
        _numbered,
    ),
    rule("yearless", f"{_FROM}(?:in|during|since|of|until|by|through) {_MONTH}{_TO}(?! {_DAY})", _month),
    rule("absolute", f"{_FROM}(?:in|year|since|during|from|until|by|of) (?P<y>(?:19|20)[0-9]{{2}}){_TO}", _year),
    rule("relative", f"{_FROM}{_COUNT} {_UNIT} (?:ago|back|fa){_TO}", _ago),
    rule("relative", f"{_FROM}half an? {_UNIT} (?:ago|back){_TO}", _half_ago),
    rule("relative", f"{_FROM}{_SHORT_UNIT} (?:ago|back){_TO}", _short_ago),
    rule("relative", f"{_FROM}(?:the )?(?:past|last) {_SHORT_UNIT}{_TO}", _short_lately),
    rule("relative", f"{_FROM}(?:il y a|vor|hace) {_COUNT} {_UNIT}", _ago),
    rule("relative", f"{_FROM}{_FEW} {_UNIT} ago{_TO}", _some(5, 2)),
    rule("relative", f"{_FROM}{_COUPLE} {_UNIT} ago{_TO}", _some(3, 1)),
    rule("relative", f"{_FROM}{_COUNT} {_UNIT} (?:later|from now){_TO}", _ahead),
    rule("relative", f"{_FROM}in (?!an? ){_COUNT} {_UNIT}", _ahead),
    rule("relative", f"{_FROM}(?:the )?(?:past|last) {_COUNT} {_UNIT}", _lately),
    rule("relative", f"{_FROM}(?:the )?past {_UNIT}", _lately),
    rule("relative", f"{_FROM}(?:the )?(?:past|last) {_FEW} {_UNIT}", _some(5, 0)),
    rule("relative", f"{_FROM}(?:the )?(?:past|last) {_COUPLE} {_UNIT}", _some(3, 0)),
    rule("relative", f"{_FROM}(?:the )?(?:next|coming) {_COUNT} {_UNIT}", _coming),
    rule("relative", f"{_FROM}just now{_TO}", _just_now),
    rule("now", f"{_FROM}(?:right now|now|currently|nowadays|at the moment){_TO}", _now),
    rule("vague", f"{_FROM}(?:recently|lately|these days|the other day|soon|last time|next time){_TO}"),
    rule("yearless", f"{_FROM}{_HOLIDAY}{_TO}(?! (?:tree|carol|card))", _holiday),
    rule("relative", f"{_FROM}(?P<which>last|this|next) {_HOLIDAY}{_TO}", _holiday),
    rule("absolute", f"{_FROM}{_HOLIDAY}(?: of|,| in)? (?P<y>(?:19|20)[0-9]{{2}}){_TO}", _holiday),
    rule("decoy", f"{_FROM}(?:black friday|(?:ruby|fat|super) tuesday|monday blues){_TO}"),
    rule("decoy", f"{_FROM}(?:every|each) (?:{_either(_WEEKDAYS)}|[a-z]{{3,9}}day|day|week|month|year){_TO}"),
)
