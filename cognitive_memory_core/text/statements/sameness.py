"""A guard against false duplicates: statements that differ in a negation, number or name are never the same.

It does not detect unrelated statements: the caller selects pairs by similarity, and this module only rejects some.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice

from ..identity.persons import unsaid
from ..lexical.folding import folded
from ..patterns import Pattern
from ..time.numerals import worth
from ..time.time_words import mentions
from .word_groups import CONTRARIES, MODALITIES, SYNONYMS

_READ = 1_000  # characters of a text that are read
_A_NO = 2  # tokens: 没有
_LABEL = re.compile(r"\(([0-9a-z_-]{1,128})\)")
_MOST_NAMES = 8
_LONGEST_WORD = {True: 3, False: 2}  # characters of Chinese, words of another language
_PARTED = r"\s，,。！？!?；;：:、()（）"
_NAMED = re.compile(
    f"(?<![^{_PARTED}])(?P<name>[^{_PARTED}]{{2,48}}) ?"
    f"[(（](?P<id>[0-9A-Za-z_-]{{1,128}})[)）] ?(?P<next>[^{_PARTED}]?)"
)
_BARE_ID = re.compile("(?<![0-9a-z._-])[0-9]{5,20}(?![0-9a-z._-]| ?[个元块万人名字年米公次条张份步倍])")
_TOKEN = re.compile("[一-鿿㐀-䶿]|[a-z0-9]+(?:['._+#-][a-z0-9]+)*")
_PARTICLES = frozenset("的了地得呢吧啊嘛") | {"a", "an", "the"}
_LINKS = _PARTICLES | frozenset("在于") | {"in", "on", "at", "since", "from", "by"}

# --- negation ----------------------------------------------------------------------------------------------------

_REWORDED = (
    (Pattern("不(?:太|怎么|大)?喜欢|不爱(?=[吃喝看玩听])"), "讨厌"),
    (Pattern("不(?:太|怎么|大)?(?:赞成|同意|支持)"), "反对"),
)
_NO_NEGATION = Pattern(
    "不(?:错|过(?=[，,、 ]|$)|[仅光但]|管|同(?!意)|少|断|久|然|好意思|得不|由得|妨|禁)|差不多|[对了]不起|忍不住|免不了"
    "|[巴恨]不得|说不定|([一-鿿])[不没]\\1|没准|沉没|淹没|出没|无(?:论|锡|人机|线|所谓|限|聊|非|比|印良品)|未(?:来|免)"
    "|[特分区类级性告离识个辨鉴派差]别|别(?:人|的|墅|名|称|扭|致)|非(?:常|洲|得|要)|除非|是非|莫非|not only|no doubt"
)
_NEGATION = Pattern(
    "不|没有?|无法?|未|别|非|勿|禁止|拒绝|免于|n't(?![a-z])"
    "|(?<![a-z])(?:not|never|no|none|nobody|without|neither|nor|cannot|hardly|refuses?)(?![a-z])"
)
_HELPING = "[能可以会想要太再敢肯得怎么大很是该用曾打算许准]{0,4}| ?(?:be |have |been |going to |want to |really )?"
_NEGATED = Pattern(f"(?:{_NEGATION.source})(?:{_HELPING})(?P<head>[一-鿿]{{2}}|[a-z]{{3,32}})")

# --- numbers -----------------------------------------------------------------------------------------------------

_CLOCK = re.compile(
    "(?P<part>下午|晚上|傍晚|今晚|晚|pm ?)?(?P<h>[0-9]{1,2}|[一二两三四五六七八九十]{1,3})"
    "(?::(?P<m>[0-9]{2})|点(?!名|评|赞)(?P<half>半)?)"
)
_NOON = 12
_VERSION = re.compile("(?<![0-9.])[0-9]{1,9}(?:[.][0-9]{1,9}){1,8}")
_NUMBER = re.compile("(?<![0-9])[0-9]{1,30}|[零一二三四五六七八九十百千万亿两]{1,30}")
_NO_NUMBER = re.compile(
    "千万(?=别|不|要|记)|万一|十分(?!钟)|百度|万能|万圣|四川|一[起直下般样定些边旦律共切]|统一|唯一|万万"
)
_UP_TO_TWELVE = "two three four five six seven eight nine ten eleven twelve"
_ENGLISH_NUMBERS = {word: str(value) for value, word in enumerate(_UP_TO_TWELVE.split(), 2)}
_FROM_TO = re.compile("从|由|改|换成|升到|降到|涨到|跌到|比|->|→|(?<![a-z])(?:from|to)(?![a-z])")
_CALENDAR = re.compile(
    "(?<![a-z])(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:周|星期|礼拜)[日天末]"
    "|(?<![a-z])(?:january|february|march|april|june|july|august|september|october|november|december)"
)
_FIRST = re.compile("先(?!生|前|后|进|锋|知|天)(.{2})")


def may_be_same(a: str, b: str, speaker: str = "") -> bool:
    """Return whether two statements may mean the same; False if they differ in something that changes the meaning.

    The meaning is changed by a negation, an opposite, before and after, numbers and dates, people and their order,
    certainty, or one replaced word. A name counts as equal with and without its id. If ``speaker`` said both, an
    introduction that names the speaker and a date is ignored. Only the first 1,000 characters of each are compared.
    """
    a, b = (unsaid(text[:_READ], speaker) if speaker else text[:_READ] for text in (a, b))
    one, other = _StatementReading.of(_labelled_like(a, b)), _StatementReading.of(_labelled_like(b, a))
    if one.tokens == other.tokens and one.people == other.people:
        return True
    return not any(differ(one, other) for differ in _DIFFERENCES)


def contradicts(a: str, b: str) -> bool:
    """Return whether two clauses on one topic cannot both be true: one denies the other, or their numbers differ.

    Unlike in :func:`may_be_same`, one clause may say more than the other.
    """
    one, other = _StatementReading.of(a), _StatementReading.of(b)
    mine, theirs = set(one.numbers), set(other.numbers)
    if mine - theirs and theirs - mine:
        return True
    return _takes_other_side(one, other) or _is_denied(one, other)


@dataclass(frozen=True)
class _StatementReading:
    """The words of a statement without its labels, and the ids that it names, in order."""

    words: str
    people: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> _StatementReading:
        """Parse a statement."""
        text = folded(unicodedata.normalize("NFKC", text[:_READ]))[:_READ]
        people = (*_LABEL.findall(text), *_BARE_ID.findall(_LABEL.sub(" ", text)))
        words = _BARE_ID.sub(" ", _LABEL.sub("", text))
        for pattern, word in _REWORDED:
            words = pattern.replaced(words, word)
        return cls(words, tuple(dict.fromkeys(people)))

    @cached_property
    def tokens(self) -> list[str]:
        """Characters of Chinese and words of other languages, without particles."""
        return [token for token in _TOKEN.findall(self.words) if token not in _PARTICLES]

    @cached_property
    def denied(self) -> str:
        """The words without those that look like a negation and are none."""
        return _NO_NEGATION.replaced(self.words, " ")

    @cached_property
    def negations(self) -> int:
        """The number of negations."""
        return sum(1 for _ in _NEGATION.finditer(self.denied))

    @cached_property
    def negated(self) -> frozenset[str]:
        """The word after each negation."""
        return frozenset(match["head"] for match in _NEGATED.finditer(self.denied))

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The numbers in order, except 1, which is too frequent as a word."""
        return tuple(dict.fromkeys(_numbers(self.words)))

    @cached_property
    def calendar(self) -> frozenset[str]:
        """Names of days and months, and relative time expressions."""
        relative = {self.words[one.start : one.stop] for one in mentions(self.words) if one.kind == "relative"}
        return frozenset({*_CALENDAR.findall(self.words), *relative})

    @cached_property
    def timeless(self) -> list[str]:
        """The tokens without times, numbers and link words."""
        words = list(self.words)
        for mention in mentions(self.words):
            words[mention.start : mention.stop] = " " * (mention.stop - mention.start)
        return [one for one in _TOKEN.findall("".join(words)) if one not in _LINKS and not one.isdecimal()]

    @cached_property
    def head(self) -> str:
        """The beginning of the statement after time expressions: its first word if Latin, else two characters."""
        return self.timeless[0] if self.timeless and self.timeless[0].isascii() else "".join(self.timeless[:2])


