"""The lines of a talk with their terms, and the sessions and topics that they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from ..domain.message import Message, Passage
from ..text.caches import cleared_on_erasure
from ..text.lexical.indexed import indexed_text
from ..text.lexical.terms import index_terms

PAUSE = timedelta(minutes=30)  # ends a session
LONGEST_TOPIC = 20  # lines of a session that count as one topic
READ = 600  # characters of a line


class TalkLine(NamedTuple):
    """A line with its own terms (``said``), the terms of its speaker and day (``label``), and its talk and topic.

    ``talk`` is (number of the passage, number of the session), ``topic`` (number of the session, of the topic in it).
    """

    message: Message
    said: frozenset[str]
    label: frozenset[str]
    talk: tuple[int, int]
    topic: tuple[int, int]

    @property
    def is_private(self) -> bool:
        """Whether the line was said in a private chat."""
        return self.message.scene.kind == "private"


def talk_lines(passages: Iterable[Passage]) -> Iterator[TalkLine]:
    """Yield the lines of the passages in order, with the numbers of passage, session and topic.

    Passages of one session share its number, even if lines between them are missing.
    """
    session, size, last, place = 0, 0, None, None
    for number, passage in enumerate(sorted((one for one in passages if one), key=_place_and_time)):
        before, place = place, passage[0].scene.scope
        for message in passage:
            if last is None or before != place or message.sent_at - last.sent_at > PAUSE:
                session, size = session + 1, 0
            before = place
            yield TalkLine(message, *_terms(message), (number, session), (session, size // LONGEST_TOPIC))
            size, last = size + 1, message


def _place_and_time(passage: Passage) -> tuple[str, float]:
    return passage[0].scene.scope.key, passage[0].sent_at.timestamp()


def _terms(message: Message) -> tuple[frozenset[str], frozenset[str]]:
    """Return the terms of a line's text, and those of its speaker and day."""
    speaker = "" if message.is_bot else message.scene.user_name
    return _indexed(message.text[:READ]), _labelled(speaker, message.sent_at.date())


@cleared_on_erasure
@lru_cache(maxsize=1024)  # the same people speak on the same days
def _labelled(speaker: str, day: date) -> frozenset[str]:
    return _indexed(speaker) | _dated(day)


@cleared_on_erasure
@lru_cache(maxsize=8192)  # recent lines of a group are searched repeatedly
def _indexed(text: str) -> frozenset[str]:
    return frozenset(index_terms(text))


@lru_cache(maxsize=1024)
def _dated(day: date) -> frozenset[str]:
    return frozenset(index_terms(indexed_text("", day, "")))
