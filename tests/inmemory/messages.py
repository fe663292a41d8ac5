"""The message log, in memory."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from cognitive_memory_core.domain.erasure_rules import stays_out
from cognitive_memory_core.domain.message import Message, Passage
from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.domain.scope import Scope

from . import beliefs
from .state import InMemoryState

log = logging.getLogger(__name__)


class InMemoryLog:
    """The messages of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def append(self, messages: Sequence[Message]) -> None:
        """Store messages; known, withdrawn and erased ones are ignored."""
        for message in messages:
            if not stays_out(self._state.erased, message):
                add_message(self._state, message)

    async def recent(
        self, scope: Scope, limit: int, *, before: datetime | None = None, without: Collection[str] = ()
    ) -> list[Message]:
        """Return the newest messages of a place, oldest first; with ``before`` only older ones."""
        lines = self._state.messages.items()
        here = (message for place, message in lines if place[0] == scope and place not in self._state.hidden_lines)
        left = (message for message in here if message.scene.user_id not in without)
        older = [message for message in left if before is None or message.sent_at < before]
        return sorted(older, key=lambda message: message.sent_at)[max(len(older) - max(limit, 0), 0) :]

    async def find(self, scope: Scope, message_ids: Collection[str]) -> list[Message]:
        """Return the known ones of these messages of a place, oldest first."""
        wanted = frozenset(message_ids)
        rows = ((place, line) for place, line in self._state.messages.items() if place not in self._state.hidden_lines)
        here = [message for (place, message_id), message in rows if place == scope and message_id in wanted]
        return sorted(here, key=lambda message: message.sent_at)

    async def learned(self, scope: Scope, message_ids: Collection[str]) -> frozenset[str]:
        """Return which of these messages of a place an event was made from."""
        state = self._state
        sources = (ids for event_id, ids in state.sources.items() if state.events[event_id].scope == scope)
        return frozenset(message_ids) & set[str]().union(*sources)

    async def around(self, messages: Sequence[Message], read_filter: ReadFilter, reach: int) -> list[Passage]:
        """Return the messages around given ones that the read filter admits."""
        admitted = {(line.scene.scope, line.id) for line in messages if read_filter.admits(line.as_event())}
        passages: list[Passage] = []
        for scope in dict.fromkeys(scope for scope, _ in sorted(admitted)):
            here = await self.recent(scope, sys.maxsize)
            wanted = [_round(at, reach) for at, line in enumerate(here) if (scope, line.id) in admitted]
            runs = (here[run.start : run.stop] for run in _joined(wanted))
            passages += (tuple(line for line in run if read_filter.admits(line.as_event())) for run in runs)
        return passages

    async def shown(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages without withdrawn ones and those that tell a forgotten event."""
        state = self._state
        out = state.hidden_lines.keys() | state.withdrawn.keys()
        left = (message for message in messages if (message.scene.scope, message.id) not in out)
        return [message for message in left if not state.told_by(message)]

    async def withdraw(self, scope: Scope, message_id: str, at: datetime) -> int:
        """Delete a message permanently and retire the events made from it alone; return how many."""
        state = self._state
        state.withdrawn.setdefault((scope, message_id), at)
        beliefs.withdraw(state, scope, message_id, at)
        state.messages.pop((scope, message_id), None)
        return sum(self._take_from_under(event_id, message_id, at) for event_id in self._resting(scope, message_id))

    async def prune(self, before: datetime) -> int:
        """Delete messages and marks before an instant; return the number of messages."""
        state = self._state
        old = [place for place, message in state.messages.items() if message.sent_at < before]
        for place in old:
            del state.messages[place]
        state.withdrawn = {place: at for place, at in state.withdrawn.items() if at >= before}
        state.done = {job_id: at for job_id, at in state.done.items() if at >= before}
        return len(old)

    async def shrink(self, most: int, *, kept_per_place: int) -> int:
        """Delete the oldest messages until the rest has at most ``most`` bytes, sparing the newest of each place."""
        messages = self._state.messages
        oldest_first = sorted(messages.items(), key=lambda item: item[1].sent_at)
        excess = sum(message.weight for message in messages.values()) - most
        newer = Counter(scope for scope, _ in messages)
        shrunk = 0
        for place, message in oldest_first:
            if excess > 0 and newer[place[0]] > kept_per_place:
                del messages[place]
                excess, shrunk = excess - message.weight, shrunk + 1
            newer[place[0]] -= 1
        return shrunk

    def _resting(self, scope: Scope, message_id: str) -> list[str]:
        state = self._state
        return [
            one for one, sources in state.sources.items() if message_id in sources and state.events[one].scope == scope
        ]

    def _take_from_under(self, event_id: str, message_id: str, at: datetime) -> bool:
        state = self._state
        state.sources[event_id].discard(message_id)
        return state.rests_on_nothing(state.events[event_id]) and state.retire(event_id, at)


def add_message(state: InMemoryState, message: Message) -> bool:
    """Store a message that is neither known nor withdrawn; return whether it was stored."""
    place = (message.scene.scope, message.id)
    if place in state.messages or place in state.withdrawn:
        return False
    state.messages[place] = message
    state.hidden_lines.pop(place, None)
    if told := state.told_by(message):
        state.hidden_lines[place] = told
    return True


def _round(at: int, reach: int) -> range:
    return range(max(at - reach, 0), at + reach + 1)


def _joined(wanted: Iterable[range]) -> list[range]:
    """Join overlapping ranges, given in order."""
    runs: list[range] = []
    for rows in wanted:
        if runs and rows.start < runs[-1].stop:
            runs[-1] = range(runs[-1].start, rows.stop)
        else:
            runs.append(rows)
    return runs
