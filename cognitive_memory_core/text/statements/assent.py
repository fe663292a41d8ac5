"""Detection of lines of chat that agree to what was said before them, or reject it."""

from __future__ import annotations

from ..lexical.folding import folded
from ..patterns import Pattern

_READ = 200  # characters of a line
_WORD = (
    "(?:同意|赞成|附议|支持|赞同|没意见|没问题|可以|行|好|收到|知道|明白|了解|遵守|照办|就这么定|就这样|说得对|对|是|\\+1|1|赞|👍|👌"
    "|ok|okay|yes|agreed?|sure|roger|fine)"
)
_TAIL = "(?:的|了|啊|呀|哈|呢|嘞|嗯|哦|噢|吧|啦|滴|哒)*"
_LEAD = "(?:@[^\\s]{1,32}\\s*)?(?:我也|我们|我|也|都|完全|举双手|嗯+)*[，,、 ]*"
_ASSENT = Pattern(f"{_LEAD}(?:{_WORD}{_TAIL})+(?:[，,、。.!！~～ ]|$)")
_REFUSAL = Pattern(
    "不(?:同意|赞成|支持|赞同|行|可以|好|对|服|接受|认同|遵守)|(?<!没人)(?<!没有)反对(?!都?没有|的?没有)|凭什么|(?:同意|支持|赞成)(?:个|你妹|才怪)|没(?:同意|答应)|谁(?:同意|说|答应|定)"
    "|(?<![a-z])(?:disagree|object|no way|nope)(?![a-z])"
)


def assents(line: str) -> bool:
    """Return whether a line begins with agreement and contains no word of rejection."""
    said = folded(line[:_READ]).strip()
    return bool(_ASSENT.compiled.match(said)) and not refuses(said)


def refuses(line: str) -> bool:
    """Return whether a line contains a word that rejects what was said before it, or asks who said so."""
    return _REFUSAL.is_in(folded(line[:_READ]))
