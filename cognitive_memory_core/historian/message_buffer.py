"""Captured messages from their arrival until they are in the log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from .. import sentences
from ..domain.message import Message
from ..domain.scope import Scene, Scope
from ..errors import UnavailableError
from ..store.messages import MessageLog
from ..tasks import UNTIL_NUDGED, BackgroundLoop, ErrorState
from .name_observer import NameObserver
from .unwritten import UnwrittenMessages

PAUSE = 0.4  # seconds between writes: below the documented half second
PIECE = 100  # messages per transaction, which bounds how long another write of the ledger waits
REST = 1.0  # pause after a piece as a multiple of its duration: during a flood, half of the time remains for other work
LONGEST_PAUSE = 30.0  # seconds between two tries while the log is unavailable


class MessageBuffer:
    """Buffers messages until they are written; taking one never raises. A full buffer drops and counts messages."""

    def __init__(
        self, message_log: MessageLog, name_observer: NameObserver, unwritten: UnwrittenMessages | None = None
    ) -> None:
        """Create for a log; ``name_observer`` records the names of the senders."""
        self.log = message_log
        self._name_observer = name_observer
        self._unwritten = UnwrittenMessages() if unwritten is None else unwritten
        self._turn = asyncio.Lock()
        self.read_errors = ErrorState("message log")
        self.crowding = ErrorState("messages")
        self.loop = BackgroundLoop("message log", self._round, spacing=PAUSE, debounce=0.0, longest_pause=LONGEST_PAUSE)

    @property
    def dropped(self) -> int:
        """Number of messages dropped unwritten since the start because the buffer was full."""
        return self._unwritten.dropped

    def take(self, message: Message) -> None:
        """Add a message; reads and searches return it from now on."""
        if not self._unwritten.add(message):
            self.crowding.tell(sentences.log.MESSAGES_DROPPED)
        self.loop.nudge()

    async def note_name(self, scene: Scene, heard_at: datetime) -> None:
        """Record the names of a scene's person and group, and put them on their unwritten messages without a name."""
        async with self._turn:
            self._unwritten.name(scene)
            await self._name_observer.note([(scene, heard_at)])

    async def flush(self) -> bool:
        """Write everything that is buffered now; if the log is unavailable, keep it buffered and return False.

        It is written in pieces, so that other writes of the ledger can run between them.
        """
        try:
            await self._write(rest=0.0)
        except UnavailableError as refused:
            self.loop.trouble.note(refused)
            self.loop.nudge()  # the loop tries again
            return False
        return True

    async def recent(
        self, scope: Scope, limit: int, *, before: datetime | None = None, without: Collection[str] = ()
    ) -> list[Message]:
        """Return the newest messages of a place, oldest first, including unwritten ones; does not wait for a write.

        Lines of the people ``without``, and the bot's lines to them, are left out and do not count towards ``limit``.
        """
        if limit <= 0:
            return []
        unwritten = [item for item in self._unwritten.of(scope) if item.scene.user_id not in without]
        found: list[Message] = []
        try:
            found = await self.log.recent(scope, limit, before=before, without=without)
        except UnavailableError as refused:
            self.read_errors.note(refused)
        else:
            self.read_errors.end()
        known = {message.id for message in found}
        unwritten = [item for item in unwritten if item.id not in known and (before is None or item.sent_at < before)]
        return [*found, *await self._shown(unwritten)][-limit:]

    async def _shown(self, unwritten: list[Message]) -> list[Message]:
        """Return the messages without hidden ones; if the log is unavailable, without all lines of the bot."""
        try:
            return await self.log.shown(unwritten) if unwritten else []
        except UnavailableError as refused:
            self.read_errors.note(refused)
            return [item for item in unwritten if not item.is_bot]

    async def find(self, scope: Scope, message_ids: Collection[str]) -> list[Message]:
        """Return those of the given messages that exist in a place, oldest first, including unwritten ones.

        Raises UnavailableError if the log cannot be read, so that an unread message is not taken for a missing one.
        """
        wanted = frozenset(message_ids)
        unwritten = [item for item in self._unwritten.of(scope) if item.id in wanted]
        found = await self.log.find(scope, wanted)
        known = {message.id for message in found}
        found += await self._shown([item for item in unwritten if item.id not in known])
        return sorted(found, key=lambda message: message.sent_at)

    async def backfill(self, messages: Sequence[Message]) -> list[str]:
        """Log past lines and the names of their senders; see :meth:`MessageLog.backfill`."""
        async with self._turn:
            outcomes = await self.log.backfill(messages)
            taken = [line for line, outcome in zip(messages, outcomes, strict=True) if outcome == "taken"]
            await self._note_names(taken)
        return outcomes

    async def withdraw(self, scope: Scope, message_id: str, at: datetime) -> None:
        """Remove a message that its sender withdrew, unwritten or logged; retire events that have no other source."""
        self._unwritten.keep(lambda item: item.id != message_id or item.scene.scope != scope)
        await self.log.withdraw(scope, message_id, at)

    def forget_person(self, user_id: str) -> None:
        """Remove the unwritten messages of a person."""
        self._unwritten.keep(lambda item: item.scene.user_id != user_id)

    def names_of(self, user_id: str) -> set[str]:
        """Return the names of a person in unwritten messages."""
        return {item.scene.user_name for item in self._unwritten if item.scene.user_id == user_id}

    async def erase_person(self, user_id: str, hide: Callable[[str], str]) -> None:
        """Remove the unwritten messages of a person, and redact the person in those of others."""
        async with self._turn:
            self.forget_person(user_id)
            self._unwritten.reword(hide)

    async def erase_place(self, scope: Scope) -> None:
        """Remove the unwritten messages of a place."""
        async with self._turn:
            self._unwritten.keep(lambda item: item.scene.scope != scope)

    async def _round(self) -> float:
        await self._write(rest=REST)
        return UNTIL_NUDGED

    async def _write(self, *, rest: float) -> None:
        """Write what is buffered now, pausing after each piece for ``rest`` times its duration."""
        newest, started = self._unwritten.newest, time.monotonic()
        while self._unwritten.holds_up_to(newest):
            async with self._turn:
                batch, dropped = self._unwritten.piece(PIECE), self._unwritten.dropped
                if batch:
                    await self.log.append(batch)
                    await self._note_names(batch)
                    self._unwritten.remove(batch)
                    self.loop.trouble.end()
                    if self._unwritten.dropped == dropped:
                        self.crowding.end()
            if self._unwritten.holds_up_to(newest):
                await asyncio.sleep(rest * (time.monotonic() - started))
            started = time.monotonic()

    async def _note_names(self, batch: list[Message]) -> None:
        await self._name_observer.note([(message.scene, message.sent_at) for message in batch if not message.is_bot])
