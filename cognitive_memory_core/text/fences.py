"""Stored text made harmless inside a prompt."""

from __future__ import annotations

from .names import one_line

_SWAPPED = {
    "‹": "<＜﹤≮〈\u2329⟨❬❮❰⧼˂ᐸ≺",
    "›": ">＞﹥≯〉\u232a⟩❭❯❱⧽˃ᐳ≻",
    "〔": "[［﹇【〚⟦⁅❲",
    "〕": "]］﹈】〛⟧⁆❳",
    "'": "`｀\u1fefˋ",
}
_HARMLESS = str.maketrans({char: harmless for harmless, chars in _SWAPPED.items() for char in chars})


def defused(text: str) -> str:
    """Give a text as one line that can neither close the block it stands in nor pass for another part of a prompt.

    Every angle and square bracket, of any width and likeness, becomes one that opens nothing, and backticks become
    quotes: no tag, chat-template token, [INST], 【系统】, [CQ:…] or code fence is left, nor does NFKC bring one back.
    There is no list of bad words to walk round. Signs are swapped, not escaped: the text grows no longer, a second
    pass changes nothing, and no reader can unescape it. Whoever shows the line writes something of their own before
    it, so that it cannot begin with "system:".
    """
    return one_line(text.translate(_HARMLESS))
