"""Time expressions in English, with the most common ones of other European languages."""

from __future__ import annotations

from .calendar_spans import day
from .time_rules import (
    Kind,
    Rule,
    SpanReader,
    ago,
    between,
    counted_day,
    date_or_month,
    lately,
    numbered_day,
    quarter,
    rule,
    some_weekday,
    stepped,
    whole_year,
)
from .vocabulary import DAYS, ENGLISH_STEPS, MONTHS, SEASONS, UNITS, WEEKDAYS, either, western

_FROM = "(?=[a-z0-9])(?<![a-z0-9_])"  # a Chinese character ends a Latin word; the cheap lookahead comes first
_TO = "(?![a-z0-9_])"
_LATIN_UNIT = f"(?P<unit>{western(UNITS)}){_TO}"
_LATIN_MONTH = f"(?P<m>{either(MONTHS)})\\.?"
_WEEKDAY = f"(?P<on>{western(WEEKDAYS)})"
_COUNT = "(?P<n>[0-9]{1,3}|half an?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_LATIN_FEW = "(?:a )?(?:few|several)"
_DAY = "(?P<d>[0-3]?[0-9])(?:st|nd|rd|th|\\.)?(?![0-9:])"
_IN_TIME = "(?:in|during|since|from|of|until|by|through)"
_TO_DAY = "(?: ?(?:to|through|-|–) ?(?P<d2>3[01]|[12][0-9]|[1-9])(?:st|nd|rd|th)?(?![0-9:.%]| ?[a-z$]))"
_YEAR = "(?:,? ?(?:del? )?(?P<y>[0-9]{4})(?![0-9]))"
_STEP = f"(?P<which>{either(ENGLISH_STEPS)})"
_SEASON = f"(?P<part>{western(SEASONS)})"
_NAMED_QUARTER = (  # not the key, the car, the match and the hamburger
    "(?:the )?(?:(?P<q>first|second|third|fourth|1st|2nd|3rd|4th)[ -]quarter"
    "(?![a-z0-9_-]| (?:final|pounder|mile|note|back|century))"
    "|(?<!press )(?<!audi )(?<!奥迪)(?P<q2>q[1-4])(?![a-z0-9_]|[键纸币]| ?(?:key|button|是哪)))"
)
_LATIN_UNITS = "semaine|mois|annee|an|week-end|fine settimana|settimana|mese|anno|fin de semana|semana|mes|ano"


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
        "yearless",
        "(?<![0-9a-z./:-])(?P<m>1[0-2]|0?[1-9])/(?P<d>3[01]|[12][0-9]|0?[1-9])"
        "(?![0-9a-z/.%]|的|个|以上|杯| ?(?:cup|inch|mile|tea|table|tsp|tbsp|of |price))",
        date_or_month,
    ),
    latin_rule(
        "relative",
        f"(?:the (?=day))?(?P<day>{western(DAYS)})(?: (?P<part>morning|afternoon|evening|night))?",
        counted_day,
    ),
    latin_rule("relative", "(?P<which>last|this) (?P<part>morning|afternoon|evening|night)", counted_day),
    latin_rule(
        "relative",
        f"{_STEP} (?:quarter|(?P<unit>week|month|year|weekend)|{_WEEKDAY}|{_LATIN_MONTH}|{_SEASON})",
        stepped,
    ),
    latin_rule("relative", "(?:the )?(?P<unit>week|month|year) (?P<which>before last)", stepped),
    latin_rule("relative", "(?:letzte|vergangene)[snr]? (?P<unit>woche|monat|jahr|wochenende)", stepped),
    latin_rule("relative", f"(?P<unit>{_LATIN_UNITS}) (?:derniere?|passee?|scors[ao]|passat[ao]|pasad[ao])", stepped),
    latin_rule("absolute", f"(?:in |during )?(?:the )?{_SEASON}(?: of|,)? (?P<y>(?:19|20)[0-9]{{2}})", whole_year),
    latin_rule(
        "dated",
        f"(?:in |during )?{_NAMED_QUARTER}(?:(?: of|,)? ?'?(?P<y>20[0-9]{{2}}|(?<=')[0-9]{{2}}))?",
        quarter,
    ),
    latin_rule("absolute", "(?P<y>20[0-9]{2})[ -]?(?P<q>q[1-4])", quarter),
    latin_rule("yearless", f"(?:in )?(?P<part>early|mid|late)[ -]{_LATIN_MONTH}", date_or_month),
    latin_rule("decoy", f"(?:the )?(?:first|second|third|fourth|fifth) {_WEEKDAY}"),
    latin_rule("open", f"(?:on )?{_WEEKDAY}", some_weekday),
    latin_rule("dated", f"{_DAY} ?(?:of |de )?{_LATIN_MONTH}{_YEAR}?", date_or_month),
    latin_rule("dated", f"{_LATIN_MONTH} {_DAY}{_TO_DAY}?{_YEAR}?", date_or_month),
    latin_rule("absolute", f"(?:{_IN_TIME} )?{_LATIN_MONTH}{_YEAR}", date_or_month),
    latin_rule("yearless", f"{_IN_TIME} {_LATIN_MONTH}(?! {_DAY})", date_or_month),
    latin_rule(
        "open",
        "(?:(?<=on )|(?<=by )|(?<=before )|(?<=after )|(?<=since ))the "
        "(?P<d>3[01]|[12]?[0-9])(?:st|nd|rd|th)"
        "(?! (?:of|floor|century|street|avenue|time|try|place|day|attempt|page|chapter))",
        numbered_day,
    ),
    latin_rule("absolute", "(?:in|year|since|during|from|until|by|of) (?P<y>(?:19|20)[0-9]{2})", whole_year),
    latin_rule("relative", f"{_COUNT} {_LATIN_UNIT} (?:ago|back|fa|(?P<ahead>later|from now))", ago),
    latin_rule("relative", f"(?:il y a|vor|hace|(?P<ahead>in)(?! an? )) {_COUNT} {_LATIN_UNIT}", ago),
    latin_rule("relative", f"{_LATIN_FEW} {_LATIN_UNIT} ago", between(5, 2)),
    latin_rule("relative", f"(?:a )?couple(?: of)? {_LATIN_UNIT} ago", between(3, 1)),
    latin_rule("relative", f"(?:the )?(?:past|last|(?P<ahead>next|coming)) {_COUNT} {_LATIN_UNIT}", lately),
    latin_rule("relative", f"(?:the )?past {_LATIN_UNIT}", lately),
    latin_rule("relative", f"(?:the )?(?:past|last) {_LATIN_FEW} {_LATIN_UNIT}", between(5, 0)),
    latin_rule("now", "right now|now|currently|nowadays|at the moment", lambda _, frame: day(frame.today)),
    latin_rule("vague", "recently|lately|these days|the other day|soon|last time|next time"),
    latin_rule("decoy", "black friday|(?:ruby|fat|super) tuesday|monday blues"),
    latin_rule("decoy", f"(?:every|each) (?:{western(WEEKDAYS)}|[a-z]{{3,9}}day|day|week|month|year)"),
)
