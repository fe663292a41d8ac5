"""What people take back: events forgotten or corrected, people and places erased, and the purge of their bytes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from . import sentences
from .consent import Consent
from .domain.erasure import RESTORABLE, Erasure, keys_of
from .domain.event import Draft, Event, Fact, Quote, corrected_id, duplicate_key, exchange
from .domain.figures import PurgeState
from .domain.ids import checked_text, derived_id
from .domain.interval import Interval
from .domain.profile import ProfileKey
from .domain.read_filter import ReadFilter
from .domain.scope import DEFAULT_AGENT, Scene, Scope
from .domain.turn import TurnLimits, shortened
from .end_summaries import EndSummaries
from .errors import CognitiveMemoryError, NotPermitted, UnknownEvent
from .historian.message_buffer import MessageBuffer
from .historian.pipeline import group_fact, own_key
from .historian.upkeep import ClockWatch
from .ports.clock import Clock
from .profiles.files import FileProfiles
from .queue.job_queue import FileQueue
from .settings import Live, Settings
from .store.erasure.eraser import ErasedRows, Eraser
from .store.events import EventLedger
from .store.ledger import Ledger
from .store.names import MOST_NAMES, Alias
from .text import caches
from .text.names import clean_name, clean_text
from .text.safety.redaction import Redaction
from .text.statements.lexicon import offences
from .text.statements.withdrawn_claims import untelling

log = logging.getLogger(__name__)
EVERY = timedelta(hours=1)
MOST_DATED = 1_000  # events of one instant that are read to find a correction or an equal one
TRIES = 3  # rebuilds in a row while further erasures happen


class Purge:
    """Removes the bytes of erased data from the disk, at most once an hour.

    The index is purged first. The ledger is purged last, because it records that a purge is due until both are done. If
    the index is unavailable, only the ledger is purged.
    """

    def __init__(self, eraser: Eraser, clock: Clock, rebuild: Callable[[], Awaitable[object]]) -> None:
        """Create for a ledger and an index; ``rebuild`` builds the index anew, without the erased events."""
        self._eraser = eraser
        self._clock = clock
        self._rebuild = rebuild
        self._running = asyncio.Lock()
        self._turn = asyncio.Lock()  # no erasure between the rebuild of the index and the end of the purge
        self._erasures = 0
        self._apart: tuple[int, datetime] | None = None  # erasures and time at the last purge of the ledger alone
        self._task: asyncio.Task[bool] | None = None

    @asynccontextmanager
    async def erasing(self) -> AsyncGenerator[None, None]:
        """Run the ``with`` block as an erasure, one at a time, and clear the caches of texts at its end.

        A purge that is running does not remove the bytes of this erasure, so that another one stays due.
        """
        async with self._turn:
            try:
                yield
            finally:
                self._erasures += 1
                caches.clear_caches()

    @asynccontextmanager
    async def undisturbed(self) -> AsyncGenerator[None, None]:
        """Prevent erasures during the ``with`` block."""
        async with self._turn:
            yield

    async def state(self) -> PurgeState:
        """Return the time since which erased bytes wait to be removed, and the time of the last purge."""
        return await self._eraser.purge_due()

    def begin(self, state: PurgeState) -> None:
        """Schedule a purge in the background for when it is due."""
        seconds = self._seconds_until_allowed(state)

        async def run() -> bool:
            await asyncio.sleep(seconds)
            return await self.run_if_due()

        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(run(), name="purge")

    async def close(self) -> None:
        """Cancel the background purge; it stays due and runs after the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def run_if_due(self) -> bool:
        """Purge if a purge is due and the last one was at least an hour ago; return whether it was done.

        An unavailable store does not raise: the purge stays due.
        """
        try:
            async with self._running:
                state = await self._eraser.purge_due()
                if state.erased_at is None or self._seconds_until_allowed(state):
                    return False
                for _ in range(TRIES):
                    async with self._turn:  # waits for a running erasure, so that the rebuild sees it
                        erasures = self._erasures
                    try:
                        await self._rebuild()
                    except CognitiveMemoryError:
                        await self._purge_ledger_only()
                        raise
                    async with self._turn:
                        if erasures == self._erasures:
                            await self._eraser.purge(self._clock.now(), is_over=True)
                            caches.clear_caches()  # entries cached by searches that ran during an erasure
                            return True
        except CognitiveMemoryError as away:
            log.warning("%s", sentences.log.PURGE_WAITS.format(reason=str(away)))
        return False

    def _seconds_until_allowed(self, state: PurgeState) -> float:
        """Return the seconds until a purge is allowed again; a last purge dated in the future is ignored."""
        passed = EVERY if state.purged_at is None else self._clock.now() - state.purged_at
        return (EVERY - passed).total_seconds() if timedelta() <= passed < EVERY else 0.0

    async def _purge_ledger_only(self) -> None:
        """Purge the ledger alone while the index is unavailable, at most once an hour; a purge of both stays due."""
        async with self._turn:
            now, (erasures, at) = self._clock.now(), self._apart or (-1, None)
            if erasures == self._erasures or (at is not None and timedelta() <= now - at < EVERY):
                return
            await self._eraser.purge(now, is_over=False)
            self._apart = (self._erasures, now)


