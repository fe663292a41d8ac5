"""Translates what the core reports into the language of the page, where a translation exists."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ..replies.core_en import PAIRS

LONGEST = 1_000  # characters of a sentence that is compared with the templates
_VALUE = re.compile(r"\\{(\w+)\\}")


@dataclass(frozen=True)
class Reported:
    """A sentence of the core as a page shows it; ``is_foreign`` if it is Chinese on a page of another language."""

    text: str
    is_foreign: bool = False


def reported(sentence: str, language: str) -> Reported:
    """Return a sentence of the core in a language; unchanged and marked as foreign if it has no translation."""
    if language == "zh" or not sentence:
        return Reported(sentence)
    english = _in_english(sentence) if len(sentence) <= LONGEST else None
    return Reported(sentence, is_foreign=True) if english is None else Reported(english)


def _in_english(sentence: str) -> str | None:
    for pattern, words in _patterns():
        if match := pattern.fullmatch(sentence):
            values = {name: _in_english(value) or value for name, value in match.groupdict().items()}
            return words.format(**values)
    return None


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    value = r"(?P<\1>[^\\n]{1,200}?)"
    return tuple((re.compile(_VALUE.sub(value, re.escape(chinese))), words) for chinese, words in PAIRS)
