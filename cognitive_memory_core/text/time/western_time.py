"""English time expressions and the most common ones of other European languages: month names, last week, days ago."""

from __future__ import annotations

import re

from .time_rules import (
    Kind,
    Rule,
    SpanReader,
    TimeFrame,
    ago,
    ahead,
    between,
    coming,
    counted_day,
    date_or_month,
    dated,
    just_now,
    lately,
    numbered_day,
    quarter,
    rule,
    said,
    some_weekday,
    stepped,
    today,
    weekday_of_month,
    whole_year,
    year_of,
)
from .time_spans import TimeSpan, day, year
from .vocabulary import (
    ENGLISH_DAYS,
    ENGLISH_STEPS,
    ENGLISH_WEEKDAYS,
    MONTHS,
    ORDINALS,
    SEASONS,
    SHORT_UNITS,
    WESTERN_UNITS,
    either,
)

_FROM = "(?=[a-z0-9])(?<![a-z0-9_])"  # a Chinese character ends a Latin word; the cheap lookahead comes first
_TO = "(?![a-z0-9_])"
_UNIT = f"(?P<unit>{either(WESTERN_UNITS)}){_TO}"
_MONTH = f"(?P<m>{either(MONTHS)})\\.?"
_WEEKDAY = f"(?P<on>{either(ENGLISH_WEEKDAYS)})"
_SHORT_UNIT = f"(?P<n>[0-9]{{1,3}}) ?(?P<unit>{either(SHORT_UNITS)})"
_COUNT = "(?P<n>[0-9]{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_FEW = "(?:a )?(?:few|several)"
_COUPLE = "(?:a )?couple(?: of)?"
_DAY = "(?P<d>[0-3]?[0-9])(?:st|nd|rd|th|\\.)?(?![0-9:])"
_YEAR = "(?:,? ?(?:del? )?(?P<y>[0-9]{4})(?![0-9]))"
_STEP = f"(?P<which>{either(ENGLISH_STEPS)})"
_SEASON = f"(?P<season>{either(SEASONS)})"
_NAMED_QUARTER = (  # not the key, the car, the match and the hamburger
    "(?:the )?(?:(?P<q>first|second|third|fourth|1st|2nd|3rd|4th)[ -]quarter"
    "(?![a-z0-9_-]| (?:final|pounder|mile|note|back|century))"
    "|(?<!press )(?<!audi )(?<!奥迪)(?P<q2>q[1-4])(?![a-z0-9_]|[键纸币]| ?(?:key|button|是哪)))"
)
_NTHS = either(word for word in ORDINALS if word[0] != "q")
_NTH = f"(?:on )?(?:the )?(?P<count>{_NTHS}) {_WEEKDAY} (?:of|in)"
_LATIN_UNITS = "semaine|mois|annee|an|week-end|fine settimana|settimana|mese|anno|fin de semana|semana|mes|ano"
_MONTHS_OF_A_YEAR = 12


