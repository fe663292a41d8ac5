"""Stored text made harmless inside a prompt."""

from __future__ import annotations

import html
import re
import unicodedata

from ..identity.names import one_line

_SWAPPED = {
    "‹": "<＜﹤≮〈\u2329⟨❬❮❰⧼˂ᐸ≺",
    "›": ">＞﹥≯〉\u232a⟩❭❯❱⧽˃ᐳ≻",
    "〔": "[［﹇【︻〚⟦⁅❲",
    "〕": "]］﹈】︼〛⟧⁆❳",
    "'": "`｀\u1fefˋ",
}
_HARMLESS = str.maketrans({char: harmless for harmless, chars in _SWAPPED.items() for char in chars})
_FULL_WIDTH = str.maketrans("‹›", "＜＞")
_CHAT_TOKEN = re.compile("(?<=‹)[|｜]|[|｜](?=›)")
_AMPERSANDS = frozenset("&＆﹠")
_ENTITY = re.compile("[&＆﹠][#＃﹟]?\\w{1,32}[;；﹔︔\u037e]?")


def defused(text: str) -> str:
    """Give a text as one line that can neither close the block it stands in nor pass for another part of a prompt.

    Every angle and square bracket, of any width and likeness, becomes one that opens nothing, and backticks become
    quotes: no tag, chat-template token, [INST], 【系统】, [CQ:…] or code fence is left, nor does NFKC bring one back.
    The first sign of &lt; and the like is turned over, so that reading entities brings none back either. There is no
    list of bad words to walk round. Signs are swapped, not escaped: the text grows no longer, a second
    pass changes nothing, and no reader can unescape it. Whoever shows the line writes something of their own before
    it, so that it cannot begin with "system:".
    """
    line = one_line(text).translate(_HARMLESS)
    return _ENTITY.sub(_unread, line) if _AMPERSANDS.intersection(line) else line


def full_width(text: str) -> str:
    """Return a defused text with full-width angle brackets, for a block whose fence is made of other signs.

    A reader who normalises the block gets plain brackets back: no fence of ours, and no chat-template token either,
    since the bar beside a bracket is replaced too. A second pass changes nothing.
    """
    line = defused(text)
    return _CHAT_TOKEN.sub("¦", line).translate(_FULL_WIDTH) if "‹" in line or "›" in line else line


def _unread(entity: re.Match[str]) -> str:
    """Break what would be read as a sign that is swapped, or as the beginning of another entity."""
    plain = unicodedata.normalize("NFKC", entity[0])
    read = html.unescape(plain)
    is_sign = read != plain and (read[:1] in {"", "&"} or read.translate(_HARMLESS) != read)
    return f"⅋{entity[0][1:]}" if is_sign else entity[0]
