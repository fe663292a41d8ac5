"""Analysis of problems and solutions as people tell them: which problems are the same, what a solution consists of."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import fsum

from .. import sentences
from ..domain.erasure import keys_of
from ..domain.event import Event
from ..domain.message import Message
from ..domain.profile import Profile
from .characters import cleared_on_erasure, folded
from .statements import ID_LABEL, values_of
from .terms import FUNCTION_WORDS, index_terms, telling
from .time.time_words import mentions

_READ = 500  # characters of a text that are read
SAME, LEAST = 0.58, 0.42  # measured on 28 pairs of problems: 13 of 15 equal ones are joined, no two different ones
BY_SOLUTION = 0.3  # how much an equal solution adds
_AGAIN = re.compile(r"又|了|老是|总是?|一直|经常|有时候?|的|以后|之后|突然|今天|刚才?")
_CODE = re.compile(r"[a-z]*[0-9]+[a-z0-9]*")
_STEPS = re.compile(
    r"先(?!生|前|进|锋).{2,}?(?:再|然后|接着|最后)|第[一二三四1-4]步|[，,；;。]\s*(?:然后|接着)|(?:^|\s)1[.、)）].+2[.、)）]"
)
_STEP_ENDS = re.compile(
    r"[，,；;。]?\s*(?:然后|接着|最后|第[一二三四五六七八九十1-9]步[：:，,]?|(?<![0-9.])[1-9][.、)）](?![0-9]))"
    r"|[，,；;。]\s*再|[；;]"
)
_TOOL = re.compile(
    r"`[^`]+`|(?<![a-z0-9])(?:[a-z][a-z0-9_.-]*\s+(?:-{1,2}[a-z][\w-]*|install|run|pull|push|update|add|config)"
    r"|[a-z_]+\([^)]*\)|--[a-z-]+)|脚本|写(?:了|个|一个)?(?:程序|宏|工具|机器人)|自动化|定时任务"
)
_LEAST_STEP = 2  # characters


@dataclass(frozen=True)
class ProblemReading:
    """The terms of a problem and of its solution, and the numbers and codes in the problem."""

    problem: frozenset[str]
    solution: frozenset[str]
    codes: frozenset[str]

    @classmethod
    def of(cls, problem: str, solution: str = "") -> ProblemReading:
        """Extract the terms of both texts, and the numbers and codes of the problem."""
        codes = _CODE.findall(ID_LABEL.sub("", folded(problem[:_READ])))
        return cls(_problem(problem), _problem(solution), frozenset(codes))

    def is_same(self, other: ProblemReading) -> bool:
        """Return whether two problems are the same by their words; similar solutions count a little."""
        has_other_codes = bool(self.codes and other.codes) and self.codes.isdisjoint(other.codes)
        alike = _likeness(self.problem, other.problem)
        if alike >= LEAST:
            alike += BY_SOLUTION * _likeness(self.solution, other.solution)
        return alike >= SAME and not has_other_codes


def shared(text: str, told: str) -> float:
    """Return the share of the term weight of ``text`` whose terms also occur in ``told``, in [0, 1]."""
    return share(_problem(text), _problem(told, len(told)))


def uses_tool(solution: str) -> bool:
    """Return whether a solution is a command, a script or a program."""
    return bool(_TOOL.search(folded(solution[:_READ])))


def has_steps(solution: str) -> bool:
    """Return whether a solution lists several steps in order."""
    return bool(_STEPS.search(folded(solution[:_READ]))) and len(steps_of(solution)) > 1


def steps_of(solution: str) -> list[str]:
    """Split a solution into its steps."""
    parts = (part.strip(" ，,；;。.、：:") for part in _STEP_ENDS.split(solution[:_READ]))
    return [part.removeprefix("先") for part in parts if len(part) >= _LEAST_STEP]


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    here, there = share(one, other), share(other, one)
    return 2 * here * there / (here + there) if here else 0.0


def _problem(text: str, length: int = _READ) -> frozenset[str]:
    return trace_of(_AGAIN.sub("", ID_LABEL.sub("", text[:length])))


MOST = 0.5  # share of a statement from which a text contains it
RECITED = 0.4  # share from which a line of chat repeats it; see docs/decisions/0019-forgotten-lines.md
_FRAME = frozenset("不没也很最更太喜欢爱讨厌怕吃喝看玩听说想会要能在住做是有去来过着了打算计划习惯经常每天觉得最近正")
_OF_FRAME = 0.1  # weight of generic openings: 不喜欢吃, 打算, 住在
_SPLIT = re.compile(r"(?<=[。！？!?；;\n])")
_MARKS = "-*+•>· \t"  # characters before the text of a line
_PIECE = 1_000  # characters that are split into terms at once
_LABEL = re.compile(r"[^\s，。！？、：；,.!?:;()（）]{1,32}[(（][0-9]{5,}[)）]")


@dataclass(frozen=True)
class WithdrawnClaim:
    """A statement that must no longer be repeated; the words of the texts in ``but`` may still be said."""

    text: str
    but: tuple[str, ...] = ()

    @cached_property
    def trace(self) -> frozenset[str]:
        """The terms by which a repetition of the claim is recognised."""
        return trace_of(self.text, self.but)

    def is_told_by(self, text: str) -> bool:
        """Return whether a text contains most of the claim, or consists mostly of it.

        If all words of the claim are in ``but`` and only a value is not (周二 was replaced by 周四), the text must have
        that value and share a word of the topic.
        """
        if not self.trace and self._values:
            has_topic = not _telling(self._terms).isdisjoint(trace_of(text))
            return has_topic and not self._values.isdisjoint(values_of(text))
        said = trace_of(text, self.but)
        return share(self.trace, said) > MOST or share(said, self._terms) > MOST

    def is_recited_by(self, line: str) -> bool:
        """Return whether a line has over the share ``RECITED`` of the claim's weight, and at least two of its terms.

        One term suffices if the claim has only one.
        """
        said = trace_of(line, self.but)
        return len(self.trace & said) >= min(len(self.trace), 2) > 0 and share(self.trace, said) > RECITED

    @cached_property
    def _values(self) -> frozenset[object]:
        """The days, times and numbers of the claim that the texts in ``but`` do not have."""
        return values_of(self.text).difference(*map(values_of, self.but))

    @cached_property
    def _terms(self) -> frozenset[str]:
        return _terms(self.text)


def trace_of(text: str, but: Iterable[str] = ()) -> frozenset[str]:
    """Return the terms of a text with content, without its times and without the terms of the texts in ``but``."""
    timeless = text
    for found in reversed(mentions(text)):
        timeless = f"{timeless[: found.start]} {timeless[found.stop :]}"
    return _telling(_terms(timeless)).difference(*map(_terms, but))


def share(trace: frozenset[str], other: frozenset[str]) -> float:
    """Return which share of a trace's weight ``other`` also has, from 0 to 1; 0 if the trace is empty."""
    # equal sets have equal weights, in whatever order they are iterated
    return fsum(map(_weight, trace & other)) / (fsum(map(_weight, trace)) or 1.0)