def _labelled_like(text: str, model: str) -> str:
    """Add the ids that ``model`` has behind names to the same names in ``text`` if the same characters follow."""
    for name in islice(_NAMED.finditer(model), _MOST_NAMES):
        follows = re.escape(name["next"]) or f"(?:[{_PARTED}]|$)"
        bare = f"(?<![^{_PARTED}]){re.escape(name['name'])}(?= ?{follows})"
        text = re.sub(bare, rf"\g<0>({name['id']})", text, count=1)
    return text


def _names_others(one: _StatementReading, other: _StatementReading) -> bool:
    return one.people != other.people


def _counts_otherwise(one: _StatementReading, other: _StatementReading) -> bool:
    if _FROM_TO.search(one.words) and one.numbers != other.numbers:
        return True
    return frozenset(one.numbers) != frozenset(other.numbers) or one.calendar != other.calendar


def _denies_otherwise(one: _StatementReading, other: _StatementReading) -> bool:
    if one.negations != other.negations:
        return True
    return _affirms_denied(one, other) or _affirms_denied(other, one)


def _is_denied(one: _StatementReading, other: _StatementReading) -> bool:
    """Return whether one statement affirms what the other denies, or they differ only by a negation."""
    if one.negations == other.negations:
        return False
    is_bare = len(set(one.tokens) ^ set(other.tokens)) <= _A_NO
    return is_bare or _affirms_denied(one, other) or _affirms_denied(other, one)


