"""Recognises copies of a line that several accounts of this bot hear in one place, so that it is recorded once.

A platform gives a line another id for each account, and a slow connection delivers it later. But each account hears
each line once: if another account heard a line that this one has not heard, with the same place, speaker and text and
nearly the same time, the two are copies. So if a person says the same thing twice, both lines are recorded, whichever
account hears them first. They are recorded as one only if they come within a minute and each of two accounts missed
one of them. With ``isolate_bots`` each account has places of its own, so what two accounts hear is recorded twice.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import cognitive_memory_core as core

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

    def is_heard_again(self, account: str, message_id: str) -> bool:
        """Return whether an account delivers this line a second time."""
        return message_id in (self.heard.get(account), self.id)

    def may_be(self, account: str, sent_at: datetime, number: str) -> bool:
        """Return whether a line that an account hears for the first time may be a copy of this one."""
        if account in self.heard:
            return False
        return self.number == number if self.number and number else abs(self.sent_at - sent_at) <= self.apart


class LineCopies:
    """The last lines heard, by place, speaker and text, with their ids; in memory only, texts as hashes."""

    def __init__(self, limit: int = LINES) -> None:
        """Keep at most ``limit`` lines, and as many other ids."""
        self._limit = limit
        self._sayings: dict[_Key, list[_RecordedLine]] = {}
        self._order: deque[_Key] = deque()
        self._first: OrderedDict[tuple[Hashable, str], str] = OrderedDict()

    def first_id(self, message: core.Message, account: str, words: str, *, number: str = "") -> str:
        """Return the id under which a line is recorded: its own, or that of the copy that another account heard first.

        ``words`` is the text as every account sees it; ``number`` is the line's number in its group if the platform
        tells it. Call this for each line that an account hears; a line that is delivered again gets the same id.
        """
        saying = self._found(message, account, words, number) or self._added(_key(message, words), message, number)
        saying.heard.setdefault(account, message.id)
        if saying.id != message.id:
            self._first[message.scene.scope, message.id] = saying.id
            if len(self._first) > self._limit:
                self._first.popitem(last=False)
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

    def _found(self, message: core.Message, account: str, words: str, number: str) -> _RecordedLine | None:
        sayings = self._sayings.get(_key(message, words), ())
        again = (one for one in sayings if one.is_heard_again(account, message.id))
        near = (one for one in sayings if one.may_be(account, message.sent_at, number))
        return next(again, None) or min(near, key=lambda one: abs(one.sent_at - message.sent_at), default=None)

    def _added(self, key: _Key, message: core.Message, number: str = "") -> _RecordedLine:
        saying = _RecordedLine(message.id, message.sent_at, number)
        self._sayings.setdefault(key, []).append(saying)
        self._order.append(key)
        if len(self._order) > self._limit:
            self._drop_oldest(self._order.popleft())
        return saying

    def _drop_oldest(self, key: _Key) -> None:
        del self._sayings[key][0]
        if not self._sayings[key]:
            del self._sayings[key]


def _key(message: core.Message, words: str) -> _Key:
    return message.scene.scope, message.scene.user_id, hash(words)


line_copies = LineCopies()
