"""Captured messages on their way to the log: visible at once, written together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime
from itertools import islice

from ..background import UNTIL_NUDGED, BackgroundLoop, Trouble
from ..domain.message import Message
from ..domain.scope import Scope
from ..errors import UnavailableError
from ..ports.ledger import MessageLog
from .sightings import Sightings

PAUSE = 0.3  # seconds between writes: well under the half second that is promised
PIECE = 1_000  # messages that one transaction writes: a flood of messages does not keep other writes from the ledger
LONGEST_PAUSE = 30.0  # seconds between two tries while the log refuses
CAPACITY = 20_000  # messages held while the log refuses; the oldest are dropped first


class Journal:
    """Never raises for a full or failing log; what cannot be written waits, up to a bound."""

    def __init__(self, message_log: MessageLog, sightings: Sightings) -> None:
        """Write into a log, and note the names that people are seen with."""
        self._log = message_log
        self._sightings = sightings
        self._waiting: deque[Message] = deque(maxlen=CAPACITY)
        self._turn = asyncio.Lock()
        self.reading = Trouble("message log")
        self.loop = BackgroundLoop("message log", self._round, spacing=PAUSE, gathered=0.0, longest_pause=LONGEST_PAUSE)
        self.run = self.loop.run

    def take(self, message: Message) -> None:
        """Take a message; from now on windows and searches see it."""
        self._waiting.append(message)
        self.loop.nudge()

    async def settle(self) -> bool:
        """Write everything that waits now; False when the log refuses, and then it goes on waiting.

        It is written in pieces, so that other writes of the ledger come between them.
        """
        try:
            await self._write()
        except UnavailableError as refused:
            self.loop.trouble.note(refused)
            self.loop.nudge()  # the loop tries again
            return False
        return True

    async def recent(self, scope: Scope, limit: int, *, before: datetime | None = None) -> list[Message]:
        """Give the newest messages of a place, oldest first, the unwritten ones too; nobody waits for a write."""
        if limit <= 0:
            return []
        unwritten = [item for item in self._waiting if item.scene.scope == scope]
        found: list[Message] = []
        try:
            found = await self._log.recent(scope, limit, before=before)
        except UnavailableError as refused:
            self.reading.note(refused)
        else:
            self.reading.end()
        known = {message.id for message in found}
        found += [item for item in unwritten if item.id not in known and (before is None or item.sent_at < before)]
        return found[-limit:]

    async def find(self, scope: Scope, message_ids: Collection[str]) -> list[Message]:
        """Return those of the messages of a place that are logged, oldest first, the unwritten ones too.

        Raises UnavailableError: a message that cannot be read now is not one that is gone.
        """
        wanted = frozenset(message_ids)
        unwritten = [item for item in self._waiting if item.id in wanted and item.scene.scope == scope]
        found = await self._log.find(scope, wanted)
        known = {message.id for message in found}
        found += [item for item in unwritten if item.id not in known]
        return sorted(found, key=lambda message: message.sent_at)

    def drop(self, scope: Scope, message_id: str) -> None:
        """Forget an unwritten message that was withdrawn."""
        kept = (item for item in self._waiting if item.id != message_id or item.scene.scope != scope)
        self._waiting = deque(kept, CAPACITY)

    def forget_person(self, user_id: str) -> None:
        """Forget the unwritten lines of a person who left."""
        self._waiting = deque((item for item in self._waiting if item.scene.user_id != user_id), CAPACITY)

    def names_of(self, user_id: str) -> set[str]:
        """Give the names that a person bears in unwritten lines."""
        return {item.scene.user_name for item in self._waiting if item.scene.user_id == user_id}

    async def erase_person(self, user_id: str, hide: Callable[[str], str]) -> None:
        """Forget the unwritten lines of a person, and hide them in what others said."""
        async with self._turn:
            self.forget_person(user_id)
            self._waiting = deque((replace(item, text=hide(item.text)) for item in self._waiting), CAPACITY)

    async def erase_place(self, scope: Scope) -> None:
        """Forget the unwritten lines of a place."""
        async with self._turn:
            self._waiting = deque((item for item in self._waiting if item.scene.scope != scope), CAPACITY)

    async def _round(self) -> float:
        await self._write()
        return UNTIL_NUDGED

    async def _write(self) -> None:
        async with self._turn:
            for _ in range(0, len(self._waiting), PIECE):
                await self._write_piece(tuple(islice(self._waiting, PIECE)))

    async def _write_piece(self, batch: tuple[Message, ...]) -> None:
        if not batch:
            return
        await self._log.append(batch)
        await self._note_names(batch)
        written = {id(message) for message in batch}
        while self._waiting and id(self._waiting[0]) in written:  # what was withdrawn meanwhile has left already
            self._waiting.popleft()
        self.loop.trouble.end()

    async def _note_names(self, batch: tuple[Message, ...]) -> None:
        await self._sightings.note([(message.scene, message.sent_at) for message in batch if not message.is_bot])
