"""The message log."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from ...domain.message import Message, Passage
from ...domain.read_filter import ReadFilter
from ...domain.scope import Scope


class MessageLog(Protocol):
    """The recent-message log."""

    async def append(self, messages: Sequence[Message]) -> None:
        """Store messages; an existing one (same scope and id) is unchanged, a withdrawn one is skipped."""
        ...

    async def recent(
        self, scope: Scope, limit: int, *, before: datetime | None = None, without: Collection[str] = ()
    ) -> list[Message]:
        """Return the newest messages of a place, oldest first; with ``before``, only older ones.

        Lines of the people ``without``, and the bot's lines to them, are left out and do not count towards ``limit``.
        """
        ...

    async def find(self, scope: Scope, message_ids: Collection[str]) -> list[Message]:
        """Return those of the given messages of a place that are in the log, oldest first."""
        ...

    async def learned(self, scope: Scope, message_ids: Collection[str]) -> frozenset[str]:
        """Return which of the messages of a place are sources of an event, active or retired (forgotten, corrected)."""
        ...

    async def around(self, messages: Sequence[Message], read_filter: ReadFilter, reach: int) -> list[Passage]:
        """Return each message with those of the ``reach`` lines before and after it that the read filter admits.

        Overlapping passages are merged. A message that is gone or not admitted has no passage.
        """
        ...

    async def withdraw(self, scope: Scope, message_id: str, at: datetime) -> int:
        """Remove a message, record it as withdrawn, and retire events all of whose messages are withdrawn.

        Returns the number of retired events. Also accepts messages that are not in the log.
        """
        ...

    async def prune(self, before: datetime) -> int:
        """Delete messages, withdrawal records and done-job records older than ``before``; return the message count."""
        ...


class HidingLog(MessageLog, Protocol):
    """A message log that filters out hidden lines."""

    async def shown(self, messages: Sequence[Message]) -> list[Message]:
        """Return those of the lines that are neither withdrawn nor hidden because they tell a forgotten event.

        The lines need not be in the log; see :class:`EventEraser`.
        """
        ...


class BoundedLog(HidingLog, Protocol):
    """A message log whose size on disk can be bounded."""

    async def shrink(self, most: int, *, kept_per_place: int) -> int:
        """Delete the oldest messages until the rest weighs at most ``most`` bytes; return how many were deleted.

        The ``kept_per_place`` newest messages of each place stay, however much they weigh. The weight of a message is
        :attr:`Message.weight`. Records of withdrawals and done marks of jobs stay.
        """
        ...
