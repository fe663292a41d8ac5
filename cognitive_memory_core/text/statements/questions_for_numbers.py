"""Detection of questions for a number, and of lines that contain one."""

from __future__ import annotations

from ..characters import folded
from ..patterns import Pattern
from .questions import asked_sentences

_READ = 600  # characters of a text
_ASKS = Pattern(
    "(?<!没)(?<!没.)(?<!没..)(?<!没...)多少(?!有点|有些)|几[点个次天岁条位成分块楼页张台]|多[大久长远高快贵]|(?<!评)价(?!值)|花了|版本|收费|收钱|bpm"
    "|(?<![a-z])(?:how (?:many|much|long|old|often|far|tall|big)|what (?:time|price|size|percentage|number)|which year)"
    "(?![a-z])"
)
_HOLDS = Pattern(
    "[0-9]|[一二两三四五六七八九十百千万半][个点号块元天月年岁次条位成分周%毛张]"
    "|(?<![a-z])(?:one|two|three|four|five|six|seven|eight|nine|ten|twice|dozen|hundred)(?![a-z])"
)


def asks_for_number(text: str) -> bool:
    """Return whether a question asks for a number, a price, an hour or a size.

    If any sentence has a question mark, only sentences with one are examined: the others tell of something else.
    """
    read = folded(text[:_READ])
    return any(_ASKS.compiled.search(one) for one in asked_sentences(read) or (read,))


def holds_number(text: str) -> bool:
    """Return whether a line contains a number, in figures or in words."""
    return bool(_HOLDS.compiled.search(folded(text[:_READ])))
