"""Recognises copies of a line that several accounts of this bot hear in one place, so that it is recorded once.

A platform gives a line another id for each account, and a slow connection delivers it later. But each account hears
each line once: if another account heard a line that this one has not heard, with the same place, speaker and text and
nearly the same time, the two are copies. So if a person says the same thing twice, both lines are recorded, whichever
account hears them first. They are recorded as one only if they come within a minute and each of two accounts missed
one of them. With ``isolate_bots`` each account has places of its own, so what two accounts hear is recorded twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import cognitive_memory_core as core

from .bounded_maps import Newest

LINES = 2_000
APART = timedelta(seconds=60)  # between the times that two accounts report for one line
LOGGED_APART = timedelta(seconds=1.5)  # the same for a line of an earlier process, whose accounts are not known
_Key = tuple[Hashable, str, int]  # place, speaker, hash of the text


@dataclass
class _RecordedLine:
    """A line, the id under which it is recorded, and for each account that heard it the id that this account has."""

    id: str
    sent_at: datetime
    number: str = ""  # of the line in its group, the same for every account; few platforms tell it
    apart: timedelta = APART
    heard: dict[str, str] = field(default_factory=dict[str, str])


class LineCopies:
    """The last lines heard, by place, speaker and text, with their ids; in memory only, texts as hashes."""

    def __init__(self, limit: int = LINES) -> None:
        """Keep at most ``limit`` lines, and as many other ids."""
        self._limit = limit
        self._sayings: dict[_Key, list[_RecordedLine]] = {}
        self._order: deque[_Key] = deque()
        self._first: Newest[tuple[core.Scope, str], str] = Newest(limit)

    def first_id(self, message: core.Message, account: str, words: str, *, number: str = "") -> str:
        """Return the id under which a line is recorded: its own, or that of the copy that another account heard first.

        ``words`` is the text as every account sees it; ``number`` is the line's number in its group if the platform
        tells it. Call this for each line that an account hears; a line that is delivered again gets the same id.
        """
        key = _key(message, words)
        saying = self._found(key, message, account, number) or self._added(key, message, number)
        saying.heard.setdefault(account, message.id)
        if saying.id != message.id:
            self._first[message.scene.scope, message.id] = saying.id
        return saying.id

    def note_logged(self, message: core.Message, words: str, logged: Iterable[core.Message]) -> None:
        """Add lines that an earlier process logged: a line that is delivered late may be a copy of one of them."""
        key = _key(message, words)
        known = {saying.id for saying in self._sayings.get(key, ())}
        for line in logged:
            is_equal = (line.sender_id, line.text) == (message.sender_id, message.text)
            if is_equal and line.id not in known and abs(line.sent_at - message.sent_at) <= LOGGED_APART:
                self._added(key, line).apart = LOGGED_APART

    def known_id(self, scene: core.Scene, message_id: str) -> str:
        """Return the id under which a line was recorded, given the id that one of the accounts has for it."""
        return self._first.get((scene.scope, message_id), message_id)

    def _found(self, key: _Key, message: core.Message, account: str, number: str) -> _RecordedLine | None:
        """Return the line that an account delivers a second time, else the nearest that may be a copy of it."""
        near: list[tuple[timedelta, _RecordedLine]] = []
        for one in self._sayings.get(key, ()):
            if message.id in (one.heard.get(account), one.id):
                return one
            apart = abs(one.sent_at - message.sent_at)
            is_copy = one.number == number if one.number and number else apart <= one.apart
            near += [(apart, one)] if is_copy and account not in one.heard else []
        return min(near, key=lambda pair: pair[0])[1] if near else None

    def _added(self, key: _Key, message: core.Message, number: str = "") -> _RecordedLine:
        saying = _RecordedLine(message.id, message.sent_at, number)
        self._sayings.setdefault(key, []).append(saying)
        self._order.append(key)
        if len(self._order) > self._limit:
            oldest = self._order.popleft()
            del self._sayings[oldest][0]
            if not self._sayings[oldest]:
                del self._sayings[oldest]
        return saying


def _key(message: core.Message, words: str) -> _Key:
    return message.scene.scope, message.scene.user_id, hash(words)


line_copies = LineCopies()
