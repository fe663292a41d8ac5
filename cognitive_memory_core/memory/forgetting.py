"""What people take back: events forgotten or corrected, people and places erased, and the purge of their bytes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from .. import sentences
from ..consent import Consent
from ..domain.erasure import RESTORABLE, Erasure, keys_of
from ..domain.event import Draft, Event, Fact, Quote, corrected_id, duplicate_key, exchange, shortened
from ..domain.ids import derived_id
from ..domain.people import Alias
from ..domain.profile import Profile, ProfileKey
from ..domain.scope import DEFAULT_AGENT, Scene, Scope
from ..domain.turn import TurnLimits
from ..errors import CognitiveMemoryError, NotPermitted, UnknownEvent
from ..historian.pipeline import group_fact, own_key
from ..settings.schema import Settings
from ..store.erasure import Eraser
from ..store.events import EventLedger
from ..store.names import MOST_NAMES
from ..text.characters import clear_caches
from ..text.cleaning import clean_text
from ..text.names import clean_name
from ..text.redaction import Redaction
from ..text.relative_words import offences
from ..text.retelling import untelling, without_retold
from .opened import Opened

log = logging.getLogger(__name__)
EVERY = timedelta(hours=1)


class Forgetting:
    """Erases persons and places, forgets events, erases these after the restore period, and purges what was erased.

    An erasure can be interrupted anywhere and repeated: the ledger has the names and memo ids needed to clean the other
    stores, so it is cleaned last, in one transaction. Stores that may have been written meanwhile are cleaned again.

    A purge removes the bytes of erased data from the disk, at most once an hour: from the ledger, then from the index.
    The ledger records that it is due until both are done. If the index is unavailable, both are purged again.
    """

    def __init__(
        self,
        opened: Opened,
        *,
        suspended: Callable[[], AbstractAsyncContextManager[None]],
        on_erased: Callable[[], None] = lambda: None,
        on_changed: Callable[[], None] = lambda: None,
    ) -> None:
        """Forget in what is open. While ``suspended`` is entered, no job or merge writes.

        ``on_erased`` is called after each erasure, ``on_changed`` after :meth:`forget` and :meth:`restore`.
        """
        self.ledger, self.buffer, self.queue, self.memos = opened.ledger, opened.buffer, opened.queue, opened.memos
        self.profiles, self.consent, self.reconciler = opened.profiles, opened.consent, opened.reconciler
        self.clock, self.watch = opened.clock, opened.watch
        self._suspended, self._on_erased, self._on_changed = suspended, on_erased, on_changed
        self.turn = asyncio.Lock()  # no erasure between the rebuild of the index and the end of the purge
        self._erasures = 0

    @asynccontextmanager
    async def erasing(self) -> AsyncGenerator[None, None]:
        """Run the ``with`` block as an erasure, one at a time, and clear the caches of texts at its end.

        A purge that is running does not remove the bytes of this erasure, so that another one stays due.
        """
        async with self.turn:
            try:
                yield
            finally:
                self._erasures += 1
                clear_caches()

    async def erase_due(self) -> float:
        """Erase what is over, and purge; return after how many seconds to call again.

        Does not raise: what an unavailable store prevents is left for the next call.
        """
        pause = EVERY
        for step in (self.erase_expired, self._erase_ended, self.purge_if_due):
            try:
                pause = await step() or pause
            except CognitiveMemoryError as away:
                log.warning("%s", sentences.log.PURGE_WAITS.format(reason=str(away)))
        return pause.total_seconds()

    async def _erase_ended(self) -> None:
        await self.consent.erase_ended(self.clock.now())

    async def purge_if_due(self) -> timedelta | None:
        """Purge if one is due; return after what time it may run if the last one was less than an hour ago.

        A last purge dated in the future is ignored. The purge stays due if something was erased meanwhile, and if a
        store is unavailable, which raises UnavailableError.
        """
        eraser, now = self.ledger.eraser, self.clock.now()
        state = await eraser.purge_due()
        if state.erased_at is None:
            return None
        if state.purged_at and timedelta() <= now - state.purged_at < EVERY:
            return state.purged_at + EVERY - now
        async with self.turn:  # waits for a running erasure, so that the rebuild sees it
            erasures = self._erasures
            await eraser.purge(self.clock.now())
        if self.reconciler:
            await self.reconciler.rebuild()
        async with self.turn:
            if erasures == self._erasures:
                await eraser.end_purge()
                clear_caches()  # entries cached by searches that ran during an erasure
        return None

    async def forget_person(self, scene: Scene, user_id: str, names: Collection[str] = ()) -> Erasure:
        """Erase a person everywhere, for every agent; raise NotPermitted unless the person or an operator asks.

        ``names`` are further names of the person that the caller knows.
        """
        if scene.kind != "operator" and scene.user_id != user_id:
            raise NotPermitted(sentences.caller.OTHERS_STAY)
        place = Scope(DEFAULT_AGENT, "private", user_id)  # of any agent: an erasure covers all
        async with self.erasing():
            await self.buffer.flush()
            memo_ids = await self.ledger.notes.memo_ids(user_id)
            hide = await self._hiding(scene, user_id, names)
            async with self._suspended():
                await self.buffer.erase_person(user_id, hide)
                jobs = await self.queue.erase_person(user_id, hide)
                await self.memos.erase(memo_ids, place, hide)
                keys = await self._erase_profiles(self.profiles.erase_person(user_id, hide))
                wiped, memo_ids = await self.ledger.eraser.forget_person(user_id, self.watch.now(), hide)
                await self.consent.load()
                await self.memos.erase(memo_ids, place, hide)
                keys |= await self._erase_profiles(self.profiles.erase_person(user_id, hide))
                await self.buffer.erase_person(user_id, hide)
            self._on_erased()
        own = sum(key.user_id == user_id for key in keys)
        wiped = replace(wiped, reworded=wiped.reworded + len(keys) - own)
        return await self._erasure(wiped, jobs=jobs, profiles=own)

    async def forget_place(self, scene: Scene) -> Erasure:
        """Erase a group or a private chat of this agent; its switch is kept.

        The caller must check who may erase a group, which is not checked here.
        """
        scope = scene.scope
        async with self.erasing():
            async with self._suspended():
                await self.buffer.erase_place(scope)
                jobs = await self.queue.erase_place(scope)
                fed = await self.ledger.facts.keys_with_facts_of(scope)
                keys = await self._erase_profiles(self.profiles.erase_place(scope))
                keys |= await self._erase_profiles(self.profiles.erase(fed))  # merged anew from facts of other places
                wiped, memo_ids = await self.ledger.eraser.forget_place(scope, self.watch.now())
                await self.consent.load()
                await self.memos.erase(memo_ids, scope, str)
                keys |= await self._erase_profiles(self.profiles.erase_place(scope))
                keys |= await self._erase_profiles(self.profiles.erase(fed))
                await self.buffer.erase_place(scope)
            self._on_erased()
        return await self._erasure(wiped, jobs=jobs, profiles=len(keys))

    async def _erase_profiles(self, erasing: Awaitable[Sequence[ProfileKey]]) -> set[ProfileKey]:
        keys = await erasing
        await self._take_in(keys)
        return set(keys)

    async def _take_in(self, keys: Sequence[ProfileKey]) -> None:
        """Update the index and the caches for changed profiles."""
        for key in keys:
            await self.ledger.profiles.take_in(key, self.profiles.read)

    async def _hiding(self, scene: Scene, user_id: str, names: Collection[str]) -> Redaction:
        """Return the redaction of a person by all their names, in raw and in displayed form.

        Names that only the buffer, the queue or the caller knows are stored first, so that a crash does not lose them.
        """
        known = await self.ledger.names.names_of([user_id])
        waiting = self.buffer.names_of(user_id) | await self.queue.names_of(user_id)
        borne = await self.ledger.names.borne(user_id)
        asking = [scene.user_name] if scene.user_id == user_id else []
        used_names = list(dict.fromkeys((*asking, *names, *known, *sorted(waiting), *borne)))[:MOST_NAMES]
        shown, now = {clean_name(name) for name in used_names} - {""}, self.watch.now()
        chat = Scope(DEFAULT_AGENT, "private", user_id)
        await self.ledger.names.note_all([Alias(chat, user_id, name, now, now) for name in shown.difference(known)])
        shared = frozenset(await self.ledger.names.shared([user_id]))
        theirs = {name for name in used_names if clean_name(name) in shared}
        return Redaction.of({user_id}, {*used_names, *shown}, shared | theirs)

    async def _erasure(self, wiped: Erasure, *, jobs: int, profiles: int) -> Erasure:
        copies, state = await self.ledger.eraser.copies(), await self.ledger.eraser.purge_due()
        return replace(wiped, jobs=jobs, profiles=profiles, purged=state.erased_at is None, copies=tuple(copies))

    async def forget(self, scene: Scene, event: Event) -> None:
        """Retire an event and hide the lines that repeat it, including lines that are still in the message buffer."""
        if event.retired_at is None:
            await self.buffer.flush()
            theirs = (event.person, event.user_id if event.request_type == "private" else "")
            by_author = scene.kind != "operator" and scene.user_id in theirs
            await self.ledger.eraser.forget(event.id, self.watch.now(), "author" if by_author else "other")
            self._on_changed()

    async def restore(self, event: Event) -> Event:
        """Make a forgotten event active again and return it; if an active event has the same text, return that one.

        Raises UnknownEvent if the event was forgotten over 30 days ago, is erased, or its messages were withdrawn.
        """
        is_over = event.retired_at is not None and event.retired_at < self.watch.now() - RESTORABLE
        restored = None if is_over else await self.ledger.events.restore(event.id)
        if restored is None:
            raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
        self._on_changed()
        return restored

    async def erase_expired(self) -> None:
        """Erase events whose restore period is over; what they state is removed from profiles and revisions.

        If a store is unavailable, CognitiveMemoryError is raised; the next call continues.
        """
        expired = await self.ledger.eraser.expired(self.watch.horizon() - RESTORABLE)
        if not expired:
            return
        async with self.erasing():
            async with self._suspended():
                corrected: dict[str, list[Event]] = {}
                events_by_key: dict[ProfileKey, list[Event]] = {}
                for event in expired:
                    wordings = await self.ledger.listings.wordings(event)
                    corrected[event.id] = [one for one in wordings if one.retired_at is None]
                    for key in keys_of(event):
                        events_by_key.setdefault(key, []).append(event)
                reworded: list[ProfileKey] = []
                for key, events in events_by_key.items():
                    ids = [event.id for event in events]
                    if await self.profiles.reword(key, untelling(events, corrected), ids):
                        reworded.append(key)
                await self._take_in(reworded)
                await self.ledger.eraser.erase([event.id for event in expired], self.watch.now())  # last
            self._on_erased()


async def forgotten_in(key: ProfileKey, events: Eraser) -> Callable[[Profile], Profile]:
    """Return a function that removes from this profile the lines of forgotten events, and what else retells them."""
    gone = [event for event in await events.unrepeatable() if key in keys_of(event)]
    return lambda profile: without_retold(profile, gone)


async def without_forgotten(profile: Profile, events: Eraser) -> Profile:
    """Return a present or past profile without what forgotten events stated."""
    return (await forgotten_in(profile.key, events))(profile)


async def corrected_event(
    events: EventLedger, consent: Consent, settings: Settings, scene: Scene, old: Event, text: str
) -> Event:
    """Store a corrected event and retire the old one, atomically; return the event that is active afterwards.

    If the texts are equal, nothing changes. The asker may correct what they said, their private chat, and what the bot
    noted in a turn with them; an operator all. Raises NotPermitted for anything else, UnknownEvent if the old one is
    retired, or if the ledger rejects the correction, because the person opted out or was erased meanwhile.
    """
    is_in_private = old.request_type == "private" and old.user_id == scene.user_id
    if not (scene.kind == "operator" or old.person == scene.user_id or is_in_private):
        raise NotPermitted(sentences.caller.NOT_YOURS_TO_CORRECT)
    if old.retired_at is not None:
        raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
    words = consent.hidden(shortened(clean_text(text), TurnLimits().text))
    draft = _correction(scene, old, words, settings)
    if duplicate_key(draft.events[0].text) == duplicate_key(old.text):
        return old
    await events.commit(draft)
    if standing := await events.standing(draft.events[0]):
        return standing
    raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)


def _correction(scene: Scene, old: Event, words: str, settings: Settings) -> Draft:
    """Return the corrected event with its facts: the asker's own words, or a note if the operator wrote them.

    Words that depend on the speaker are stored as a quotation. Facts for the speaker's and the group's profile are made
    only if the asker is the speaker; the ledger drops the group's unless the old event had one.
    """
    writer = "" if scene.kind == "operator" else scene.user_id
    quotes = (Quote("", writer, words, clean_name(scene.user_name or old.sender_name) if writer else ""),)
    text = exchange(quotes) if writer and offences(words) else words
    event = replace(
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
    facts: list[Fact] = []
    if scene.user_id == event.sender_id and scene.kind != "operator":
        if event.request_type == "private":
            learned_in = Scene.private(event.user_id, agent=event.agent)
        else:
            learned_in = Scene.group(event.group_id, event.sender_id, agent=event.agent)
        if set(event.subjects) == {event.sender_id}:
            key = own_key(learned_in, event.sender_id, settings)
            facts.append(Fact(key, event.id, words, event.kind, event.happened_at))
        if event.group_id:
            facts.append(group_fact(learned_in, event))
    return Draft(derived_id("correction", old.id, text), (event,), facts=tuple(facts), corrects=old.id)
