"""Compares a statement with the lines that it cites: denial, refusal, question, figures and dates must agree."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Literal, NamedTuple

from .differing_figures import differing_figures
from .polarity import Clause, clauses_of, declines, dismisses, weight_of

Disagreement = Literal["polarity", "question", "figure"]
READ = 600  # characters of a statement and of a line that are read
READ_OF_ALL = 2_000  # characters of all lines
_LABEL = re.compile(r" ?[(（][0-9A-Za-z_-]{1,128}[)）] ?")  # a space left of it would part 别私聊 阿绿(1) 点菜
_QUOTED = re.compile('[“”"「『《]([^“”"「」『』《》]{1,40})[“”"」』》]')
_NEAR = 0.92  # of the best overlap; clauses that share about as much may be the ones that a clause was made of
_SHARED = 0.4  # weight of common words from which two clauses are compared
_CONTRARY = 0.3  # weight of common words with contrary signs that is tolerated
_HALF = 0.5
LEAST_CONTRARY = 2  # characters of Chinese or words


class CitedLine(NamedTuple):
    """One cited line with its wall-clock time (None if unknown), from which words such as "yesterday" are resolved."""

    text: str
    when: datetime | None = None


def disagreements(
    statement: str, lines: Sequence[CitedLine], names: Collection[str] = (), around: str = ""
) -> tuple[Disagreement, ...]:
    """Return the kinds of contradiction between a statement and the lines from which it was made; () if there is none.

    ``names`` are of people and places. A figure may also come from the texts ``around`` if the cited lines contain
    none, or if the statement tells what held before. If lines contradict one another, the statement may follow either:
    不去 and later 还是去吧. Only what both the statement and the lines mention is compared: a summary may leave things
    out.
    """
    told = _bare(statement, names)
    share = max(min(READ, READ_OF_ALL // max(len(lines), 1)), 1)
    said = [CitedLine(_bare(line.text[:share], names), line.when) for line in lines]
    if len(said) == 1 and told == said[0].text:
        return ()
    quoted = _quoted_by_both(told, said)
    texts = [_unasked(line.text, quoted) for line in said]
    found: list[Disagreement] = _denials(clauses_of(_unasked(told, quoted)), _spoken(texts))
    if differing_figures(told, said, around):
        found.append("figure")
    return tuple(dict.fromkeys(found))


def opposes(statement: str, line: str, names: Collection[str] = ()) -> bool:
    """Return whether a line affirms at least two words that a statement denies, or denies two that it affirms.

    ``names`` are of people and places. 周日不艾特人 opposes 周日可以艾特人; 群名不改 does not oppose 改周六两点.
    """
    told, said = clauses_of(_bare(statement, names)), _spoken([_bare(line, names)])
    if "polarity" not in _denials(told, said):
        return False
    both = _of_both_signs(told) | _of_both_signs(said)
    contrary = (
        {word for word, product in _compared(clause, other).items() if product < 0} - both
        for clause in told
        for other in said
    )
    return any(len(words) >= LEAST_CONTRARY for words in contrary)


def _of_both_signs(clauses: Sequence[Clause]) -> set[str]:
    """Return the words that some clause affirms and some other clause denies."""
    signs = [(word, sign) for clause in clauses for word, sign in clause.signs.items()]
    return {word for word, sign in signs if sign and (word, -sign) in signs}


def _bare(text: str, names: Collection[str]) -> str:
    text = text[:READ]
    for name in sorted((name for name in names if name and name in text), key=len, reverse=True):
        text = re.sub(f"{re.escape(name)}(?=[(（])", "", text)
    return _LABEL.sub("", text)


def _quoted_by_both(told: str, said: Sequence[CitedLine]) -> frozenset[str]:
    """Return the words that both a line and the statement quote; a quoted slogan is not taken for a question."""
    in_lines = {match[1] for line in said for match in _QUOTED.finditer(line.text) if len(match[0]) < len(line.text)}
    return frozenset(match[1] for match in _QUOTED.finditer(told) if match[1] in in_lines)


def _unasked(text: str, quoted: Collection[str]) -> str:
    for words in quoted:
        text = text.replace(words, words.rstrip("吗么呢？? "))
    return text


def _spoken(lines: Sequence[str]) -> list[Clause]:
    """Return the clauses of all lines in order; a question no longer counts as asked if a later line may answer it."""
    parsed = [clauses_of(line) for line in lines]
    said_clauses: list[Clause] = []
    for index, clauses in enumerate(parsed):
        if said_clauses and (
            dismisses(lines[index]) or (declines(lines[index]) and _is_put(said_clauses[-1], lines[index - 1]))
        ):
            said_clauses[-1] = said_clauses[-1].denied()
        is_answered = any(not any(clause.asks for clause in later) for later in parsed[index + 1 :])
        said_clauses += [Clause(one.signs, is_answered=one.asks) if is_answered else one for one in clauses]
    return said_clauses


def _is_put(clause: Clause, line: str) -> bool:
    """Return whether a line asks or proposes something, so that a bare "no" in the next line answers it."""
    return clause.asks or clause.proposes or line.rstrip("。！!~ ").endswith("吧")


def _denials(told: Sequence[Clause], said: Sequence[Clause]) -> list[Disagreement]:
    return [kind for clause in told if (kind := _against(clause, said))]


def _against(clause: Clause, said: Sequence[Clause]) -> Disagreement | None:
    """Return "question" or "polarity" if a statement's clause contradicts all clauses of the lines on its topic.

    None if no clause is on its topic, or if it agrees with one of them.
    """
    overlaps = [(_overlap(clause, other), other) for other in said]
    most = max((weight for weight, _ in overlaps), default=0.0)
    if most < _SHARED:
        return None
    nearest = [other for weight, other in overlaps if weight >= _NEAR * most]
    if not clause.proposes and not any(_asks_alike(clause, other) for other in nearest):
        return "question"
    supported = {word for other in said for word, product in _compared(clause, other).items() if product > 0}
    has_denial = any(other.denies for other in said)
    is_free = any(_may_agree(clause, other, supported, has_denial=has_denial) for other in nearest)
    return None if is_free else "polarity"


def _asks_alike(clause: Clause, other: Clause) -> bool:
    """Return whether both are questions or both are not, or the lines also answered the question: A 问…，B 答…."""
    return clause.asks == other.asks or (clause.asks and other.is_answered)


def _compared(clause: Clause, other: Clause) -> dict[str, int]:
    """Map each common word to 1 if both affirm or both deny it, -1 if they differ, 0 if either leaves it undecided."""
    return {word: clause.signs[word] * other.signs[word] for word in clause.signs.keys() & other.signs.keys()}


def _overlap(clause: Clause, other: Clause) -> float:
    """Return the weight of the common words; a word that either clause leaves undecided counts half."""
    common = clause.signs.keys() & other.signs.keys()
    decided = [word for word in common if clause.signs[word] and other.signs[word]]
    return (weight_of(common) + weight_of(decided)) / 2


def _may_agree(clause: Clause, other: Clause, supported: AbstractSet[str], *, has_denial: bool) -> bool:
    """Return whether two clauses may both hold: few of their common words are affirmed by one and denied by the other.

    Words in ``supported`` do not count: another clause of the lines supports them. ``has_denial`` says that some clause
    of the lines denies something: it may deny the thing that ``other`` only names (北窗我回了 不签).
    """
    products = _compared(clause, other)
    contrary = weight_of(word for word, product in products.items() if product < 0 and word not in supported)
    if contrary < _CONTRARY or contrary <= weight_of(word for word, product in products.items() if product > 0):
        return True
    if not has_denial or other.denies:
        return False
    return contrary < _HALF * clause.denies or any(clause.signs.get(word, 0) < 0 for word in supported)
