"""Names of people and groups, cleaned for display; a name has no brackets and no line end."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .characters import CharacterTable, cleared_on_erasure
from .cleaning import JOINER, one_line

NAME_LENGTH = 40
_NAME_READ = 1_000  # characters of a longer name that are read
_NOBODY = ("unknown", "anonymous", "null", "none", "nil", "undefined")
_PLACEHOLDERS = frozenset(("用户", "qq用户", "匿名", "匿名用户", "未知", "未知用户", *_NOBODY))
_OPENING = "(❨❪⦅⟮⸨﴿"
_CLOSING = ")❩❫⦆⟯⸩﴾"


@cleared_on_erasure
@lru_cache(maxsize=5_000)  # the same people speak again and again
def clean_name(name: str, *, limit: int = NAME_LENGTH) -> str:
    """Return the name of a person or group for display: one line of at most ``limit`` characters, or "".

    A user may choose a name to pass as somebody else, and people are written ``name(id)`` everywhere. Therefore a name
    never contains line breaks, direction or hidden characters, or round brackets: brackets of every width become
    〔 and 〕, and "12345(管理员)" cannot be taken for the label of 12345. Placeholders that clients send
    ("QQ用户", "null") yield "".
    """
    line = one_line(name[:_NAME_READ].translate(_BRACKETS))
    line = line[: max(limit, 0)].strip().rstrip(JOINER)
    start = next((index for index, char in enumerate(line) if unicodedata.category(char)[0] != "M"), len(line))
    line = line[start:].strip()  # an accent at the beginning would combine with the text before it
    return "" if line.casefold() in _PLACEHOLDERS else line


def _unbracketed(char: str) -> str:
    """Return a character with round brackets, also those inside one such as ⑴, replaced by 〔 and 〕."""
    plain = unicodedata.normalize("NFKC", char)
    if not any(bracket in plain for bracket in _OPENING + _CLOSING):
        return char
    return "".join("〔" if part in _OPENING else "〕" if part in _CLOSING else part for part in plain)


_BRACKETS = CharacterTable(_unbracketed)
_SPOKEN = re.compile(r"\w{2,}")


def short_form(name: str) -> str:
    """Return the leading word of a longer display name: 陈皮 of 陈皮〔已还魂〕."""
    match = _SPOKEN.match(name)
    return match[0] if match else name
