"""Permanent erasure of a person or a place (``forget_person``, ``forget_place``): nothing restores it.

The rows are deleted from every store at once; a purge (:mod:`.purge_schedule`) removes their bytes from the
disk soon after.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime

from . import sentences
from .consent import Consent
from .domain.erasure import Erasure
from .domain.message import Message
from .domain.profile import ProfileKey
from .domain.scope import DEFAULT_AGENT, Scene, Scope
from .end_summaries import EndSummaries
from .errors import NotPermitted
from .historian.messages.message_buffer import MessageBuffer
from .ports.clock import Clock
from .ports.vectors import EmbeddedEvent
from .profiles.files import FileProfiles
from .purge_schedule import Purge
from .queue.job_queue import FileQueue
from .store.erasure.eraser import ErasedRows
from .store.ledger import Ledger
from .store.names import MOST_NAMES, Alias
from .text.names import clean_name
from .text.safety.redaction import Redaction


@dataclass(frozen=True)
class ErasureSurroundings:
    """The components that every erasure involves besides the ledger.

    While ``suspended`` is entered, no job or merge writes. ``remove_from_index`` removes events from the vector
    index. ``refresh`` updates index and caches for changed profiles.
    """

    buffer: MessageBuffer
    profiles: FileProfiles
    purge: Purge
    suspended: Callable[[], AbstractAsyncContextManager[None]]
    remove_from_index: Callable[[Sequence[str]], Awaitable[None]]
    refresh: Callable[[Sequence[ProfileKey]], Awaitable[None]]


@dataclass(frozen=True)
class PermanentErasure:
    """Erases persons and places in an order that can be interrupted anywhere and repeated.

    The ledger has the names and memo ids needed to clean the other stores, so it is cleaned last, in one transaction.
    Stores that may have been written during the erasure are cleaned once more afterwards.
    """

    ledger: Ledger
    around: ErasureSurroundings
    queue: FileQueue
    mirror: EndSummaries
    consent: Consent
    clock: Clock

    async def forget_person(self, scene: Scene, user_id: str, names: Collection[str] = ()) -> Erasure:
        """Erase a person everywhere, for every agent; raise NotPermitted unless the person or an operator asks.

        ``names`` are further names of the person that the caller knows.
        """
        if scene.kind != "operator" and scene.user_id != user_id:
            raise NotPermitted(sentences.caller.OTHERS_STAY)
        async with self.around.purge.erasing():
            await self.around.buffer.flush()
            memo_ids = await self.ledger.notes.memo_ids(user_id)
            hide = await self._hiding(scene, user_id, names)
            async with self.around.suspended():
                done = await self._erase_person(user_id, hide, memo_ids)
            await self.around.remove_from_index(done.wiped.event_ids)
        return await self._erasure(done)

    async def forget_place(self, scene: Scene) -> Erasure:
        """Erase a group or a private chat of this agent; its switch is kept.

        The caller must check who may erase a group, which is not checked here.
        """
        scope = scene.scope
        async with self.around.purge.erasing():
            async with self.around.suspended():
                done = await self._erase_place(scope)
            await self.around.remove_from_index(done.wiped.event_ids)
        return await self._erasure(done)

    async def _erase_person(self, user_id: str, hide: Redaction, memo_ids: Sequence[str]) -> _ErasedParts:
        place = _chat_with(user_id)
        await self.around.buffer.erase_person(user_id, hide)
        jobs = await self.queue.erase_person(user_id, hide)
        await self.mirror.erase(memo_ids, place, hide)
        keys = await self._erase_profiles(self.around.profiles.erase_person(user_id, hide))
        wiped = await self.ledger.eraser.forget_person(user_id, self.clock.now(), hide)
        await self.consent.load()
        await self.mirror.erase(wiped.memo_ids, place, hide)
        keys |= await self._erase_profiles(self.around.profiles.erase_person(user_id, hide))
        await self.around.buffer.erase_person(user_id, hide)
        return _ErasedParts(jobs, wiped, sum(key.user_id == user_id for key in keys), len(keys))

    async def _erase_place(self, scope: Scope) -> _ErasedParts:
        await self.around.buffer.erase_place(scope)
        jobs = await self.queue.erase_place(scope)
        fed = await self.ledger.facts.keys_with_facts_of(scope)
        keys = await self._erase_profiles_of(scope, fed)
        wiped = await self.ledger.eraser.forget_place(scope, self.clock.now())
        await self.consent.load()
        await self.mirror.erase(wiped.memo_ids, scope, str)
        keys |= await self._erase_profiles_of(scope, fed)
        await self.around.buffer.erase_place(scope)
        return _ErasedParts(jobs, wiped, len(keys), len(keys))

    async def _erase_profiles_of(self, scope: Scope, fed: Collection[ProfileKey]) -> set[ProfileKey]:
        """Remove the profiles of a place and those in ``fed``, which have facts from there; return all their keys.

        Later merges rebuild the profiles of people from their facts of other places.
        """
        keys = await self._erase_profiles(self.around.profiles.erase_place(scope))
        return keys | await self._erase_profiles(self.around.profiles.erase(fed))

    async def _erase_profiles(self, erasing: Awaitable[Sequence[ProfileKey]]) -> set[ProfileKey]:
        keys = await erasing
        await self.around.refresh(keys)
        return set(keys)

    async def _hiding(self, scene: Scene, user_id: str, names: Collection[str]) -> Redaction:
        """Return the redaction of a person by all their names, in raw and in displayed form.

        Names that only the buffer, the queue or the caller knows are stored first, so that a crash does not lose them.
        """
        known = await self.ledger.names.names_of([user_id])
        waiting = self.around.buffer.names_of(user_id) | await self.queue.names_of(user_id)
        asking = [scene.user_name] if scene.user_id == user_id else []
        found = dict.fromkeys((*asking, *names, *known, *sorted(waiting), *await self._names_borne(user_id)))
        used_names = list(found)[:MOST_NAMES]
        shown, now = {clean_name(name) for name in used_names} - {""}, self.clock.now()
        news = [Alias(_chat_with(user_id), user_id, name, now, now) for name in shown.difference(known)]
        await self.ledger.names.note_all(news)
        shared = frozenset(await self.ledger.names.shared([user_id]))
        theirs = {name for name in used_names if clean_name(name) in shared}
        return Redaction.of({user_id}, {*used_names, *shown}, shared | theirs)

    async def _names_borne(self, user_id: str) -> list[str]:
        """Return the names that a person has in their own events and messages, latest first."""
        latest: dict[str, datetime] = {}
        async for row in self.ledger.archive.rows(user_id=user_id):
            if isinstance(row, EmbeddedEvent):
                name, at = row.event.sender_name, row.event.happened_at
            elif isinstance(row, Message):
                name, at = row.scene.user_name, row.sent_at
            else:
                continue
            latest[name] = max(at, latest.get(name, at))
        return sorted(latest, key=lambda name: latest[name], reverse=True)

    async def _erasure(self, done: _ErasedParts) -> Erasure:
        copies, wiped = await self.ledger.eraser.copies(), done.wiped
        state = await self.around.purge.state()
        self.around.purge.begin(state)
        return Erasure(
            events=wiped.events,
            messages=wiped.messages,
            memos=wiped.memos,
            pins=wiped.pins,
            beliefs=wiped.beliefs,
            names=wiped.names,
            jobs=done.jobs,
            profiles=done.profiles,
            reworded=wiped.reworded + done.touched - done.profiles,
            purged=state.erased_at is None,
            copies=tuple(copy.path for copy in copies),
        )


@dataclass(frozen=True)
class _ErasedParts:
    """What was erased: jobs and profiles as numbers, ledger rows; ``touched`` counts profiles removed or reworded."""

    jobs: int
    wiped: ErasedRows
    profiles: int
    touched: int


def _chat_with(user_id: str) -> Scope:
    """Return the private chat with a person; its agent does not matter, because an erasure covers all agents."""
    return Scope(DEFAULT_AGENT, "private", user_id)
