"""Stored text made harmless inside a prompt."""

from __future__ import annotations

from .names import one_line

_ANGLES = ("<＜﹤〈〈⟨❬❮❰⧼˂ᐸ≺‹", ">＞﹥〉〉⟩❭❯❱⧽˃ᐳ≻›")
_SQUARES = ("[［【〚⟦⁅❲﹇", "]］】〛⟧⁆❳﹈")
_TICKS = "`｀`ˋ"
_HARMLESS = str.maketrans(
    {
        **dict.fromkeys(_ANGLES[0], "‹"),
        **dict.fromkeys(_ANGLES[1], "›"),
        **dict.fromkeys(_SQUARES[0], "〔"),
        **dict.fromkeys(_SQUARES[1], "〕"),
        **dict.fromkeys(_TICKS, "'"),
    }
)


def defused(text: str) -> str:
    """Give a text as one line that can neither close the block it stands in nor look like a part of a prompt."""
    return one_line(one_line(text).translate(_HARMLESS))
