"""Forgetting for good: a person or a place leaves every store at once, and their bytes leave the disk soon after."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from . import sentences
from .consent import Consent
from .domain.erasure import Erasure
from .domain.message import Message
from .domain.profile import ProfileKey
from .domain.scope import DEFAULT_AGENT, Scene, Scope
from .errors import CognitiveMemoryError, NotPermitted
from .historian.messages.message_buffer import MessageBuffer
from .ports.ambient import Clock
from .ports.ledger import (
    MOST_NAMES,
    Alias,
    Archive,
    EmbeddedEvent,
    Eraser,
    FactBook,
    NameBook,
    NoteBook,
    PurgeState,
    Wiped,
)
from .ports.mirror import MemoMirror
from .ports.profiles import ProfileEraser
from .ports.queue import QueueEraser
from .text import caches
from .text.identity.names import clean_name
from .text.safety.redaction import Redaction

log = logging.getLogger(__name__)
EVERY = timedelta(hours=1)
TRIES = 3  # generations built in a row while others are forgotten meanwhile


class Purge:
    """Takes the bytes of what was erased off the disk, at most once an hour.

    The index comes first and the ledger last: the ledger remembers that a purge is due until both are done. An index
    that is away does not keep the bytes in the ledger.
    """

    def __init__(self, eraser: Eraser, clock: Clock, rebuild: Callable[[], Awaitable[object]]) -> None:
        """Purge a ledger, and an index by building it anew without what was erased."""
        self._eraser = eraser
        self._clock = clock
        self._rebuild = rebuild
        self._running = asyncio.Lock()
        self._turn = asyncio.Lock()  # no erasure slips in between an index that is whole and the end of its purge
        self._erasures = 0
        self._apart: tuple[int, datetime] | None = None  # how much was erased, and when the ledger alone was purged
        self._task: asyncio.Task[bool] | None = None

    @asynccontextmanager
    async def erasing(self) -> AsyncGenerator[None, None]:
        """Erase one after the other; a purge that began earlier does not count for what is erased here.

        What is remembered in memory goes with it.
        """
        async with self._turn:
            try:
                yield
            finally:
                self._erasures += 1
                caches.clear_caches()

    @asynccontextmanager
    async def undisturbed(self) -> AsyncGenerator[None, None]:
        """Let nothing be erased until the block is left."""
        async with self._turn:
            yield

    async def state(self) -> PurgeState:
        """Tell since when bytes wait to be removed, and when they last were."""
        return await self._eraser.purge_due()

    def begin(self, state: PurgeState) -> None:
        """Purge in the background as soon as a purge is due."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run_after(self._rest(state)), name="purge")

    async def close(self) -> None:
        """End what runs in the background; it is due again at the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def run_if_due(self) -> bool:
        """Purge, unless nothing waits for it or the last one is less than an hour ago; tells whether it was done.

        Never raises for a store that is away: the purge stays due.
        """
        try:
            async with self._running:
                return await self._is_due() and await self._has_purged()
        except CognitiveMemoryError as away:
            log.warning("%s", sentences.purge_waits(str(away)))
            return False

    async def _run_after(self, seconds: float) -> bool:
        await asyncio.sleep(seconds)
        return await self.run_if_due()

    async def _is_due(self) -> bool:
        state = await self._eraser.purge_due()
        return state.erased_at is not None and not self._rest(state)

    def _rest(self, state: PurgeState) -> float:
        """Give the seconds until the hour after the last purge is over; a purge in the future counts for nothing."""
        passed = EVERY if state.purged_at is None else self._clock.now() - state.purged_at
        return (EVERY - passed).total_seconds() if timedelta() <= passed < EVERY else 0.0

    async def _has_purged(self) -> bool:
        for _ in range(TRIES):
            async with self._turn:  # an erasure that is under way ends before the index is built, or counts after it
                erasures = self._erasures
            try:
                await self._rebuild()
            except CognitiveMemoryError:
                await self._purge_ledger_only()
                raise
            async with self._turn:
                if erasures == self._erasures:
                    await self._eraser.purge(self._clock.now(), is_over=True)
                    caches.clear_caches()  # also what a question remembered that was under way during an erasure
                    return True
        return False

    async def _purge_ledger_only(self) -> None:
        """Leave nothing in the ledger while the index is away, for which the purge stays due; once an hour at most."""
        async with self._turn:
            now, (erasures, at) = self._clock.now(), self._apart or (-1, None)
            if erasures == self._erasures or (at is not None and timedelta() <= now - at < EVERY):
                return
            await self._eraser.purge(now, is_over=False)
            self._apart = (self._erasures, now)


@dataclass(frozen=True)
class Forgetting:
    """What must happen, in an order in which it may break off anywhere and be done again.

    What others' words are cleaned by, names and the ids of memos, stands in the ledger: so the ledger comes last, and
    by one transaction. It is cleaned after once more what others may have written into meanwhile. ``held`` keeps those
    from writing who make events and portraits; ``unportray`` lets go of what is remembered of portraits that changed.
    """

    journal: MessageBuffer
    queue: QueueEraser
    names: NameBook
    archive: Archive
    notes: NoteBook
    mirror: MemoMirror
    eraser: Eraser
    consent: Consent
    purge: Purge
    clock: Clock
    held: Callable[[], AbstractAsyncContextManager[None]]
    unindex: Callable[[Sequence[str]], Awaitable[None]]
    portraits: ProfileEraser
    unportray: Callable[[Sequence[ProfileKey]], Awaitable[None]]
    facts: FactBook

    async def forget_person(self, scene: Scene, user_id: str) -> Erasure:
        """Forget a person everywhere, of every agent; only they themselves may ask for it, and an operator."""
        if scene.kind != "operator" and scene.user_id != user_id:
            raise NotPermitted(sentences.others_stay())
        async with self.purge.erasing():
            await self.journal.settle()
            memo_ids = await self.notes.memo_ids(user_id)
            hide = await self._hiding(scene, user_id)
            async with self.held():
                done = await self._erase_person(user_id, hide, memo_ids)
            await self.unindex(done.wiped.event_ids)
        return await self._erasure(done)

    async def forget_place(self, scene: Scene) -> Erasure:
        """Forget a group, or a private chat, of this agent; its switch stays as it is.

        Who may ask for a whole group is the caller's to judge: for this layer everybody in a group is alike.
        """
        scope = scene.scope
        async with self.purge.erasing():
            async with self.held():
                done = await self._erase_place(scope)
            await self.unindex(done.wiped.event_ids)
        return await self._erasure(done)

    async def _erase_person(self, user_id: str, hide: Redaction, memo_ids: Sequence[str]) -> _ErasedParts:
        place = _chat_with(user_id)
        await self.journal.erase_person(user_id, hide)
        jobs = await self.queue.erase_person(user_id, hide)
        await self.mirror.erase(memo_ids, place, hide)
        keys = await self._erase_portraits(self.portraits.erase_person(user_id, hide))
        wiped = await self.eraser.forget_person(user_id, self.clock.now(), hide)
        await self.consent.load()
        await self.mirror.erase(wiped.memo_ids, place, hide)
        keys |= await self._erase_portraits(self.portraits.erase_person(user_id, hide))
        await self.journal.erase_person(user_id, hide)
        return _ErasedParts(jobs, wiped, sum(key.user_id == user_id for key in keys), len(keys))

    async def _erase_place(self, scope: Scope) -> _ErasedParts:
        await self.journal.erase_place(scope)
        jobs = await self.queue.erase_place(scope)
        fed = await self.facts.fed_by(scope)
        keys = await self._erase_portraits_of(scope, fed)
        wiped = await self.eraser.forget_place(scope, self.clock.now())
        await self.consent.load()
        await self.mirror.erase(wiped.memo_ids, scope, str)
        keys |= await self._erase_portraits_of(scope, fed)
        await self.journal.erase_place(scope)
        return _ErasedParts(jobs, wiped, len(keys), len(keys))

    async def _erase_portraits_of(self, scope: Scope, fed: Collection[ProfileKey]) -> set[ProfileKey]:
        """Remove the portraits of a place, and those of people that hold something of it: they are drawn anew."""
        keys = await self._erase_portraits(self.portraits.erase_place(scope))
        return keys | await self._erase_portraits(self.portraits.erase(fed))

    async def _erase_portraits(self, erasing: Awaitable[Sequence[ProfileKey]]) -> set[ProfileKey]:
        keys = await erasing
        await self.unportray(keys)
        return set(keys)

    async def _hiding(self, scene: Scene, user_id: str) -> Redaction:
        """Know a person by the names that stand anywhere, written as they are and as they are shown.

        What only journal, queue or caller know is written down first: after a crash nobody else would know it any more.
        """
        known = await self.names.names_of([user_id])
        waiting = self.journal.names_of(user_id) | await self.queue.names_of(user_id)
        asking = [scene.user_name] if scene.user_id == user_id else []
        found = dict.fromkeys((*asking, *known, *sorted(waiting), *await self._names_borne(user_id)))
        borne = list(found)[:MOST_NAMES]
        shown, now = {clean_name(name) for name in borne} - {""}, self.clock.now()
        news = [Alias(_chat_with(user_id), user_id, name, now, now) for name in shown.difference(known)]
        await self.names.note_all(news)
        shared = frozenset(await self.names.shared([user_id]))
        theirs = {name for name in borne if clean_name(name) in shared}
        return Redaction.of({user_id}, {*borne, *shown}, shared | theirs)

    async def _names_borne(self, user_id: str) -> list[str]:
        """Find the names that a person bears in what they said, latest first."""
        latest: dict[str, datetime] = {}
        async for row in self.archive.rows(user_id=user_id):
            if isinstance(row, EmbeddedEvent):
                name, at = row.event.sender_name, row.event.happened_at
            elif isinstance(row, Message):
                name, at = row.scene.user_name, row.sent_at
            else:
                continue
            latest[name] = max(at, latest.get(name, at))
        return sorted(latest, key=lambda name: latest[name], reverse=True)

    async def _erasure(self, done: _ErasedParts) -> Erasure:
        copies, wiped = await self.eraser.copies(), done.wiped
        state = await self.purge.state()
        self.purge.begin(state)
        return Erasure(
            events=wiped.events,
            messages=wiped.messages,
            memos=wiped.memos,
            pins=wiped.pins,
            names=wiped.names,
            jobs=done.jobs,
            profiles=done.profiles,
            reworded=wiped.reworded + done.portraits - done.profiles,
            purged=state.erased_at is None,
            copies=tuple(copy.path for copy in copies),
        )


@dataclass(frozen=True)
class _ErasedParts:
    """What was erased: jobs, what left the ledger, and how many portraits went, of all that went or were reworded."""

    jobs: int
    wiped: Wiped
    profiles: int
    portraits: int


def _chat_with(user_id: str) -> Scope:
    """Give the private chat with a person, of whichever agent: all of them are forgotten."""
    return Scope(DEFAULT_AGENT, "private", user_id)
