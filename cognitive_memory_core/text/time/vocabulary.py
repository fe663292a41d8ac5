"""Words of time, Chinese and western, and what they count: days, steps, weekdays, months, units, parts, numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, TypeVar

Unit = Literal["second", "minute", "hour", "day", "week", "month", "year"]
T = TypeVar("T")


def meaning(words: Mapping[T, str]) -> dict[str, T]:
    """Map each word to what it means, from a mapping of meanings to words separated by bars."""
    return {word: one for one, several in words.items() for word in several.split("|")}


def either(words: Iterable[str]) -> str:
    """Return a pattern of any of the words, the longest first."""
    return "|".join(sorted(words, key=len, reverse=True))


def western(words: Iterable[str]) -> str:
    """Return a pattern of any of the words that are written in Latin letters."""
    return either(filter(str.isascii, words))


def _numbered(*lists: str, start: int = 1) -> dict[str, int]:
    return {word: index for words in lists for index, word in enumerate(words.split(), start)}


DAYS = meaning(
    {
        -3: "大前",
        -2: "前|day before yesterday",
        -1: "昨|yesterday|gestern|hier|ieri|ayer",
        0: "今|today|tonight|heute|oggi|hoy|aujourd'hui",
        1: "明|tomorrow|morgen|demain|domani|manana",
        2: "后|day after tomorrow",
        3: "大后",
    }
)
YEARS = {"大前": -3, "前": -2, "去": -1, "今": 0, "本": 0, "明": 1, "后": 2}
ENGLISH_STEPS = meaning({-1: "last|previous", 0: "this|current", 1: "next|coming"})
STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2, "before last": -2} | ENGLISH_STEPS
_ENGLISH_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
WEEKDAYS = _numbered("一 二 三 四 五 六 日", _ENGLISH_WEEKDAYS, start=0) | {"天": 6}
MONTHS = _numbered(
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
) | {"sept": 9}
WEEKENDS = ("weekend", "week-end", "wochenende", "fine settimana", "fin de semana")
ORDINALS = _numbered("first second third fourth", "1st 2nd 3rd 4th", "q1 q2 q3 q4")  # of quarters
UNITS: dict[str, Unit] = meaning(
    {
        "second": "秒|秒钟|second|seconds",
        "minute": "分钟|minute|minutes",
        "hour": "小时|钟头|hour|hours|stunden|heures|horas|ore",
        "day": "天|day|days|tag|tage|tagen|jour|jours|dia|dias|giorno|giorni",
        "week": "周|星期|礼拜|week|weeks|woche|wochen|semaine|semaines|semana|semanas|settimana|settimane",
        "month": "月|month|months|monat|monate|monaten|mois|mes|meses|mese|mesi",
        "year": "年|year|years|jahr|jahre|jahren|an|ans|annee|annees|ano|anos|anno|anni",
    }
)
SEASONS = meaning({"春天": "spring", "夏天": "summer", "秋天": "autumn|fall", "冬天": "winter"})
QUARTERS = ("第一季度", "第二季度", "第三季度", "第四季度")
PARTS = (
    SEASONS
    | meaning(  # of a day, a month or a year: other words for the names that the rules use
        {
            "清晨": "清早|晨",
            "早上": "一早|早晨|早|morning|a",
            "中午": "正午|noon|midday",
            "下午": "午后|afternoon|p",
            "晚上": "晚|夜晚|evening|night|tonight",
            "夜里": "夜|半夜|深夜",
            "初": "年初|early",
            "中": "年中|mid",
            "底": "末|年底|年末|late",
            "春天": "春季",
            "夏天": "夏季",
            "秋天": "秋季",
            "冬天": "冬季",
            **{name: f"{name[1:]}|第{at}季度|{at}季度|q{at}" for at, name in enumerate(QUARTERS, 1)},
        }
    )
)
PARTS_OF_DAY = "凌晨|清晨|清早|一早|早上|早晨|上午|中午|午后|下午|傍晚|晚上|夜里|夜晚|半夜|深夜"


_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_EITHER = _DIGITS | {str(value): value for value in range(10)}  # people mix both: 三12
_UNITS = {"十": 10, "百": 100, "千": 1_000}
_STEPS = {"万": 10_000, "亿": 100_000_000}
_UP_TO_TWELVE = "one two three four five six seven eight nine ten eleven twelve"
_WORDS = {"a": 1, "an": 1} | {word: value for value, word in enumerate(_UP_TO_TWELVE.split(), 1)}
_NO_NUMBER = re.compile("[一二三四五六七八九两]{2}|[^零一二三四五六七八九两十百]|^$")  # 两三天 is no single number


def number(text: str) -> int:
    """Parse digits, Chinese numerals below a thousand, or an English word up to twelve; raise ValueError otherwise."""
    word = text.casefold()
    if word.isascii():
        return _WORDS[word] if word in _WORDS else int(word)
    if _NO_NUMBER.search(text):
        raise ValueError(text)
    return worth(text)


def worth(numeral: str) -> int:
    """Return the value of a numeral of any size; spelt digits (二零二六) and short forms (两千四) are supported."""
    if all(char in _EITHER for char in numeral):
        return int("".join(str(_EITHER[char]) for char in numeral))
    total = section = digit = 0
    last = 1
    for char in numeral:
        if char in _EITHER:
            digit, last = _EITHER[char], 1 if char == "零" else last
        elif char in _UNITS:
            last = _UNITS[char]
            section, digit = section + (digit or 1) * last, 0
        else:
            last = _STEPS[char]
            total, section, digit = (total + section + digit or 1) * last, 0, 0
    return total + section + digit * max(last // 10, 1)