@dataclass(frozen=True)
class Forgetting:
    """Erases persons and places, forgets events, and erases these after the restore period.

    An erasure can be interrupted anywhere and repeated: the ledger has the names and memo ids needed to clean the other
    stores, so it is cleaned last, in one transaction. Stores that may have been written meanwhile are cleaned again.

    While ``suspended`` is entered, no job or merge writes. ``remove_from_index`` removes events from the vector index.
    ``refresh`` updates index and caches for changed profiles. ``on_changed`` is called after :meth:`forget` and
    :meth:`restore`.
    """

    ledger: Ledger
    buffer: MessageBuffer
    queue: FileQueue
    mirror: EndSummaries
    profiles: FileProfiles
    consent: Consent
    clock: ClockWatch
    purge: Purge
    suspended: Callable[[], AbstractAsyncContextManager[None]]
    remove_from_index: Callable[[Sequence[str]], Awaitable[None]]
    refresh: Callable[[Sequence[ProfileKey]], Awaitable[None]]
    on_changed: Callable[[], None] = lambda: None

    async def forget_person(self, scene: Scene, user_id: str, names: Collection[str] = ()) -> Erasure:
        """Erase a person everywhere, for every agent; raise NotPermitted unless the person or an operator asks.

        ``names`` are further names of the person that the caller knows.
        """
        if scene.kind != "operator" and scene.user_id != user_id:
            raise NotPermitted(sentences.caller.OTHERS_STAY)
        place = _chat_with(user_id)
        async with self.purge.erasing():
            await self.buffer.flush()
            memo_ids = await self.ledger.notes.memo_ids(user_id)
            hide = await self._hiding(scene, user_id, names)
            async with self.suspended():
                await self.buffer.erase_person(user_id, hide)
                jobs = await self.queue.erase_person(user_id, hide)
                await self.mirror.erase(memo_ids, place, hide)
                keys = await self._erase_profiles(self.profiles.erase_person(user_id, hide))
                wiped = await self.ledger.eraser.forget_person(user_id, self.clock.now(), hide)
                await self.consent.load()
                await self.mirror.erase(wiped.memo_ids, place, hide)
                keys |= await self._erase_profiles(self.profiles.erase_person(user_id, hide))
                await self.buffer.erase_person(user_id, hide)
            await self.remove_from_index(wiped.event_ids)
        own = sum(key.user_id == user_id for key in keys)
        return await self._erasure(wiped, jobs=jobs, profiles=own, reworded=wiped.reworded + len(keys) - own)

    async def forget_place(self, scene: Scene) -> Erasure:
        """Erase a group or a private chat of this agent; its switch is kept.

        The caller must check who may erase a group, which is not checked here.
        """
        scope = scene.scope
        async with self.purge.erasing():
            async with self.suspended():
                await self.buffer.erase_place(scope)
                jobs = await self.queue.erase_place(scope)
                fed = await self.ledger.facts.keys_with_facts_of(scope)  # rebuilt later from facts of other places
                keys = await self._erase_profiles(self.profiles.erase_place(scope))
                keys |= await self._erase_profiles(self.profiles.erase(fed))
                wiped = await self.ledger.eraser.forget_place(scope, self.clock.now())
                await self.consent.load()
                await self.mirror.erase(wiped.memo_ids, scope, str)
                keys |= await self._erase_profiles(self.profiles.erase_place(scope))
                keys |= await self._erase_profiles(self.profiles.erase(fed))
                await self.buffer.erase_place(scope)
            await self.remove_from_index(wiped.event_ids)
        return await self._erasure(wiped, jobs=jobs, profiles=len(keys), reworded=wiped.reworded)

    async def _erase_profiles(self, erasing: Awaitable[Sequence[ProfileKey]]) -> set[ProfileKey]:
        keys = await erasing
        await self.refresh(keys)
        return set(keys)

    async def _hiding(self, scene: Scene, user_id: str, names: Collection[str]) -> Redaction:
        """Return the redaction of a person by all their names, in raw and in displayed form.

        Names that only the buffer, the queue or the caller knows are stored first, so that a crash does not lose them.
        """
        known = await self.ledger.names.names_of([user_id])
        waiting = self.buffer.names_of(user_id) | await self.queue.names_of(user_id)
        asking = [scene.user_name] if scene.user_id == user_id else []
        found = dict.fromkeys((*asking, *names, *known, *sorted(waiting), *await self.ledger.names.borne(user_id)))
        used_names = list(found)[:MOST_NAMES]
        shown, now = {clean_name(name) for name in used_names} - {""}, self.clock.now()
        news = [Alias(_chat_with(user_id), user_id, name, now, now) for name in shown.difference(known)]
        await self.ledger.names.note_all(news)
        shared = frozenset(await self.ledger.names.shared([user_id]))
        theirs = {name for name in used_names if clean_name(name) in shared}
        return Redaction.of({user_id}, {*used_names, *shown}, shared | theirs)

    async def _erasure(self, wiped: ErasedRows, *, jobs: int, profiles: int, reworded: int) -> Erasure:
        copies = await self.ledger.eraser.copies()
        state = await self.purge.state()
        self.purge.begin(state)
        return Erasure(
            events=wiped.events,
            messages=wiped.messages,
            memos=wiped.memos,
            pins=wiped.pins,
            beliefs=wiped.beliefs,
            names=wiped.names,
            jobs=jobs,
            profiles=profiles,
            reworded=reworded,
            purged=state.erased_at is None,
            copies=tuple(copies),
        )

    async def forget(self, scene: Scene, event: Event) -> None:
        """Retire an event and hide the lines that repeat it, including lines that are still in the message buffer."""
        if event.retired_at is None:
            await self.buffer.flush()
            theirs = (event.person, event.user_id if event.request_type == "private" else "")
            by_author = scene.kind != "operator" and scene.user_id in theirs
            await self.ledger.eraser.forget(event.id, self.clock.now(), "author" if by_author else "other")
            self.on_changed()

    async def restore(self, event: Event) -> Event:
        """Make a forgotten event active again and return it; if an active event has the same text, return that one.

        Raises UnknownEvent if the event was forgotten over 30 days ago, is erased, or its messages were withdrawn.
        """
        is_over = event.retired_at is not None and event.retired_at < self.clock.now() - RESTORABLE
        restored = None if is_over else await self.ledger.events.restore(event.id)
        if restored is None:
            raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
        self.on_changed()
        return restored

    async def erase_expired(self) -> int:
        """Erase events whose restore period is over and schedule a purge; return how many events.

        If a store is unavailable, return 0; the next call continues.
        """
        try:
            expired = await self.ledger.eraser.expired(self.clock.horizon() - RESTORABLE)
            if not expired:
                return 0
            async with self.purge.erasing():
                async with self.suspended():
                    await self.refresh(await self._reworded(expired))
                    erased = await self.ledger.eraser.erase([event.id for event in expired], self.clock.now())  # last
                await self.remove_from_index(erased.event_ids)
            self.purge.begin(await self.purge.state())
        except CognitiveMemoryError as away:
            log.warning("%s", sentences.log.PURGE_WAITS.format(reason=str(away)))
            return 0
        return erased.events

    async def _reworded(self, expired: Sequence[Event]) -> list[ProfileKey]:
        """Remove from profiles and their revisions what these events state; return the keys of the changed profiles."""
        corrected: dict[str, list[Event]] = {}  # active events that replaced each: with its date, speaker and sources
        events_by_key: dict[ProfileKey, list[Event]] = {}
        for event in expired:
            alike, dated = (
                (event.scope, event.sender_id, event.message_ids),
                await _of_instant(self.ledger.events, event),
            )
            corrected[event.id] = [one for one in dated if (one.scope, one.sender_id, one.message_ids) == alike]
            for key in keys_of(event):
                events_by_key.setdefault(key, []).append(event)
        reword = self.profiles.reword
        return [
            key
            for key, events in events_by_key.items()
            if await reword(key, untelling(events, corrected), [event.id for event in events])
        ]


