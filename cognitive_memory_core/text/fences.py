"""Text that can neither close its block nor pass for another part of a prompt."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache

from .characters import cleared_on_erasure, replacing
from .cleaning import one_line

_SWAPPED = {
    "‹": "<＜﹤≮〈\u2329⟨❬❮❰⧼˂ᐸ≺",
    "›": ">＞﹥≯〉\u232a⟩❭❯❱⧽˃ᐳ≻",
    "〔": "[［﹇【︻〚⟦⁅❲",
    "〕": "]］﹈】︼〛⟧⁆❳",
    "'": "`｀\u1fefˋ",
}
_harmless = replacing({ord(char): harmless for harmless, chars in _SWAPPED.items() for char in chars})
_FULL_WIDTH = str.maketrans("‹›", "＜＞")
_CHAT_TOKEN = re.compile("(?<=‹)[|｜]|[|｜](?=›)")
_AMPERSANDS = frozenset("&＆﹠")
_ENTITY = re.compile("[&＆﹠][#＃﹟]?\\w{1,32}[;；﹔︔\u037e]?")


@cleared_on_erasure
@lru_cache(maxsize=4_096)  # names of a place, and events near its lines, are shown in one prompt after another
def defused(text: str) -> str:
    """Return a text as one line that can neither close its block nor pass for another part of a prompt.

    Angle and square brackets of every width and lookalike are replaced by harmless ones, and backticks by
    quotes: no tag, chat-template token, [INST], 【系统】, [CQ:…] or code fence remains, nor does NFKC restore one.
    The first sign of &lt; and similar entities is replaced, so that decoding entities restores none either. There is no
    list of forbidden words to evade. Signs are replaced, not escaped: the text does not grow, a second
    pass changes nothing, and no reader can unescape it. The caller must write a prefix before the line,
    so that it cannot begin with "system:".
    """
    line = _harmless(one_line(text))
    return _ENTITY.sub(_unread, line) if _AMPERSANDS.intersection(line) else line


def full_width(text: str) -> str:
    """Return a defused text with full-width angle brackets, for a block whose fence is made of other signs.

    A reader who normalises the block gets plain angle brackets, which form no fence and no chat-template token,
    because the bar beside a bracket is replaced too. A second pass changes nothing.
    """
    line = defused(text)
    return _CHAT_TOKEN.sub("¦", line).translate(_FULL_WIDTH) if "‹" in line or "›" in line else line


def _unread(entity: re.Match[str]) -> str:
    """Replace the & of an HTML entity if decoding it yields a sign that :func:`defused` replaces, or another &."""
    for written in {entity[0], unicodedata.normalize("NFKC", entity[0])}:  # a reader may decode before it normalises
        read = html.unescape(written)
        if read != written and (read[:1] in {"", "&"} or _harmless(read) != read):
            return f"⅋{entity[0][1:]}"
    return entity[0]
