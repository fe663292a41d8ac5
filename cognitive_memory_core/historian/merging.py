"""Merges waiting facts into profiles: when one is due, how it is read, merged and written, and the loop over all."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain

from ..domain.event import Fact
from ..domain.figures import MergeState
from ..domain.people import Person
from ..domain.profile import Profile, ProfileKey
from ..domain.scope import Scope, log_fields
from ..errors import CognitiveMemoryError, UnavailableError
from ..ports import Clock, MergedLines, MergeInput, Merger
from ..profiles.files import FileProfiles, Overtaken
from ..settings.schema import Live, ProfileSettings, Settings
from ..store.database.database import Snapshot
from ..store.facts import FactBook, PendingFacts
from ..store.ledger import Ledger
from ..store.names import NameBook
from ..store.profiles import ProfileIndex
from ..tasks import BackgroundLoop, ErrorState, completed, ended, latest
from ..text.cleaning import described
from ..text.names import clean_name
from ..text.retelling import WithdrawnClaim
from .profile_page import Page

FIRST_DELAY = 20.0  # seconds that facts wait if there is no profile yet
PAUSES = (60.0, 3600.0, 86400.0)  # seconds after the first failure in a row, the second, and every further one
LONGEST_HIDDEN = 3600.0  # seconds between two tries while the profile is hidden for a withdrawn fact
LONGEST_WAIT = 86_400.0  # seconds that fewer facts than merge_min_facts wait for more
LEARNING_DELAY = 10.0  # seconds that facts wait at least while jobs wait, which may bring more of them
_LONGEST_DELAY = 1e8  # seconds; a longer delay would overflow a date


def due_at(
    waiting: PendingFacts, settings: ProfileSettings, now: datetime, *, skips_waiting: bool, is_learning: bool = False
) -> datetime:
    """Return when the facts of one profile are due; stored instants in the future count as past.

    Fewer than ``merge_min_facts`` facts of an existing profile wait for more, a day at the longest, unless there is no
    delay at all. Withdrawn facts are due at once. ``skips_waiting`` skips the wait for more facts. Even withdrawn or
    hurried facts wait for the end of the pause after a failure. ``is_learning`` says that jobs are waiting: then facts
    wait a few seconds even without a delay.
    """
    delay = min(settings.merge_delay_seconds, _LONGEST_DELAY)
    if waiting.is_first:
        delay = min(delay, FIRST_DELAY)
    elif delay and waiting.facts < settings.merge_min_facts:
        delay = max(delay, LONGEST_WAIT)
    if skips_waiting or waiting.withdrawn or waiting.facts >= settings.merge_max_facts:
        delay = 0.0
    elif is_learning:
        delay = max(delay, LEARNING_DELAY)
    ready = now if waiting.since > now else waiting.since + timedelta(seconds=delay)
    failed_at = waiting.failed_at
    if failed_at is None or failed_at > now:
        return ready
    pause = pause_after(waiting.attempts)
    return max(ready, failed_at + timedelta(seconds=min(pause, LONGEST_HIDDEN) if waiting.withdrawn else pause))


def pause_after(failures: int) -> float:
    """Return the pause in seconds after ``failures`` failures in a row."""
    return PAUSES[min(max(failures, 1), len(PAUSES)) - 1]


AT_ONCE = 4  # a merge takes up to this many times merge_max_facts
MOST_AT_ONCE = 48  # facts of one merge; below the number that a prompt can show


@dataclass(frozen=True)
class EntityMerge:
    """Merges the facts of one entity into its profile; must not run twice at a time for the same entity.

    ``group_names`` are the names of groups as they are known now. ``is_left_out`` returns whether the facts of a key
    must wait. ``on_written`` is called after every profile write.
    """

    merger: Merger
    store: FileProfiles
    ledger: Ledger
    settings: Live[Settings]
    clock: Clock
    group_names: Mapping[Scope, str]
    is_left_out: Callable[[ProfileKey], bool]
    on_written: Callable[[], None]

    async def merge(self, key: ProfileKey) -> None:
        """Merge the waiting facts into their profile; errors of merger and stores are raised and lose no fact.

        Lines of withdrawn facts go first, without a model; what else these lines said is merged again. A file is
        written before its facts are recorded as merged, so that an interrupted merge is repeated. Raises Overtaken if
        somebody else wrote the file meanwhile.
        """
        if self.is_left_out(key):
            return
        old, given = await self.ledger.database.read(self._read, key)
        if any(fact.is_withdrawn for fact in given.new):
            await self._written(partial(self._withdraw, key=key, old=old, given=given))
            old, given = await self.ledger.database.read(self._read, key)
        if not given.new:
            return
        now = self.clock.now().astimezone(self.settings.current.zone)
        merged = await self.merger.merge(given, now)
        if not self.is_left_out(key):  # the person may have opted out during the model call
            await self._written(partial(self._take, key=key, old=old, given=given, merged=merged))

    async def _written(self, change: Callable[[Snapshot], None]) -> None:
        """Change file and ledger in one step of the writing thread, which ends even if the caller is cancelled."""
        try:
            await completed(self.ledger.database.write(change))
        finally:
            self.on_written()

    def _read(self, connection: Snapshot, key: ProfileKey) -> tuple[Profile | None, MergeInput]:
        """Read a profile, the waiting facts, those that its lines rest on, and the people of a group, or the person.

        A person with one profile everywhere who has no name in private has the latest one of any place.
        """
        old, is_group = self.store.read(key), key.entity_type == "group"
        at_once = min(AT_ONCE * self.settings.current.profile.merge_max_facts, MOST_AT_ONCE)
        facts = FactBook.facts(connection, key, at_once)
        of_person = [key.user_id] if key.user_id else []
        people = NameBook.people(connection, key.scope, of_person)
        if not people and key.entity_type == "user" and self.settings.current.sharing == "shared":
            people = [Person(key.user_id, name) for name in NameBook.names_of(connection, of_person)[:1]]
        known = self.group_names.get(key.scope) if is_group else next((one.name for one in people), "")
        name = clean_name(known or "") or (old.name if old else "")
        sources = Page(old, is_group=is_group).sources.values()
        told = FactBook.told(connection, key, {one for ids in sources for one in ids})
        standing = {one.event_id: one for one in told}
        lines = filter(None, ([standing[one] for one in ids if one in standing] for ids in sources))
        person = Person(key.group_id if is_group else key.user_id, name)
        return old, MergeInput(person, facts, [*lines], people if is_group else (), is_group=is_group)

    def _take(
        self, connection: Snapshot, key: ProfileKey, old: Profile | None, given: MergeInput, merged: MergedLines
    ) -> None:
        """Put merged lines into a profile."""
        page, settings = Page(old, is_group=given.is_group), self.settings.current
        page.take(merged)
        known = (*chain.from_iterable(given.told), *given.new)
        days = {one.event_id: one.happened_at.astimezone(settings.zone).date().isoformat() for one in known}
        page.shrink(settings.profile.max_chars, days)
        before = old or Profile(key, "", (), "", self.clock.now().astimezone(settings.zone))
        self._keep(connection, before, page, given.person.name, given.new)

    def _withdraw(self, connection: Snapshot, key: ProfileKey, old: Profile | None, given: MergeInput) -> None:
        """Remove what withdrawn facts said: lines by their events, and lines without events by their words."""
        gone = [fact for fact in given.new if fact.is_withdrawn]
        if old is None:
            return FactBook.mark_merged(connection, key, gone)
        profile = old.without_events({fact.event_id for fact in gone})
        page = Page(profile, is_group=given.is_group)
        but = (*(fact.text for fact in given.new if not fact.is_withdrawn), old.name, key.group_id, key.user_id)
        for claim in (WithdrawnClaim(fact.text, tuple(filter(None, but))) for fact in gone):
            page.untell(claim.is_told_by)
        standing = {one for ids in profile.sources.values() for one in ids}
        again = {one for ids in old.sources.values() for one in ids} - standing
        return self._keep(connection, old, page, "", gone, again)

    def _keep(
        self,
        connection: Snapshot,
        old: Profile,
        page: Page,
        name: str,
        facts: Sequence[Fact],
        again: Collection[str] = (),
    ) -> None:
        """Write the file of a profile if its text changed, copy it to the index, and record its facts."""
        profile = replace(old, tags=page.tags, summary=page.text, sources=page.sources)
        if profile != old:
            gone = {fact.event_id for fact in facts if fact.is_withdrawn}
            known = (*(fact.event_id for fact in reversed(facts)), old.source_event_id)  # the newest event that stands
            source = next((one for one in known if one not in gone), "")
            now = self.clock.now()
            stored = self.store.put(replace(profile, name=name or old.name, updated_at=now, source_event_id=source))
            ProfileIndex.take_in(connection, old.key, lambda _: stored)
        FactBook.mark_merged(connection, old.key, facts, again)


log = logging.getLogger(__name__)
NAME = "historian_profile_merge"
TRIES = 3  # merges in a row that somebody who writes the file may spoil: each costs a call
POLL = 0.25  # seconds between two readings of the clock, since setting it raises no event
LOOKS = 60.0  # seconds between two checks of the ledger without a nudge
LOOKS_WHILE_LEARNING = 1.0  # seconds between two checks while jobs wait: facts wait ten seconds then, if they are few


class ProfileMerging:
    """Merges entities in the background; an interrupted merge is repeated, because facts wait for the write.

    An entity is due with ``merge_max_facts`` facts or after ``merge_delay_seconds`` by the clock, sooner if it has no
    profile yet. A failed merge is repeated after a growing pause, which is stored in the ledger. While model or store
    is unavailable, no failure is counted, and the loop rests as after any failed round.
    """

    def __init__(self, entity: EntityMerge, *, is_learning: Callable[[], bool] = lambda: False) -> None:
        """Merge with ``entity``, one profile at a time; ``is_learning`` returns whether jobs still wait."""
        self._entity = entity
        self._is_learning = is_learning
        self.trouble = ErrorState(NAME)
        self.loop = BackgroundLoop(NAME, self._round)
        self._merges: set[asyncio.Task[None]] = set()
        self._overtaken = Counter[ProfileKey]()  # how often in a row somebody else wrote the file meanwhile
        self._next_due: datetime | None = None
        self._looked_at = 0.0
        self._nudges = self._answered = 0  # a nudge counts as answered when what it told of has been read
        self._skips_waiting = False
        self._suspensions = 0
        self.paused = False

    @property
    def error_states(self) -> list[ErrorState]:
        """The error states of merges and of the loop."""
        return [self.trouble, self.loop.trouble]

    @property
    def is_idle(self) -> bool:
        """Whether no merge is running; facts may still wait."""
        return not self._merges

    def nudge(self) -> None:
        """Check for new facts soon."""
        self._nudges += 1
        self.loop.nudge()

    def wake_now(self) -> None:
        """Merge waiting facts at once, except in the pause after a failure; call it when no more facts are expected."""
        self._nudges += 1
        self._skips_waiting = True
        self.loop.wake_now()

    def has_waiting(self, connection: Snapshot) -> bool:
        """Return whether :meth:`waiting` has any; in the thread of the connection."""
        return any(not self._entity.is_left_out(one.key) for one in FactBook.waiting(connection))

    async def waiting(self) -> Sequence[PendingFacts]:
        """Return the profiles with waiting facts, including those being merged, except of people who opted out."""
        return [one for one in await self._entity.ledger.facts.waiting() if not self._entity.is_left_out(one.key)]

    async def state(self) -> MergeState:
        """Return counts and the latest error for the status."""
        waiting = await self.waiting()
        error = next((one.error for one in waiting if one.attempts and one.error), "")
        failing = sum(1 for one in waiting if one.attempts)
        return MergeState(len(waiting), sum(one.facts for one in waiting), failing, latest(self.error_states) or error)

    @asynccontextmanager
    async def suspended(self) -> AsyncGenerator[None, None]:
        """Run no merge during the ``with`` block; a merge that is writing its profile finishes the write first."""
        self._suspensions += 1
        try:
            await ended(self._merges)
            yield
        finally:
            self._suspensions -= 1
            self.nudge()

    async def _round(self) -> float:
        """Merge what is due, ``concurrency`` profiles at a time; return the seconds until the clock is read again."""
        clock, settings, passed = self._entity.clock, self._entity.settings.current, time.monotonic() - self._looked_at
        is_learning = self._is_learning()  # then jobs may bring more facts, and a nudge alone waits a second
        is_asked, nudges = self._nudges > self._answered, self._nudges
        is_nudged = is_asked and (self._skips_waiting or passed >= LOOKS_WHILE_LEARNING or not is_learning)
        is_due = self._next_due is not None and clock.now() >= self._next_due
        if self.paused or not (is_nudged or is_due or passed >= LOOKS):
            return POLL

        waiting, skips_waiting = await self.waiting(), self._skips_waiting
        self._looked_at, self._answered, now = time.monotonic(), nudges, clock.now()
        when = {
            one.key: due_at(one, settings.profile, now, skips_waiting=skips_waiting, is_learning=is_learning)
            for one in waiting
        }
        self._next_due = min((at for at in when.values() if at > now), default=None)
        if not any(one.attempts for one in waiting):
            self.trouble.end()
        due = [key for key, at in when.items() if at <= now and not self._suspensions]
        if not due:
            self._skips_waiting &= self._nudges > nudges
            return POLL
        room = asyncio.Semaphore(settings.historian.concurrency)
        merges = self._merges = {asyncio.create_task(self._merge(key, room), name="merge") for key in due}
        try:
            await asyncio.wait(merges)
        finally:
            await ended(merges)
            self._merges = set()
        self.nudge()
        if failure := next(filter(None, (one.exception() for one in merges if not one.cancelled())), None):
            raise failure
        return POLL

    async def _merge(self, key: ProfileKey, room: asyncio.Semaphore) -> None:
        """Merge a profile and record a failure, which does not count if it cannot be recorded."""
        async with room:
            if self.paused:
                return
            try:
                await self._entity.merge(key)
                self._overtaken.pop(key, None)
            except UnavailableError:
                raise
            except Exception as error:  # noqa: BLE001  # the loop runner: every error of a merge leads to a pause
                if isinstance(error, Overtaken):
                    self._overtaken[key] += 1
                    if self._overtaken[key] % TRIES:
                        return  # the next round, which follows at once, begins with the file as it is now
                # an unexpected error is told by its class only, because its text may quote a person
                said = described(error) if isinstance(error, CognitiveMemoryError) else type(error).__name__
                await self._entity.ledger.facts.fail(key, said, self._entity.clock.now())
                fields = log_fields("profile", place=Scope(key.agent, "group", key.group_id) if key.group_id else None)
                ids = " ".join(f"{of}={one}" for of, one in (("group", key.group_id), ("user", key.user_id)) if one)
                log.warning("historian_profile_merge %s %s: %s", key.entity_type, ids, said, extra=fields)
                self.trouble.tell(said, is_logged=True)