def _season(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Return a season of the named year, or of this year; "last" is the latest that ended, "next" the first to come."""
    season, named = SEASONS[match["season"]], year_of(match, frame) or frame.today.year
    found, which = year(named, season), said(match, "which")
    if which in ("last", "previous", "past"):
        return found if found.stop <= frame.now else year(named - 1, season)
    if which in ("next", "coming"):
        return found if found.start > frame.now else year(named + 1, season)
    return found


def _day_or_month_first(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Parse 01/15/2024 and 15/01/2024; if either part may be the day, the first is if the separator is a dot."""
    first, second = int(match["a"]), int(match["b"])
    if first > _MONTHS_OF_A_YEAR or match["s"] == ".":
        first, second = second, first
    return day(dated(year_of(match, frame), first, second, frame))


def latin_rule(kind: Kind, pattern: str, reading: SpanReader | None = None) -> Rule:
    """Create a rule whose pattern neither begins nor ends inside a Latin word or number."""
    return rule(kind, f"{_FROM}(?:{pattern}){_TO}", reading)


WESTERN: tuple[Rule, ...] = (
    rule(
        "absolute",
        "(?<![0-9./-])(?P<y>[0-9]{4})(?P<s>[-/.])(?P<m>[0-9]{1,2})(?P=s)(?P<d>[0-9]{1,2})(?![0-9])",
        date_or_month,
    ),
    rule(
        "absolute",
        "(?<![0-9a-z./:-])(?P<a>[0-9]{1,2})(?P<s>[-/.])(?P<b>[0-9]{1,2})(?P=s)(?P<y>(?:19|20)[0-9]{2}|(?<=/)[0-9]{2})"
        "(?![0-9]|[-/.][0-9])",
        _day_or_month_first,
    ),
    rule("absolute", "(?<![0-9./-])(?P<y>(?:19|20)[0-9]{2})[-/](?P<m>1[0-2]|0?[1-9])(?![0-9./-])", date_or_month),
    rule(
        "yearless",
        "(?<![0-9a-z./:-])(?P<m>1[0-2]|0?[1-9])/(?P<d>3[01]|[12][0-9]|0?[1-9])"
        "(?![0-9a-z/.%]|的|个|以上|杯| ?(?:cup|inch|mile|tea|table|tsp|tbsp|of |price))",
        date_or_month,
    ),
    latin_rule(
        "relative",
        f"(?:the (?=day))?(?P<day>{either(ENGLISH_DAYS)})(?: (?P<part>morning|afternoon|evening|night))?",
        counted_day,
    ),
    latin_rule("relative", "(?P<which>last|this) (?P<part>morning|afternoon|evening|night)", counted_day),
    latin_rule("relative", f"{_STEP} (?P<unit>week|month|year|weekend)", stepped),
    latin_rule("relative", "(?:the )?(?P<unit>week|month|year) (?P<which>before last)", stepped),
    latin_rule("relative", f"{_STEP} quarter", stepped),
    latin_rule("relative", f"(?P<which>last|past|previous|this|next|coming) {_SEASON}", _season),
    latin_rule("absolute", f"(?:in |during )?(?:the )?{_SEASON}(?: of|,)? (?P<y>(?:19|20)[0-9]{{2}})", _season),
    latin_rule(
        "absolute",
        f"(?:in |during )?{_NAMED_QUARTER}(?: of|,)? ?'?(?P<y>20[0-9]{{2}}|(?<=')[0-9]{{2}})",
        quarter,
    ),
    latin_rule("absolute", "(?P<y>20[0-9]{2})[ -]?(?P<q>q[1-4])", quarter),
    latin_rule("yearless", _NAMED_QUARTER, quarter),
    latin_rule("absolute", f"(?:in )?(?P<part>early|mid|late)[ -]{_MONTH}{_YEAR}", date_or_month),
    latin_rule("yearless", f"(?:in )?(?P<part>early|mid|late)[ -]{_MONTH}", date_or_month),
    latin_rule("relative", "(?:letzte|vergangene)[snr]? (?P<unit>woche|monat|jahr|wochenende)", stepped),
    latin_rule("relative", f"(?P<unit>{_LATIN_UNITS}) (?:derniere?|passee?|scors[ao]|passat[ao]|pasad[ao])", stepped),
    latin_rule("absolute", f"{_NTH} {_MONTH}{_YEAR}", weekday_of_month),
    latin_rule("yearless", f"{_NTH} {_MONTH}", weekday_of_month),
    latin_rule("relative", f"{_NTH} {_STEP} month", weekday_of_month),
    latin_rule(
        "yearless",
        f"on the (?P<count>second|third|fourth|fifth) {_WEEKDAY}(?! (?:of|in|each|every))",
        weekday_of_month,
    ),
    latin_rule("decoy", f"(?:the )?(?:second|third|fourth|fifth) {_WEEKDAY}"),
    latin_rule("relative", f"{_STEP} {_WEEKDAY}", stepped),
    latin_rule("open", f"(?:on )?{_WEEKDAY}", some_weekday),
    latin_rule("relative", f"{_STEP} {_MONTH}", stepped),
    latin_rule("absolute", f"{_DAY} ?(?:of |de )?{_MONTH}{_YEAR}", date_or_month),
    latin_rule("absolute", f"{_MONTH} ?{_DAY}{_YEAR}", date_or_month),
    latin_rule("absolute", f"(?:(?:in|during|since|of|until|by|through) )?{_MONTH}{_YEAR}", date_or_month),
    latin_rule("yearless", f"{_DAY} ?(?:of |de )?{_MONTH}", date_or_month),
    latin_rule("yearless", f"{_MONTH} {_DAY}", date_or_month),
    latin_rule(
        "open",
        "(?:(?<=on )|(?<=by )|(?<=before )|(?<=after )|(?<=since ))the "
        "(?P<d>3[01]|[12]?[0-9])(?:st|nd|rd|th)"
        "(?! (?:of|floor|century|street|avenue|time|try|place|day|attempt|page|chapter))",
        numbered_day,
    ),
    latin_rule("yearless", f"(?:in|during|since|of|until|by|through) {_MONTH}(?! {_DAY})", date_or_month),
    latin_rule("absolute", "(?:in|year|since|during|from|until|by|of) (?P<y>(?:19|20)[0-9]{2})", whole_year),
    latin_rule("relative", f"{_COUNT} {_UNIT} (?:ago|back|fa)", ago),
    latin_rule("relative", f"(?P<n>half an?) {_UNIT} (?:ago|back)", ago),
    latin_rule("relative", f"{_SHORT_UNIT} (?:ago|back)", ago),
    latin_rule("relative", f"(?:the )?(?:past|last) {_SHORT_UNIT}", lately),
    latin_rule("relative", f"(?:il y a|vor|hace) {_COUNT} {_UNIT}", ago),
    latin_rule("relative", f"{_FEW} {_UNIT} ago", between(5, 2)),
    latin_rule("relative", f"{_COUPLE} {_UNIT} ago", between(3, 1)),
    latin_rule("relative", f"{_COUNT} {_UNIT} (?:later|from now)", ahead),
    latin_rule("relative", f"in (?!an? ){_COUNT} {_UNIT}", ahead),
    latin_rule("relative", f"(?:the )?(?:past|last) {_COUNT} {_UNIT}", lately),
    latin_rule("relative", f"(?:the )?past {_UNIT}", lately),
    latin_rule("relative", f"(?:the )?(?:past|last) {_FEW} {_UNIT}", between(5, 0)),
    latin_rule("relative", f"(?:the )?(?:past|last) {_COUPLE} {_UNIT}", between(3, 0)),
    latin_rule("relative", f"(?:the )?(?:next|coming) {_COUNT} {_UNIT}", coming),
    latin_rule("relative", "just now", just_now),
    latin_rule("now", "right now|now|currently|nowadays|at the moment", today),
    latin_rule("vague", "recently|lately|these days|the other day|soon|last time|next time"),
    latin_rule("decoy", "black friday|(?:ruby|fat|super) tuesday|monday blues"),
    latin_rule("decoy", f"(?:every|each) (?:{either(ENGLISH_WEEKDAYS)}|[a-z]{{3,9}}day|day|week|month|year)"),
)
