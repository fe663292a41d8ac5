"""Which texts repeat a statement that was forgotten, withdrawn or corrected."""

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
from .characters import cleared_on_erasure
from .numbers import values_of
from .terms import FUNCTION_WORDS, index_terms, telling
from .time.time_words import mentions

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