def _affirms_denied(one: _StatementReading, other: _StatementReading) -> bool:
    return any(head in other.words and not _is_among(head, other.negated) for head in one.negated)


def _is_among(word: str, words: frozenset[str]) -> bool:
    """Return whether a word or another form of it (drink, drinks) is among the words."""
    return any(one.startswith(word) or word.startswith(one) for one in words)


def _takes_other_side(one: _StatementReading, other: _StatementReading) -> bool:
    return any(_contrary(_sides(one, sides), _sides(other, sides)) for sides in CONTRARIES)


def _is_of_another_sort(one: _StatementReading, other: _StatementReading) -> bool:
    return any(sort.is_in(one.words) != sort.is_in(other.words) for sort in MODALITIES)


def _is_turned_round(one: _StatementReading, other: _StatementReading) -> bool:
    """Return whether two statements have their words in another order, or each has the other's first word later."""
    if sorted(one.tokens) == sorted(other.tokens):
        return one.timeless != other.timeless
    return _changed_places(one.head, other.head, one, other) or _changed_places(_first(one), _first(other), one, other)


def _exchanges_a_word(one: _StatementReading, other: _StatementReading) -> bool:
    """Return whether exactly one word differs, and the two words are not known synonyms."""
    mine, theirs = _trimmed(one.tokens, other.tokens)
    if not mine or not theirs or any(_is_among(word, frozenset(theirs)) for word in mine):
        return False
    if max(len(mine), len(theirs)) > _LONGEST_WORD[any(not token.isascii() for token in (*mine, *theirs))]:
        return False
    pair = {"".join(mine), "".join(theirs)}
    return not any(pair <= group for group in SYNONYMS)


_DIFFERENCES: tuple[Callable[[_StatementReading, _StatementReading], bool], ...] = (
    _names_others,
    _counts_otherwise,
    _denies_otherwise,
    _takes_other_side,
    _is_of_another_sort,
    _is_turned_round,
    _exchanges_a_word,
)


def _sides(reading: _StatementReading, sides: tuple[Pattern, Pattern]) -> list[int]:
    """Return which of two opposite words a statement contains: 0 or 1 in textual order, repetitions in a row once."""
    found = [(match.start(), side) for side, pattern in enumerate(sides) for match in pattern.finditer(reading.words)]
    return [side for side, _ in groupby(side for _, side in sorted(found))]


def _contrary(mine: list[int], theirs: list[int]) -> bool:
    return bool(mine and theirs) and mine != theirs and (mine[0] != theirs[0] or len(mine) == len(theirs))


def _first(reading: _StatementReading) -> str:
    match = _FIRST.search(reading.words)
    return match[1] if match else ""


def _changed_places(mine: str, theirs: str, one: _StatementReading, other: _StatementReading) -> bool:
    return bool(mine and theirs) and mine != theirs and mine in other.words and theirs in one.words


def _trimmed(mine: list[str], theirs: list[str]) -> tuple[list[str], list[str]]:
    """Remove the common beginning and end of two lists."""
    start = 0
    while start < min(len(mine), len(theirs)) and mine[start] == theirs[start]:
        start += 1
    mine, theirs = mine[start:], theirs[start:]
    stop = 0
    while stop < min(len(mine), len(theirs)) and mine[-1 - stop] == theirs[-1 - stop]:
        stop += 1
    return mine[: len(mine) - stop], theirs[: len(theirs) - stop]


def _numbers(words: str) -> Iterator[str]:
    for match in _CLOCK.finditer(words):
        hour = int(worth(match["h"]))
        is_late = bool(match["part"]) and hour < _NOON
        yield f"{hour + 12 * is_late}:{match['m'] or ('30' if match['half'] else '00')}"
    words = _CLOCK.sub(" ", words)
    yield from _VERSION.findall(words)
    words = _NO_NUMBER.sub(" ", _VERSION.sub(" ", words))
    for match in _NUMBER.finditer(words):
        if (value := worth(match[0])) != "1":
            yield value
    yield from (_ENGLISH_NUMBERS[token] for token in _TOKEN.findall(words) if token in _ENGLISH_NUMBERS)
