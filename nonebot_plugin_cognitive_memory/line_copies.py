"""Recognises copies of a line that several accounts of this bot hear in one place, so that it is recorded once.

A platform gives a line another id for each account, so a copy is recognised by place, speaker, second and text. With
``isolate_bots`` each account has places of its own, so what two accounts hear is recorded twice.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field

import cognitive_memory_core as core

LINES = 2_000


@dataclass
class _Heard:
    """A text that a person said in one second: an id for each time it was said, and how often each account heard it."""

    ids: list[str] = field(default_factory=list[str])
    times: Counter[str] = field(default_factory=Counter[str])


class LineCopies:
    """The last lines heard, by place, speaker, second and text, with their ids; in memory only, texts as hashes."""

    def __init__(self, limit: int = LINES) -> None:
        """Keep at most ``limit`` lines, and as many other ids."""
        self._limit = limit
        self._heard: OrderedDict[Hashable, _Heard] = OrderedDict()
        self._first: OrderedDict[tuple[Hashable, str], str] = OrderedDict()

    def first_id(self, message: core.Message, account: str, words: str) -> str:
        """Return the id under which a line is recorded: its own, or that of the copy which another account heard first.

        ``words`` is the text as every account sees it. Call it exactly once for each line that an account hears.
        """
        scope, said = message.scene.scope, (message.scene.user_id, int(message.sent_at.timestamp()), hash(words))
        heard = self._heard.setdefault((scope, said), _Heard())
        self._heard.move_to_end((scope, said))
        time = heard.times[account]
        heard.times[account] += 1
        if time == len(heard.ids):
            heard.ids.append(message.id)
        elif heard.ids[time] != message.id:
            self._first[scope, message.id] = heard.ids[time]
        for kept in (self._heard, self._first):
            if len(kept) > self._limit:
                kept.popitem(last=False)
        return heard.ids[time]

    def known_id(self, scene: core.Scene, message_id: str) -> str:
        """Return the id under which a line of a place was recorded, by the id that any account has for it."""
        return self._first.get((scene.scope, message_id), message_id)


line_copies = LineCopies()
