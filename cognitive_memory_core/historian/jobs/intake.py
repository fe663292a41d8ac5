"""Checks and bounds turns, dialogues and messages before they are stored."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ...consent import Consent
from ...domain.ids import derived_id
from ...domain.message import Message
from ...domain.scope import Scene, Scope
from ...domain.turn import Dialogue, Job, Turn, TurnLimits, shortened, with_fields
from ...ports.clock import Clock
from ...queue.job_queue import FileQueue
from ...settings import Live, Settings
from ...store.events import EventLedger
from ...tasks import KeyedLock
from ...text.names import clean_text
from ..messages.message_buffer import MessageBuffer
from .admission import Admission
from .memo_writer import MemoWriter
from .pipeline import memo_of

MESSAGE_LENGTH = 4000
DIALOGUE_LINES = 200
ROUGH_LENGTH = 8000  # characters read of any text; what is kept is shorter
OBSERVATIONS = 100  # observations read of a turn; fewer are kept
LARGE = 10_000  # characters from which cleaning runs in a thread


@dataclass(frozen=True, kw_only=True)
class Intake:
    """Applies consent, then rate limits, then size limits to what is handed in, and stores what remains."""

    queue: FileQueue
    events: EventLedger
    memos: MemoWriter
    buffer: MessageBuffer
    consent: Consent
    settings: Live[Settings]
    clock: Clock
    admission: Admission
    on_queued: Callable[[], None] = lambda: None
    on_withdrawn: Callable[[], None] = lambda: None
    _requests: KeyedLock = field(default_factory=KeyedLock, init=False)

    def observe(self, message: Message) -> None:
        """Buffer a message for the log, unless its sender or place is not recorded or the memory is disabled."""
        if self._may_keep(message.scene, message.sent_at):
            said = self.consent.hidden(_bounded(message.text, MESSAGE_LENGTH))
            self.buffer.take(message if said == message.text else replace(message, text=said))

    async def note_name(self, scene: Scene, heard_at: datetime) -> None:
        """Record the names of a scene's person and group, unless a message of that time would not be recorded."""
        if self._may_keep(scene, heard_at):
            await self.buffer.note_name(scene, heard_at)

    def _may_keep(self, scene: Scene, at: datetime) -> bool:
        if not self.settings.current.enabled or scene.kind == "operator" or not self.consent.may_record(scene):
            return False
        return not self.consent.is_erased(scene, at) and not self.consent.is_incognito(scene, at)

    async def remember(self, turn: Turn) -> str | None:
        """Store a turn durably; return its job's id, the memo's id if there is only a memo, or None if rejected.

        A turn is rejected if it is blank, if its place or person is not recorded, or if it happened before its person
        or place was erased, or while the person was incognito there. Raises QueueFull beyond a rate or size limit.
        """
        if turn.is_blank or not self.consent.may_record(turn.scene):
            return None
        if turn.happened_at is not None and self.consent.is_erased(turn.scene, turn.happened_at):
            return None
        now = self.clock.now()
        if any(self.consent.is_incognito(turn.scene, at) for at in (turn.happened_at or now, now)):
            return None
        if turn.request_id is not None and self.queue.knows(job_id := _job_id(turn)):
            return job_id
        with self.admission.counting():
            self.admission.admit_turn(turn.scene)
            bounded, trimmed = await self._prepared(turn)
            if not isinstance(bounded, Turn) or bounded.is_blank:
                return None
            job = Job(_job_id(turn), bounded, self.clock.now(), trimmed)
            if bounded.observations and self.settings.current.enabled:
                await self._enqueue_once(job, named=turn.request_id is not None)
            elif bounded.memo:
                await self.memos.keep(memo_of(job))
            else:
                return None
            return job.id

    async def consider(self, scene: Scene, messages: Sequence[Message]) -> str | None:
        """Queue a dialogue durably for triage; return its job's id, or None if no person said anything in it."""
        dialogue = Dialogue(scene, messages)
        if not self.settings.current.enabled or not self.consent.is_recorded(scene.scope):
            return None
        with self.admission.counting():
            self.admission.admit_dialogue(scene)
            bounded, trimmed = await self._prepared(replace(dialogue, messages=dialogue.messages[-DIALOGUE_LINES:]))
            lines = () if isinstance(bounded, Turn) else bounded.messages
            if not any(line.sender_id and line.text.strip() for line in lines):
                return None
            job_id = derived_id("dialogue", scene.scope.key, *(line.id for line in lines))
            await self._enqueue_once(Job(job_id, bounded, self.clock.now(), trimmed), named=True)
            return job_id

    async def withdraw(self, scope: Scope, message_id: str) -> None:
        """Remove a message from log, waiting jobs and memos, and retire the events that have no other source."""
        try:
            for line in await self.buffer.find(scope, [message_id]):
                await self.memos.withdraw(line)
        finally:
            try:
                await self.buffer.withdraw(scope, message_id, self.clock.now())
            finally:
                await self.queue.withdraw(scope, message_id)
                self.on_withdrawn()

    async def learned(self, scene: Scene, message_ids: Collection[str]) -> frozenset[str]:
        """Return those of ``message_ids`` that are in a job of any state, or sources of an event of the place."""
        wanted = frozenset(message_ids)
        if not wanted:
            return wanted
        waiting = await self.queue.holding(scene.scope, wanted)  # first: a job disappears once its events are stored
        return waiting | await self.buffer.learned(scene.scope, wanted - waiting)

    async def _prepared(self, work: Turn | Dialogue) -> tuple[Turn | Dialogue, bool]:
        """Return the work cleaned, cut and without people who opted out; and whether anything was cut."""
        cleaned = await asyncio.to_thread(_cleaned, work) if _length(work) > LARGE else _cleaned(work)
        historian = self.settings.current.historian
        limits = TurnLimits(
            source_message=historian.source_message_max_len,
            recent_messages=historian.recent_messages_inject_k,
            recent_line=historian.recent_message_line_max_len,
        )
        return self.consent.admitted(cleaned).within(limits)

    async def _enqueue_once(self, job: Job, *, named: bool) -> None:
        if named:
            async with self._requests.of(job.id):
                if not self.queue.knows(job.id) and not await self.events.done(job.id):
                    await self.queue.enqueue(job)
        else:
            await self.queue.enqueue(job)
        self.on_queued()


def _job_id(turn: Turn) -> str:
    if turn.request_id is None:
        return secrets.token_hex(16)
    return derived_id("turn", turn.scene.scope.key, turn.scene.user_id, turn.request_id)


def _cleaned(work: Turn | Dialogue) -> Turn | Dialogue:
    if isinstance(work, Dialogue):
        return replace(work, messages=tuple(replace(line, text=_roughly_cut(line.text)) for line in work.messages))
    return with_fields(
        work,
        memo=_roughly_cut(work.memo),
        observations=tuple(_roughly_cut(text) for text in work.observations[:OBSERVATIONS]),
        source_message=_roughly_cut(work.source_message),
    )


def _length(work: Turn | Dialogue) -> int:
    """Return the number of characters to be cleaned in a turn or dialogue, by which the caller chooses a thread."""
    if isinstance(work, Dialogue):
        return sum(len(line.text) for line in work.messages)
    return len(work.memo) + len(work.source_message) + sum(map(len, work.observations))


def _roughly_cut(text: str) -> str:
    """Cut a text to somewhat more than may be stored, then clean it, because cleaning may shorten it."""
    return clean_text(text[:ROUGH_LENGTH])


def _bounded(text: str, limit: int) -> str:
    return shortened(_roughly_cut(text), limit)
