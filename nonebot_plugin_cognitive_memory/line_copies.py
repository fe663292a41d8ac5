"""Copies of a line: each line is recorded once, however many accounts of this bot hear it.

A platform gives a line another id for each account, and a slow connection delivers it later. But each account hears
each line once: if another account heard a line that this one has not heard, with the same place, speaker and text and
nearly the same time, the two are copies. So if a person says the same thing twice, both lines are recorded, whichever
account hears them first. They are recorded as one only if they come within a minute and each of two accounts missed one
of them. With ``isolate_bots`` each account has places of its own, so what two accounts hear is recorded twice.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import cognitive_memory_core as core

from .limits import Newest

LINES, REPEATED = 2_000, 50  # sayings, and lines in which a person says the same in a place
APART = timedelta(seconds=60)  # between the times that two accounts report for one line
_Key = tuple[Hashable, str, int]  # place, speaker, hash of the text


@dataclass
class _RecordedLine:
    """A line, the id under which it is recorded, and for each account that heard it the id that this account has."""

    id: str
    sent_at: datetime
    number: str = ""  # of the line in its group, the same for every account; few platforms tell it
    heard: dict[str, str] = field(default_factory=dict[str, str])


class LineCopies:
    """The last lines heard, by place, speaker and text, with their ids; in memory only, texts as hashes."""

    def __init__(self, limit: int = LINES) -> None:
        """Keep at most ``limit`` sayings, and as many other ids."""
        self._sayings: Newest[_Key, list[_RecordedLine]] = Newest(limit)
        self._first: Newest[tuple[core.Scope, str], str] = Newest(limit)

    def first_id(self, message: core.Message, account: str, words: str, *, number: str = "") -> str:
        """Return the id under which a line is recorded: its own, or that of the copy that another account heard first.

        ``words`` is the text as every account sees it; ``number`` is the line's number in its group if the platform
        tells it. Call this for each line that an account hears; a line that is delivered again gets the same id.
        """
        key = message.scene.scope, message.scene.user_id, hash(words)
        known, near = self._sayings.get(key, [])[-REPEATED:], list[tuple[timedelta, _RecordedLine]]()
        saying = next((one for one in known if message.id in (one.heard.get(account), one.id)), None)
        for one in known if saying is None else ():
            apart = abs(one.sent_at - message.sent_at)
            is_copy = one.number == number if one.number and number else apart <= APART
            near += [(apart, one)] if is_copy and account not in one.heard else []
        if saying is None and near:
            saying = min(near, key=lambda pair: pair[0])[1]
        elif saying is None:
            saying = _RecordedLine(message.id, message.sent_at, number)
            self._sayings[key] = [*known, saying]
        saying.heard.setdefault(account, message.id)
        if saying.id != message.id:
            self._first[message.scene.scope, message.id] = saying.id
        return saying.id

    def known_id(self, scene: core.Scene, message_id: str) -> str:
        """Return the id under which a line was recorded, given the id that one of the accounts has for it."""
        return self._first.get((scene.scope, message_id), message_id)


line_copies = LineCopies()
