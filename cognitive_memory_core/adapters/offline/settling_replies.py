"""Recognises short lines that settle the line they answer: they agree, refuse, choose, or take a task over."""

from __future__ import annotations

import re

from ...text.lexical.folding import folded
from .memorable_passages import is_joke, is_short_lived
from .sentence_filter import asks, has_content

LONGEST = 16  # letters of a line that settles another
_SHORTEST_ANSWERED = 4  # letters of a line that can be settled
_NO_WORDS = re.compile(r"[\W_]+")
_VERDICT = re.compile(
    "[…。.~～ ]*"
    "(?:(?:我[也都]?|都|也)?(?:行|好|可以|同意|赞成|批准|准了|通过|没问题|没意见|\\+1|支持)(?:[的啊呀哦嘞吧了，, ]|$)"
    "|我(?:去|来|做|写|画|负责|认领|报名|参加|不[去来要行])(?:吧|了|啊|$|[，, ])|我也(?:$|[，, ]|[去来要不])"
    "|那就.{2,}|就(?:这|那|它|订|选|用|按)|订这|选这|用这|定了|先(?!睡|走|撤|溜|吃).{2,}再|别(?:$|[，, ])"
    "|不(?:行|要|用|可以|同意|去|来|签|换|改|参加)(?:$|[了啊，, ])|否决|驳回|做梦|没门|算了|取消|算 "
    "|(?:ok|okay|yes|no|agreed|deal|i'll do it|i will|count me in|let's do (?:it|that))(?:$|[ ,.!]))"
)


def settles(said: str) -> bool:
    """Return whether a line is short and begins by agreeing, refusing, choosing or taking over, and is no question."""
    read = folded(said).strip()
    length = len(_NO_WORDS.sub("", read))
    return 0 < length <= LONGEST and bool(_VERDICT.match(read)) and not asks(said) and not is_joke(said)


def can_be_settled(answered: str) -> bool:
    """Return whether a short answer can settle a line; errands, jokes and orders to the bot cannot be settled."""
    is_serious = has_content(answered) and not (is_joke(answered) or is_short_lived(answered))
    return is_serious and len(_NO_WORDS.sub("", answered)) >= _SHORTEST_ANSWERED
