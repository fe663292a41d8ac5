"""Captured messages on their way to the log: visible at once, written together."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from datetime import datetime

from ..domain.message import Message
from ..domain.scope import Scope
from ..errors import UnavailableError
from ..ports.ledger import MessageLog, NameBook
from ..text.names import clean_name
from .retry import described

log = logging.getLogger(__name__)
PAUSE = 0.3  # seconds between writes: well under the half second that is promised
CAPACITY = 20_000  # messages held while the log refuses; the oldest are dropped first
REMEMBERED_NAMES = 50_000


class Journal:
    """Never raises for a full or failing log; what cannot be written waits, up to a bound."""

    def __init__(self, message_log: MessageLog, names: NameBook) -> None:
        """Write into a log, and names into their book."""
        self._log = message_log
        self._names = names
        self._waiting: deque[Message] = deque(maxlen=CAPACITY)
        self._noted: dict[tuple[Scope, str], str] = {}
        self._turn = asyncio.Lock()
        self._wake = asyncio.Event()
        self.last_error = ""

    def take(self, message: Message) -> None:
        """Take a message; from now on windows and searches see it."""
        self._waiting.append(message)
        self._wake.set()

    async def run(self) -> None:
        """Write until cancelled; only cancellation escapes."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self.settle()
            await asyncio.sleep(PAUSE)

    async def settle(self) -> bool:
        """Write everything that waits; False when the log refuses, and then it goes on waiting."""
        async with self._turn:
            batch = tuple(self._waiting)
            if not batch:
                return True
            try:
                await self._log.append(batch)
                await self._note_names(batch)
            except UnavailableError as refused:
                self._complain(refused)
                return False
            written = {id(message) for message in batch}
            self._waiting = deque((item for item in self._waiting if id(item) not in written), CAPACITY)
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
            self._complain(refused)
        known = {message.id for message in found}
        found += [item for item in unwritten if item.id not in known and (before is None or item.sent_at < before)]
        return found[-limit:]

    def drop(self, scope: Scope, message_id: str) -> None:
        """Forget an unwritten message that was withdrawn."""
        kept = (item for item in self._waiting if item.id != message_id or item.scene.scope != scope)
        self._waiting = deque(kept, CAPACITY)

    def forget_person(self, user_id: str) -> None:
        """Forget the unwritten lines of a person who left."""
        self._waiting = deque((item for item in self._waiting if item.scene.user_id != user_id), CAPACITY)

    async def _note_names(self, batch: tuple[Message, ...]) -> None:
        for message in batch:
            scene, name = message.scene, clean_name(message.scene.user_name)
            key = (scene.scope, scene.user_id)
            if name and not message.is_bot and self._noted.get(key) != name:
                await self._names.note(scene.scope, scene.user_id, name, message.sent_at)
                self._remember_name(key, name)

    def _remember_name(self, key: tuple[Scope, str], name: str) -> None:
        if len(self._noted) >= REMEMBERED_NAMES:
            self._noted.clear()
        self._noted[key] = name

    def _complain(self, refused: UnavailableError) -> None:
        if (said := described(refused)) != self.last_error:
            log.warning("message log: %s", said)
        self.last_error = said
