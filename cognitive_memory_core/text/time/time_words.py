"""The time expressions of a text, and the windows of time that a question asks about."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, time
from functools import lru_cache
from itertools import islice

from ...domain.instants import EARLIEST, LATEST, Interval, checked_zoned
from ..characters import cleared_on_erasure, folded, lazy
from ..spans import MASK, blanked, named, quoted
from .calendar_spans import DAY, WEEK, TimeSpan, written
from .chinese import CHINESE
from .clocks import latest_hours, narrowed
from .holidays import HOLIDAYS
from .time_rules import Kind, Lean, SpanReader, TimeFrame, said
from .vocabulary import PARTS
from .western import WESTERN

READ = 2_000  # characters of a text that are read
_RULES, _WITHOUT_LATIN = CHINESE + HOLIDAYS + WESTERN, CHINESE + HOLIDAYS
_LATIN = re.compile("[a-z]|[0-9][-/.][0-9]")  # one of these is in whatever a western rule matches
_JOINED = lazy(r" ?(?:到|至|~|—|–|-|to|until|till|through|and) ?", re.IGNORECASE)
_AS_WELL_AS = lazy(" ?(?:和|与|跟|同|、|and|&) ?(?:在|on |in )?", re.IGNORECASE)
_BEFORE_A_DAY = lazy("[之以]前|前(?![后端台天年几两一二三四五])|为止")
_AFTER_A_DAY = lazy("[之以]后|后(?![天年面来续悔端台])")
_BEFORE = lazy("(?:before|until|till|prior to|up to) $")
_AFTER = lazy("after $")
_BESIDE = lazy("[ (（,，、)）的]{0,3}(?:那一?周|当周|那个|所在周|即|也就是|也即)?[ ,，的]{0,2}")
_WEEKDAYS = lazy(  # a statement with 每周二, or with a list of three days, is about days that recur
    "[每逢](?:周|星期|礼拜)[一二三四五六日天]|(?:周[一二三四五六日天][、和及,，]{1,2}){2,6}周[一二三四五六日天]"
)
_HABIT_BEFORE = lazy(
    "(?:每|逢|隔|凡是|所有的?|(?:通常|一般|平时|平常|往往|总是|经常|常常|习惯|固定)[在于]?"
    "|[隔单双]周的?|第[一二三四五]个|最后一个|[每逢](?:周|星期|礼拜)[一二三四五六日天][和与及、到至])$"
)
_HABIT_AFTER = lazy(
    "[^，。！？!?；;\n]{0,3}?(?:都|一般|通常|经常|常|总|照例|照旧|固定|习惯|例会|不许|不准|不得|禁止)"
    "|[^。！？!?；;\n]{0,12}除外"  # what has exceptions is a rule
)
_FROM_THEN_ON = lazy(  # 以后周六打本, 从2026年5月9日起改为周六, 周五局能不能挪到周六: recurring, not one day
    "(?:(?:(?<![一-龥])|(?<=[说定局议]))(?:以后|今后|往后|从此)[^，。！？!?；;\n]{0,6}"
    "|(?:以后|今后|往后|从此|[日号天周月年]起)[就都]?(?:统一|一律|固定)?[改定挪调换移][为成到在至]?"
    "|(?<!这次)(?<!这回)周[一二三四五六日天]局(?:[(（][^()（）\\s]{1,40}[)）])?[^，。！？!?；;\n这本次]{0,8}[改挪调换移][为成到在至]?)$"
)
_CERTAIN = lazy("[今昨明][天日]|后天|[上下]个?(?:周|星期|礼拜)[一二三四五六日天]|today|yesterday|tomorrow")
_CALLED = lazy("(?:名叫|叫做|叫作|名为|[取起改]名叫?|(?:外号|绰号|网名|昵称|代号)[叫是]?|[猫狗鱼鸟鼠兔龟]叫)$")
_NAME_ENDS = lazy("$|[，。！？!?；;,、\n]")
_HABIT_READ = 64


@dataclass(frozen=True)
class Mention:
    """A time expression in a text, from ``start`` up to ``stop``."""

    start: int
    stop: int
    kind: Kind
    _match: re.Match[str]
    _reading: SpanReader | None

    @property
    def text(self) -> str:
        """The expression in its folded form: half width, simplified, lower case."""
        return self._match.group()

    @property
    def part(self) -> str:
        """The part of a day as written (下午, evening); "" if there is none."""
        return self._match.groupdict().get("part") or ""

    def at(self, now: datetime, lean: Lean = "back") -> TimeSpan | None:
        """Return the span that the expression means at a wall-clock time; None if no such date exists."""
        if self._reading is None:
            return None
        try:
            return self._reading(self._match, TimeFrame(now, lean))
        except (ValueError, OverflowError):
            return None


@cleared_on_erasure
@lru_cache(maxsize=1024)  # gate, rules and index request the same ones
def mentions(text: str) -> tuple[Mention, ...]:
    """Return the time expressions of a text in order; if several begin at one position, only the longest."""
    read = folded(text[:READ])
    rules = _RULES if _LATIN.search(read) else _WITHOUT_LATIN
    matches = [(match, one) for one in rules for match in one[1].finditer(read)]
    matches.sort(key=lambda it: (it[0].start(), -it[0].end()))  # of equal ones the first rule's
    found: list[Mention] = []
    at = 0
    for match, (kind, _, reading) in matches:
        if match.start() >= at:
            at = match.end()
            by_year = "absolute" if said(match, "y") else "relative" if said(match, "ry", "which") else "yearless"
            found.append(Mention(match.start(), at, by_year if kind == "dated" else kind, match, reading))
    return tuple(one for one in found if one.kind != "decoy")


def time_window(text: str, reference: datetime, names: Collection[str] = ()) -> Interval | None:
    """Return the window that a query names, in the zone of ``reference``; None if it names none.

    Of several windows (:func:`time_windows`) it is the one from the first to the last.
    """
    found = time_windows(text, reference, names)
    return Interval(min(one.start for one in found), max(one.stop for one in found)) if found else None


def time_windows(text: str, reference: datetime, names: Collection[str] = ()) -> tuple[Interval, ...]:
    """Return the windows that a query names, in the zone of ``reference``.

    The first time expression counts. One joined to it ends the window (3月1日到3月5日, 三月底四月初), one with "and"
    (上周一和上周五) is a window of its own, one with "or" (上周还是上个月) is ignored. "Before" a date means the month
    up to it, "before" another day the week up to it; "after" a day means from then up to now. A month, date or weekday
    without a year is the latest one, today included. Hours beside a single day narrow it; hours alone are on the latest
    day on which they have begun. A time word that is one of the ``names``
    of people is ignored. Raises BadArgument for a reference without a zone.
    """
    checked_zoned(reference, "reference")
    try:
        found = _windows(text, reference.replace(tzinfo=None), names)
    except OverflowError:  # beside the first or the last day of the calendar
        return ()
    zoned = [tuple(end.replace(tzinfo=reference.tzinfo) for end in (one.start, one.stop)) for one in found]
    return tuple(Interval(start, stop) for start, stop in zoned if EARLIEST <= start < stop <= LATEST)


def _windows(text: str, now: datetime, names: Collection[str]) -> list[TimeSpan]:
    read = folded(text[:READ])
    asked = [
        (mention, _bounded(time_span, mention, read, now))
        for mention in mentions(text)
        if text[mention.start : mention.stop] not in names
        and mention.kind != "now"
        and not (mention.kind == "open" and _is_habit(text, mention))
        and (time_span := mention.at(now))
    ]
    if not asked:
        return list(islice(latest_hours(read, now), 1))
    before, time_span = asked[0]
    windows = [time_span]
    for mention, found in asked[1:]:
        first, last, between = windows[-1], found, text[before.stop : mention.start]
        if _JOINED.fullmatch(between) or (not between and first.stop == last.start):
            if last.stop <= first.start and mention.kind in ("yearless", "open"):
                last = mention.at(first.start + 364 * DAY) or last  # the next one after the first
            is_backwards = last.stop <= first.start
            windows[-1] = TimeSpan(*((last.start, first.stop) if is_backwards else (first.start, last.stop)))
        elif _AS_WELL_AS.fullmatch(between):
            windows.append(last)
        else:
            break
        before = mention
    if before is asked[0][0] and time_span == before.at(now):
        return [narrowed(time_span, read, before.start, before.stop, before.part)]
    return windows


def dated_words(text: str, when: datetime, names: Collection[str] = ()) -> list[tuple[Mention, str]]:
    """Return the relative words of a text said at ``when`` that mean one day, each with its date.

    Names and what is in quotations are left out.
    """
    read = blanked(text, [*quoted(text), *named(text, names, is_time)], MASK)
    certain = [one for one in leaning(read) if _CERTAIN.match(one.text)]
    told = ((one, one.at(when.replace(tzinfo=None))) for one in certain)
    return [(one, written(span.start) + PARTS.get(one.part, one.part)) for one, span in told if span]


def is_time(word: str) -> bool:
    """Return whether a word is a time expression and nothing else."""
    return any(mention.start == 0 and mention.stop == len(word) for mention in mentions(word))


def leaning(text: str) -> Iterator[Mention]:
    """Yield the time expressions whose meaning depends on the day on which they are read."""
    found = [
        mention
        for mention in mentions(text)
        if not (  # the text uses it as a name, such as a cat called 昨日
            _NAME_ENDS.match(text, mention.stop) and _CALLED.search(text[max(mention.start - 4, 0) : mention.start])
        )
    ]
    weekdays_recur = bool(_WEEKDAYS.search(text)) or any(one.kind == "open" and _is_habit(text, one) for one in found)
    for index, mention in enumerate(found):
        may_depend = mention.kind == "vague" or (mention.kind == "open" and not weekdays_recur)
        if mention.kind in ("relative", "now") or (may_depend and not _dated_beside(text, found, index)):
            yield mention


def _bounded(time_span: TimeSpan, mention: Mention, read: str, now: datetime) -> TimeSpan:
    """Return the span before or after the mentioned day if a word beside the mention says so, else ``time_span``."""
    if time_span.stop - time_span.start > DAY or mention.part:
        return time_span
    before, first = read[max(mention.start - 16, 0) : mention.start], time_span.start
    if _AFTER_A_DAY.match(read, mention.stop) or _AFTER.search(before):
        tomorrow = datetime.combine(now, time()) + DAY
        return TimeSpan(time_span.stop, tomorrow) if time_span.stop < now else time_span
    if not (_BEFORE_A_DAY.match(read, mention.stop) or _BEFORE.search(before)):
        return time_span
    is_numbered = any(map(str.isdecimal, mention.text)) or "月" in mention.text or "号" in mention.text
    return TimeSpan(first.replace(day=1) if is_numbered and first.day > 1 else first - WEEK, first)


def _is_habit(text: str, mention: Mention) -> bool:
    before = text[max(mention.start - _HABIT_READ, 0) : mention.start]
    is_habit = _HABIT_BEFORE.search(before) or _FROM_THEN_ON.search(before)
    return bool(is_habit or _HABIT_AFTER.match(text[mention.stop : mention.stop + 16]))


def _dated_beside(text: str, found: list[Mention], index: int) -> bool:
    """Return whether a date stands directly beside the mention at ``index``: 2026年3月4日（周三）."""
    here = found[index]
    gaps = [
        (other, text[min(other.stop, here.stop) : max(other.start, here.start)])
        for other in found[max(index - 1, 0) : index + 2]
    ]
    return any(
        other is not here and other.kind in ("absolute", "yearless") and _BESIDE.fullmatch(gap) for other, gap in gaps
    )
