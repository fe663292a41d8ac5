"""From what is handed in to a durable job: consent, then rate limits, then size limits."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import cast

from .. import sentences
from ..consent import Consent
from ..domain.event import shortened
from ..domain.ids import derived_id
from ..domain.job import Job
from ..domain.message import Backfill, Message
from ..domain.scope import Scene, Scope
from ..domain.turn import Dialogue, Turn, TurnLimits, Work
from ..end_summaries import EndSummaries
from ..errors import BadArgument
from ..ports import Clock
from ..queue.job_queue import FileQueue
from ..settings.schema import Live, Settings
from ..store.events import EventLedger
from ..text.cleaning import clean_text
from .admission import Admission
from .message_buffer import MessageBuffer

MESSAGE_LENGTH = 4000
DIALOGUE_LINES = 200
ROUGH_LENGTH = 8000  # characters read of any text; what is kept is shorter
OBSERVATIONS = 100  # observations read of a turn; fewer are kept
LARGE = 10_000  # characters from which cleaning runs in a thread
BACKFILLED_TOGETHER = 200  # lines per transaction, which bounds how long another write of the ledger waits
AHEAD = timedelta(days=1)  # a past line later than this after now has a wrong time


@dataclass(kw_only=True)
class Intake:
    """Applies consent, then rate limits, then size limits to what is handed in, and stores what remains.

    What learns from it sets the callbacks.
    """

    queue: FileQueue
    events: EventLedger
    memos: EndSummaries
    buffer: MessageBuffer
    consent: Consent
    settings: Live[Settings]
    clock: Clock
    admission: Admission
    on_queued: Callable[[], None] = lambda: None
    on_withdrawn: Callable[[], None] = lambda: None
    on_backfilled: Callable[[], None] = lambda: None

    def observe(self, message: Message) -> None:
        """Buffer a message for the log, unless its sender or place is not recorded or the memory is disabled."""
        if self._may_keep(message.scene, message.sent_at):
            said = self.consent.hidden(_bounded(message.text, MESSAGE_LENGTH))
            self.buffer.take(message if said == message.text else replace(message, text=said))

    async def backfill(self, messages: Sequence[Message]) -> Backfill:
        """Log past lines that would have been recorded when they were said; see :meth:`CognitiveMemory.backfill`."""
        await self.buffer.flush()  # so that lines heard since are known
        done = Backfill()
        for first in range(0, len(messages), BACKFILLED_TOGETHER):
            fit, left_out = list[Message](), Counter[str]()
            for message in cast("Sequence[object]", messages[first : first + BACKFILLED_TOGETHER]):
                if not isinstance(message, Message):
                    raise BadArgument(sentences.caller.bad_value("messages", message, " Message"))
                text = self.consent.hidden(_bounded(message.text, MESSAGE_LENGTH))
                if reason := self._kept_out(message) or ("" if text.strip() else "blank"):
                    left_out[reason] += 1
                else:
                    fit.append(message if text == message.text else replace(message, text=text))
            outcomes = Counter(await self.buffer.backfill(fit)) if fit else Counter[str]()
            taken, known = outcomes.pop("taken", 0), outcomes.pop("known", 0)
            done = done.plus(Backfill(taken, known, left_out + outcomes))
            if taken:
                self.on_backfilled()
        return done

    def _kept_out(self, message: Message) -> str:
        """Return why a past line is left out without a look at the ledger; "" if it is not."""
        scene, at, settings, now = message.scene, message.sent_at, self.settings.current, self.clock.now()
        reasons = {
            "own": message.is_bot,
            "ignored": not settings.enabled or scene.kind == "operator" or not settings.capture.records(scene),
            "opted_out": scene.user_id in self.consent.opted_out,
            "switched_off": not self.consent.is_recorded(scene.scope),
            "erased": self.consent.is_erased(scene, at),
            "incognito": self.consent.is_incognito(scene, at),
            "too_old": at < now - timedelta(days=settings.capture.log_days),
            "future": at > now + AHEAD,
        }
        return next((reason for reason, applies in reasons.items() if applies), "")

    async def note_name(self, scene: Scene, heard_at: datetime) -> None:
        """Record the names of a scene's person and group if a message of ``heard_at`` would be recorded."""
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
            bounded = await self._prepared(turn)
            if bounded.is_blank:
                return None
            job = Job(_job_id(turn), bounded, self.clock.now())
            if bounded.observations and self.settings.current.enabled:
                if turn.request_id is None or not await self.events.done(job.id):
                    await self._enqueue(job)
            elif (memo := job.memo) is not None:
                await self.memos.keep(memo)
            else:
                return None
            return job.id

    async def consider(self, scene: Scene, messages: Sequence[Message], *, is_past: bool = False) -> str | None:
        """Queue a dialogue durably for triage; return its job's id, or None if no person said anything in it.

        ``is_past``: the rate limits do not apply, because the caller hands in one dialogue after another.
        """
        dialogue = Dialogue(scene, messages)
        if not self.settings.current.enabled or not self.consent.is_recorded(scene.scope):
            return None
        with self.admission.counting():
            if not is_past:
                self.admission.admit_dialogue(scene)
            bounded = await self._prepared(replace(dialogue, messages=dialogue.messages[-DIALOGUE_LINES:]))
            if not any(line.sender_id and line.text.strip() for line in bounded.messages):
                return None
            job_id = derived_id("dialogue", scene.scope.key, *(line.id for line in bounded.messages))
            if not await self.events.done(job_id):
                await self._enqueue(Job(job_id, bounded, self.clock.now()))
            return job_id

    async def withdraw(self, scope: Scope, message_id: str) -> None:
        """Remove a message from log, waiting jobs and memos, and retire the events that have no other source."""
        known = message_id
        try:
            known = await self.buffer.log.known_id(scope, message_id)
            for line in await self.buffer.find(scope, [known]):
                await self.memos.withdraw(line)
        finally:
            try:
                await self.buffer.withdraw(scope, message_id, self.clock.now())
            finally:
                await self.queue.withdraw(scope, known)
                self.on_withdrawn()

    async def learned(self, scene: Scene, message_ids: Collection[str]) -> frozenset[str]:
        """Return those of ``message_ids`` that are in a job of any state, or sources of an event of the place."""
        wanted = frozenset(message_ids)
        if not wanted:
            return wanted
        waiting = await self.queue.holding(scene.scope, wanted)  # first: a job disappears once its events are stored
        return waiting | await self.buffer.log.learned(scene.scope, wanted - waiting)

    async def _prepared(self, work: Work) -> Work:
        """Return the work cleaned, cut and without people who opted out."""
        if isinstance(work, Dialogue):
            length = sum(len(line.text) for line in work.messages)
        else:
            length = len(work.memo) + len(work.source_message) + sum(map(len, work.observations))
        cleaned = await asyncio.to_thread(_cleaned, work) if length > LARGE else _cleaned(work)
        historian = self.settings.current.historian
        limits = TurnLimits(
            source_message=historian.source_message_max_len,
            recent_messages=historian.recent_messages_inject_k,
            recent_line=historian.recent_message_line_max_len,
        )
        return self.consent.admitted(cleaned).within(limits)

    async def _enqueue(self, job: Job) -> None:
        """Queue a job, unless it is queued: one that comes again while it is being done is found done."""
        await self.queue.enqueue(job)
        self.on_queued()


def _job_id(turn: Turn) -> str:
    if turn.request_id is None:
        return secrets.token_hex(16)
    return derived_id("turn", turn.scene.scope.key, turn.scene.user_id, turn.request_id)


def _cleaned(work: Work) -> Work:
    if isinstance(work, Dialogue):
        return replace(work, messages=tuple(replace(line, text=_roughly_cut(line.text)) for line in work.messages))
    return replace(
        work,
        memo=_roughly_cut(work.memo),
        observations=tuple(_roughly_cut(text) for text in work.observations[:OBSERVATIONS]),
        source_message=_roughly_cut(work.source_message),
    )


def _roughly_cut(text: str) -> str:
    """Cut a text to somewhat more than may be stored, then clean it, because cleaning may shorten it."""
    return clean_text(text[:ROUGH_LENGTH])


def _bounded(text: str, limit: int) -> str:
    return shortened(_roughly_cut(text), limit)
