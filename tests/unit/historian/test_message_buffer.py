"""Tests of the buffer of messages that are not in the log yet."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from sqlite3 import IntegrityError

import pytest

from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.errors import StorageRefused
from cognitive_memory_core.historian.message_buffer import MessageBuffer
from cognitive_memory_core.historian.unwritten import UnwrittenMessages
from tests.support.builders import GROUP, a_message
from tests.support.clock import NOON
from tests.support.ledgers import a_ledger
from tests.support.ports import Away
from tests.support.sightings import sightings_of
from tests.support.waiting import until


async def test_a_refusing_log_loses_nothing_and_raises_nothing() -> None:
    """Messages that could not be written stay visible, and are written later."""
    ledger = a_ledger()
    journal = MessageBuffer(Away(StorageRefused("满了")), sightings_of(ledger))  # type: ignore[arg-type]
    message = a_message("写不进去")
    journal.take(message)
    assert not await journal.flush()
    assert await journal.recent(GROUP.scope, 5) == [message]
    journal.log = ledger.log
    assert await journal.flush()
    assert await ledger.log.recent(GROUP.scope, 5) == [message]


@pytest.mark.parametrize("failure", [StorageRefused("满了"), IntegrityError("UNIQUE"), asyncio.CancelledError()])
async def test_what_was_refused_once_is_written_without_another_line(failure: BaseException) -> None:
    """After any failed write the messages are written again, and the status is well afterwards."""

    class FailingOnce:
        """A log whose first write fails."""

        tries = 0

        async def append(self, messages: Sequence[Message]) -> None:
            """Fail first, then write."""
            self.tries += 1
            if self.tries == 1:
                raise failure
            await ledger.log.append(messages)

    ledger = a_ledger()
    journal = MessageBuffer(FailingOnce(), sightings_of(ledger))  # type: ignore[arg-type]
    journal.loop.start()
    journal.take(a_message("写一次写不进去"))

    async def is_written() -> bool:
        return bool(await ledger.log.recent(GROUP.scope, 5))

    await until(lambda: bool(journal.loop.trouble.error))
    await until(is_written)
    await until(lambda: not journal.loop.trouble.error)
    await journal.loop.stop()


async def test_a_withdrawn_message_is_dropped_before_it_is_written() -> None:
    """A message withdrawn before it is written is never written."""
    ledger = a_ledger()
    journal = MessageBuffer(ledger.log, sightings_of(ledger))
    message = a_message("手滑")
    journal.take(message)
    await journal.withdraw(GROUP.scope, message.id, NOON)
    assert await journal.recent(GROUP.scope, 5) == []


async def test_what_does_not_fit_is_dropped_and_counted() -> None:
    """Messages over the limit are counted and reported until a batch is written without another loss."""
    ledger = a_ledger()
    journal = MessageBuffer(ledger.log, sightings_of(ledger), UnwrittenMessages(capacity=5, place_capacity=3))
    for minute in range(5):
        journal.take(a_message(str(minute), sent_at=NOON + timedelta(minutes=minute)))
    assert journal.dropped == 2
    assert journal.crowding.error
    assert await journal.flush()
    assert [message.text for message in await ledger.log.recent(GROUP.scope, 5)] == ["2", "3", "4"]
    assert not journal.crowding.error