def without(text: str, goes: Callable[[str], bool]) -> str:
    """Return a text without the sentences for which ``goes`` is true, and without lines that become empty.

    A semicolon ends a sentence, too.
    """
    kept: list[str] = []
    for line in text.split("\n"):
        said = line.lstrip(_MARKS)
        parts = [part for part in _SPLIT.split(said) if part]
        left = [part for part in parts if not (part.strip() and goes(part))]
        if len(left) == len(parts):
            kept.append(line)
        elif rest := "".join(left).strip("；; "):
            kept.append(line[: len(line) - len(said)] + rest)
    return "\n".join(kept)


def _terms(text: str) -> frozenset[str]:
    starts = range(0, len(text), _PIECE)
    return frozenset(term for start in starts for term in index_terms(text[start : start + _PIECE]))


def _telling(terms: frozenset[str]) -> frozenset[str]:
    """Return the terms with content, without single Chinese characters and function words; all, if no others remain."""
    pairs = frozenset(term for term in terms if len(term) > 1 or term.isascii()) - FUNCTION_WORDS
    return pairs or terms


def _weight(term: str) -> float:
    if term.isascii():
        return 1.0
    return _OF_FRAME if _FRAME.issuperset(term) else min(map(telling, term)) ** 2


def retells(message: Message, event: Event) -> bool:
    """Return whether a line repeats an event in the same or similar words.

    Two kinds of lines are compared: the bot's, in the event's scope or addressed to the event's sender; and, for an
    event without source messages, those that the event's sender said in that scope before the event.
    """
    if message.is_bot:
        spoken_to = (message.scene.agent, message.scene.user_id) if event.person else None
        is_there = message.scene.scope == event.scope or spoken_to == (event.agent, event.person)
    else:
        is_by_sender = (message.scene.scope, message.sender_id) == (event.scope, event.person)
        is_earlier = event.retired_at is None or message.sent_at <= event.retired_at
        is_there = not event.message_ids and is_by_sender and is_earlier
    return is_there and statement_of(event).is_recited_by(message.text)


def untelling(events: Iterable[Event], corrected: Mapping[str, Sequence[Event]] | None = None) -> Callable[[str], str]:
    """Return a function that removes from a text the sentences that retell one of these events.

    ``corrected`` maps the id of a corrected event to the events that replace it; what these also say is kept.
    """
    standing = corrected or {}
    statements = [statement_of(event, *standing.get(event.id, ())) for event in events]

    def is_told(piece: str) -> bool:
        return any(one.is_told_by(piece) or one.is_recited_by(piece) for one in statements)

    return lambda text: without(text, is_told) if statements else text


def without_retold(profile: Profile, gone: Iterable[Event], ids: Collection[str] = ()) -> Profile:
    """Return a profile without the lines that rest on events of ``ids`` or ``gone``, or retell one of ``gone``."""
    own = [event for event in gone if profile.key in keys_of(event)]
    return profile.without_events({*ids, *(event.id for event in own)}).reworded(untelling(own))


def statement_of(event: Event, *standing: Event) -> WithdrawnClaim:
    """Return what an event claims, without people's names (any line may have them) and what ``standing`` events say."""
    text = event.text.removeprefix(f"{sentences.context.BOT_NOTED}：")
    return _statement(text, event.sender_name, event.person, *(one.text for one in standing))


@cleared_on_erasure
@lru_cache(maxsize=1024)
def _statement(text: str, *but: str) -> WithdrawnClaim:
    return WithdrawnClaim(text, tuple(filter(None, (*_LABEL.findall(text), *but))))