def _chat_with(user_id: str) -> Scope:
    """Return the private chat with a person; its agent does not matter, because an erasure covers all agents."""
    return Scope(DEFAULT_AGENT, "private", user_id)


async def _of_instant(events: EventLedger, event: Event) -> list[Event]:
    """Return the active events of the instant of an event, which its corrections keep."""
    instant = Interval(event.happened_at, event.happened_at + timedelta(microseconds=1))
    return await events.recent(ReadFilter(Scene.operator(event.agent), window=instant), MOST_DATED)


@dataclass(frozen=True)
class EventCorrecting:
    """Replaces the text of events that the asker said, or that an operator chose."""

    events: EventLedger
    consent: Consent
    settings: Live[Settings]

    async def correct(self, scene: Scene, old: Event, text: str) -> Event:
        """Store a corrected event and retire the old one, atomically; return the event that is active afterwards.

        If the texts are equal, nothing changes. Raises NotPermitted if somebody else said the old event, UnknownEvent
        if it is retired.
        """
        if not is_own(scene, old):
            raise NotPermitted(sentences.caller.NOT_YOURS_TO_CORRECT)
        if old.retired_at is not None:
            raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
        words = self.consent.hidden(shortened(clean_text(checked_text(text, "text")), TurnLimits().text))
        draft = self._draft(scene, old, words)
        if duplicate_key(draft.events[0].text) == duplicate_key(old.text):
            return old
        await self.events.commit(draft)
        written = draft.events[0]
        found = await self.events.find(written.id)
        if found is not None and found.retired_at is None:
            return found
        left = await self.events.find(old.id)
        if left is None or left.retired_at is None:  # rejected: the person opted out or was erased meanwhile
            raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
        # else the ledger kept an active event with the same words instead
        alike = (written.scope, written.sender_id, duplicate_key(written.text))
        equal = (
            one
            for one in await _of_instant(self.events, old)
            if (one.scope, one.sender_id, duplicate_key(one.text)) == alike
        )
        return next(equal, written)

    def _draft(self, scene: Scene, old: Event, words: str) -> Draft:
        """Return the corrected event: the asker's own words, or a note if the operator wrote them.

        Words that depend on the speaker are stored as a quotation.
        """
        writer = "" if scene.kind == "operator" else scene.user_id
        quotes = (Quote("", writer, words, clean_name(scene.user_name or old.sender_name) if writer else ""),)
        text = exchange(quotes) if writer and offences(words) else words
        corrected = replace(
            old,
            id=corrected_id(old.id, text),
            text=text,
            sender_id=writer or old.sender_id,
            quotes=quotes,
            is_absolute=not offences(words),
            confidence=1.0,
            count=1,
            last_seen_at=None,
        )
        job_id = derived_id("correction", old.id, text)
        return Draft(job_id, (corrected,), facts=tuple(self._facts(scene, corrected)), corrects=old.id)

    def _facts(self, scene: Scene, event: Event) -> Iterator[Fact]:
        """Yield the facts for the speaker's and the group's profile, if the asker is the speaker.

        A correction by an operator changes no profile. The ledger drops the group's fact unless the old event had one.
        """
        if scene.user_id != event.sender_id or scene.kind == "operator":
            return
        learned_in = Scene.private(event.user_id, agent=event.agent)
        if event.request_type != "private":
            learned_in = Scene.group(event.group_id, event.sender_id, agent=event.agent)
        if set(event.subjects) == {event.sender_id}:
            key = own_key(learned_in, event.sender_id, self.settings.current)
            yield Fact(key, event.id, event.quotes[0].text, event.kind, event.happened_at)
        if event.group_id:
            yield group_fact(learned_in, event)


def is_own(scene: Scene, event: Event) -> bool:
    """Return whether the asker may change an event.

    It is their own, of their private chat, or what the bot noted in a turn with them; an operator may change all.
    """
    is_in_private = event.request_type == "private" and event.user_id == scene.user_id
    return scene.kind == "operator" or event.person == scene.user_id or is_in_private
