"""Analysis of a group's rule: which of its days recur, and which of its clauses say what no longer holds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..lexical.folding import folded
from ..lexical.terms import index_terms
from ..patterns import Pattern
from .agreement import CitedLine, disagreements
from .group_rules import ends_rules, forbids
from .lexicon import Offence

_HALF, MOST = 0.5, 0.8
_CLAUSE = re.compile("(?<=[，,；;。])")
_NO_LONGER = Pattern(
    "不再|不[^，,；;。]{1,12}了(?=$|[，,；;。])|取消|停止|原(?:来|先|定|为|在)|此前|以前|no longer|not any ?more"
)
_REPLACED = Pattern("(?:由|从)(?P<old>[^，,；;。]{1,24}?)(?=改|换[成为到]|调[到至为]|挪|移[到至])")
_RECURRING_DAY = Pattern(
    "(?:周|星期|礼拜)[一二三四五六日天末].*|周末.*|[月年][初中底末].*|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
)
_TIMES = Pattern(
    "[0-9]{4}年|[0-9]{1,2}月[0-9]{1,2}[日号]?|[0-9]{1,2}[日号]|[0-9]{1,2}[:：][0-9]{2}|[0-9一二两三四五六七八九十]{1,3}点半?"
    "|每?(?:周|星期|礼拜)[一二三四五六日天末]|每[周天月年晚]|(?:那[周天])?起"
)
_ONCE = Pattern("[这本下上]个?(?:周(?!起|开始|会)|星期|礼拜|次|回|月)|今[天晚早]|明[天晚早]|后天|临时|仅此|暂时")
_AGAIN = Pattern(
    "每|逢|照旧|照例|固定|一律|统一|以后|今后|往后|从此|起(?:改|定|都|周|每|就|$|[，,])|规矩|惯例|习惯|一般|通常|平时|[周月日年例晨早晚]会|例行|[周月日双]报|周.局"
    "|always|every|weekly|regular|(?:mon|tues|wednes|thurs|fri|satur|sun)days"
)


def recurs(offence: Offence, statement: str, lines: Sequence[str]) -> bool:
    """Return whether a day in a rule recurs, such as 周二 in 周二晚九点开周会.

    The rule or one of its lines must contain a word of repetition, such as 从这周起; or one of them must forbid
    something and none contain a word such as "this once".
    """
    if offence.kind != "time" or not _RECURRING_DAY.fullmatch(folded(offence.word)):
        return False
    texts = [folded(text) for text in (statement, *lines)]
    if any(_AGAIN.compiled.search(text) for text in texts):
        return True
    return any(map(forbids, texts)) and not any(_ONCE.compiled.search(text) for text in texts)


def untimed(statement: str) -> str:
    """Return a statement without days and hours, because a line may write them differently: 20:30 for 八点半."""
    return _TIMES.compiled.sub(" ", statement)


def present(statement: str, lines: Sequence[str], before: str = "") -> str:
    """Return the part of a rule that its lines must support: without clauses on what no longer holds.

    Clauses of the version ``before`` are also left out. 周会改到周四，不再在周二 becomes 周会改到周四. Where the lines
    end something, a clause on what ended stays if a line says that it still holds. If no clause remains, return the
    whole rule.
    """
    told = _REPLACED.compiled.sub(lambda match: "" if _is_of(match["old"], before) else match[0], statement)
    changes = any(map(ends_rules, lines))
    kept = [
        clause
        for clause in _CLAUSE.split(told)
        if not (
            _is_of(clause, before, MOST)
            or (
                _NO_LONGER.compiled.search(clause)
                and (_is_of(clause, before) or (changes and not _is_affirmed(clause, lines)))
            )
        )
    ]
    return "".join(kept) or statement


def _is_of(text: str, before: str, share: float = _HALF) -> bool:
    """Return whether ``before`` contains at least ``share`` of the pairs of characters of ``text``."""
    pairs = {term for term in index_terms(_NO_LONGER.compiled.sub("", text)) if len(term) > 1}
    return bool(pairs) and len(pairs & {*index_terms(before)}) >= share * len(pairs)


def _is_affirmed(clause: str, lines: Sequence[str]) -> bool:
    """Return whether a line affirms, in the same words, what a clause says is over."""
    return any("polarity" in disagreements(clause, [CitedLine(line)]) and _is_of(clause, line) for line in lines)
