"""The reads of the façade under their one access rule, and the pins and revisions that people change there."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial

from . import sentences
from .domain.belief import Belief, BeliefHit, BeliefPage, Change, Listing
from .domain.catch_up import CatchUp, talks_of
from .domain.context import NOTHING, Context, Hit
from .domain.erasure import RESTORABLE, keys_of
from .domain.event import Event, MissedEvent, corrected_id
from .domain.figures import Spending
from .domain.ids import checked_id, derived_id
from .domain.listing import (
    Answering,
    EventListing,
    LineListing,
    PersonEntry,
    PlaceEntry,
    PlaceListing,
    ProfileSource,
    SeenName,
)
from .domain.message import Message
from .domain.note import Memo, Pin
from .domain.profile import EntityType, Profile, ProfileHit, ProfileKey, Revision, said_in
from .domain.read_filter import ReadFilter
from .domain.scope import Scene, Scope
from .domain.turn import shortened
from .errors import BadArgument, LimitReached, NotPermitted, UnknownEvent, UnknownPin
from .evolution.beliefs import group_of
from .opened import Opened
from .ports.clock import Clock
from .recall.recall import SearchResult
from .recall.trace import Explanation
from .settings import Settings
from .store.erasure.eraser import Eraser
from .store.notes import NoteBook
from .text.names import clean_text, one_line
from .text.statements.withdrawn_claims import without_retold

PIN_LENGTH = 500


class Pinboard:
    """Reads and writes the pins that a scene may see: the group's and the asker's own.

    An operator sees all pins of the scene's group; without a group an operator changes any pin of the agent by its id.
    """

    def __init__(self, notes: NoteBook, clock: Clock) -> None:
        """Create over a book of pins."""
        self._notes = notes
        self._clock = clock
        self._turn = asyncio.Lock()

    async def pins(self, scene: Scene) -> list[Pin]:
        """Return the pins that the scene may see, oldest first."""
        return [pin for pin in await self._notes.pins(scene.scope) if _visible(pin, scene)]

    async def pin(self, scene: Scene, text: str, *, for_group: bool, limit: int) -> Pin:
        """Store a pin; for an exact duplicate of the same owner, return the existing pin.

        Raises LimitReached if the owner already has ``limit`` pins here, BadArgument for a blank text.
        """
        text = _checked(text)
        owner_id = "" if for_group or scene.kind == "operator" else scene.user_id
        async with self._turn:
            own = [pin for pin in await self._notes.pins(scene.scope) if pin.owner_id == owner_id]
            standing = next((pin for pin in own if pin.text == text), None)
            if standing is not None:
                return standing
            if len(own) >= limit:
                raise LimitReached(sentences.caller.PINS_FULL.format(limit=limit))
            pin = Pin(secrets.token_hex(8), scene.scope, text, owner_id, self._clock.now(), scene.user_id)
            await self._notes.write_pin(pin)
        return pin

    async def update(self, scene: Scene, pin_id: str, text: str) -> Pin:
        """Replace the text of a pin that the scene may see; raises UnknownPin otherwise."""
        async with self._turn:
            pin = replace(await self._get(scene, pin_id), text=_checked(text), author_id=scene.user_id)
            await self._notes.write_pin(pin)
        return pin

    async def unpin(self, scene: Scene, pin_id: str) -> None:
        """Delete a pin; raises UnknownPin if the id is unknown or the scene (place and asker) may not see the pin."""
        async with self._turn:
            await self._notes.erase_pin((await self._get(scene, pin_id)).id)

    async def _get(self, scene: Scene, pin_id: str) -> Pin:
        found = await self._notes.find_pin(pin_id)
        if found is None or not _reachable(found, scene):
            raise UnknownPin(sentences.caller.UNKNOWN_PIN)
        return found


def _visible(pin: Pin, scene: Scene) -> bool:
    return scene.kind == "operator" or pin.owner_id in ("", scene.user_id)


def _reachable(pin: Pin, scene: Scene) -> bool:
    if scene.kind == "operator" and not scene.group_id:
        return pin.scope.agent == scene.agent
    return pin.scope == scene.scope and _visible(pin, scene)


def _checked(text: object) -> str:
    if not isinstance(text, str) or not clean_text(text).strip():
        raise BadArgument(sentences.caller.bad_value("text", text, "非空文本"))
    return shortened(clean_text(text).strip(), PIN_LENGTH)


class ProfileHistory:
    """Lists and restores past profiles."""

    def __init__(self, opened: Opened) -> None:
        """Create over what is open."""
        self._opened = opened
        self.store, self.reader, self.access = opened.profiles, opened.profile_reader, opened.access
        self.events = opened.ledger.eraser

    async def revisions(self, scene: Scene, key: ProfileKey) -> list[Revision]:
        """Return the past profiles of a group, or of the asker, newest first; raises NotPermitted.

        Sharing lets others read only the present profile, not past ones. An operator may read all.
        """
        await self._permit(scene, key)
        if key.user_id in self.access.hidden_people:
            return []
        remove_forgotten = await _remover(key, self.events)
        return [replace(one, profile=remove_forgotten(one.profile)) for one in await self.store.revisions(key)]

    async def restore(self, scene: Scene, key: ProfileKey, revision_id: str) -> Profile:
        """Restore a past profile as the present one; raises NotPermitted, UnknownRevision.

        What a forgotten event stated is removed from the restored profile; restoring the event brings it back.
        """
        await self._permit(scene, key)
        restored = await self.store.restore(
            key, revision_id, self._opened.clock.now(), await _remover(key, self.events)
        )
        return await self._taken_in(restored)

    async def edit(self, scene: Scene, key: ProfileKey, line: str, text: str) -> Profile:
        """Replace a line that rests on no event; a blank ``line`` adds one, a blank ``text`` removes it."""
        await self._permit(scene, key)
        present = await self.store.find(key) or Profile(key, "", (), "", self._opened.clock.now())
        lines, wanted = present.summary.split("\n"), one_line(text, PIN_LENGTH).lstrip("#-*+• \t")
        at = next((number for number, one in enumerate(lines) if line and said_in(one) == said_in(line)), None)
        if not line and not wanted:
            raise BadArgument(sentences.caller.bad_value("text", text, "非空文本"))
        if line and (at is None or said_in(line) in present.sources):
            raise BadArgument(sentences.caller.LINE_MOVED)
        if at is None:
            lines = [one for one in (*lines, f"- {wanted}" if wanted else "") if one or present.summary]
        else:
            before = lines[at][: lines[at].index(said_in(lines[at]))]
            lines[at : at + 1] = [before + wanted] if wanted else []
        edited = replace(present, summary="\n".join(lines), updated_at=self._opened.clock.now())
        return await self._taken_in(await self.store.write(edited))

    async def _taken_in(self, stored: Profile) -> Profile:
        await self._opened.ledger.profiles.take_in(stored.key, self.store.read)
        self.reader.forget()
        self._opened.on_restored()
        return self.access.redacted(stored)

    async def exported(self, profile: Profile) -> Profile:
        """Return a present or past profile for an export, without what forgotten events stated."""
        return await without_forgotten(profile, self.events)

    async def _permit(self, scene: Scene, key: ProfileKey) -> None:
        await self.reader.find(scene, key)
        if scene.kind != "operator" and key.user_id not in ("", scene.user_id):
            raise NotPermitted(sentences.caller.NOT_YOUR_PROFILE)


async def without_forgotten(profile: Profile, events: Eraser) -> Profile:
    """Return a present or past profile without what forgotten events stated."""
    return (await _remover(profile.key, events))(profile)


async def _remover(key: ProfileKey, events: Eraser) -> Callable[[Profile], Profile]:
    """Return a function that removes from this profile the lines of forgotten events, and what else retells them."""
    gone = [event for event in await events.unrepeatable() if key in keys_of(event)]
    return lambda profile: without_retold(profile, gone)


MOST_MISSED = 2_000  # lines that a catch-up counts
JUST_BACK = timedelta(minutes=10)  # lines of the asker this recent are said since they came back
MOMENT = timedelta(microseconds=1)
QUESTION = 400  # characters of a noted question
LONGEST = 4_000  # characters of a text that is searched for
ALIKE = 1_000  # people whose name contains somebody's id, at most


class Listings:
    """Lists an agent's rows for its operator, redacted as every other read is; any other scene raises NotPermitted."""

    def __init__(self, opened: Opened) -> None:
        """Create over what is open."""
        self.access, self.names, self.clock, self.searching = opened.access, opened.names, opened.clock, opened.recall
        ledger = opened.ledger
        self.rows, self.stored, self.log, self.missed = ledger.listings, ledger.events, ledger.log, ledger.missed
        self.quality, self.buffer, self.meter = ledger.quality, opened.buffer, opened.meter

    async def events(self, scene: Scene, listing: EventListing, limit: int, offset: int) -> list[Event]:
        """Return events, newest first, also retired ones if the listing asks for them."""
        agent = _agent(scene)
        found = await self.rows.events(agent, listing, limit, offset, without=self.access.hidden_people)
        return self._shown(scene, await self.names.of_events(found))

    async def lines(self, scene: Scene, listing: LineListing, limit: int, offset: int) -> list[Message]:
        """Return lines of the log, newest first."""
        await self.buffer.flush()
        found = await self.rows.lines(_agent(scene), listing, limit, offset, without=self.access.hidden_people)
        return [one for line in found for one in self.access.shown(_in_place(line.scene.scope), [line])]

    async def learned_from(self, scene: Scene, message_ids: Collection[str]) -> Mapping[tuple[str, str], str]:
        """Return the id of the active event that was made of each line, by the key of its place and its id."""
        return await self.rows.learned_from(_agent(scene), message_ids)

    async def said_at(self, scene: Scene, user_id: str, since: datetime) -> list[datetime]:
        """Return when what a person said happened; empty for a person who opted out."""
        hidden = user_id in self.access.hidden_people
        return [] if hidden else await self.rows.said_at(_agent(scene), user_id, since)

    async def answers(self, scene: Scene, place: Scope, newest: int, limit: int) -> list[Answering]:
        """Return who answers whom in the newest lines of a place, the most frequent first."""
        _agent(scene)
        found = await self.rows.answers(place, newest, limit)
        hide, hidden = self.access.hidden, self.access.hidden_people
        return [
            replace(one, name=hide(one.name), answered_name=hide(one.answered_name))
            for one in found
            if not {one.user_id, one.answered_id} & hidden
        ]

    async def spent(self, scene: Scene, since: date) -> list[tuple[date, Spending]]:
        """Return what models cost by day and purpose since a day, oldest first."""
        _agent(scene)
        await self.meter.flush()
        return await self.quality.spent(since)

    async def search(self, scene: Scene, text: str, listing: EventListing, limit: int) -> SearchResult:
        """Search the active events of a listing by words and by meaning, best first.

        Parts that were unavailable or too slow are named in ``degraded``. The search does not count as a recall.
        """
        agent, place = _agent(scene), listing.place
        if not self.access.may_search(scene):
            return SearchResult()
        is_chat = place is not None and place.kind == "private"
        read_filter = ReadFilter(
            Scene.private(place.place_id, agent=agent) if place and is_chat else scene,
            listing.user_id,
            place.group_id if place else "",
            (listing.kind,) if listing.kind else (),
            listing.window,
            self.access.hidden_people,
        )
        found = await self.searching.search(read_filter, text[:LONGEST], top_k=limit)
        hits = self.access.hits(read_filter, found.hits)
        return SearchResult(tuple(hit for hit in hits if place in (None, hit.event.scope)), found.degraded)

    async def event(self, scene: Scene, event_id: str) -> Event:
        """Return an event, active or retired; raises UnknownEvent, also if a person who opted out said it."""
        agent = _agent(scene)
        found = await self.stored.find(checked_id(event_id, "event_id"))
        shown = self._shown(scene, await self.names.of_events([found])) if found and found.agent == agent else []
        if not shown:
            raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
        return shown[0]

    async def present(self, scene: Scene, event_id: str) -> Event:
        """Return what stands for an event now: the event, or its last correction, active or retired."""
        event = await self.event(scene, event_id)
        wordings = await self.rows.wordings(event) if event.retired_at else []
        while newer := next((one for one in wordings if one.id == corrected_id(event.id, one.text)), None):
            event = newer
        return await self.event(scene, event.id)

    async def wordings(self, scene: Scene, event: Event) -> list[Event]:
        """Return the other wordings of an event, active or retired: the versions before and after its corrections."""
        _agent(scene)
        return self._shown(scene, await self.names.of_events(await self.rows.wordings(event)))

    async def talk(self, scene: Scene, event: Event, reach: int) -> list[Message]:
        """Return the log lines from which an event was made, with ``reach`` lines before and after each, oldest first.

        Empty if they are no longer in the log.
        """
        _agent(scene)
        scope, here = event.scope, _in_place(event.scope)
        lines = await self.log.find(scope, frozenset(event.message_ids)) if event.message_ids else []
        read_filter = ReadFilter(here, group_id=scope.group_id, without=self.access.hidden_people)
        passages = await self.log.around(lines, read_filter, reach) if lines else []
        return self.access.shown(here, [line for passage in passages for line in passage])

    async def places(self, scene: Scene, listing: PlaceListing, limit: int, offset: int = 0) -> list[PlaceEntry]:
        """Return places, the one with the latest event or line first; not the private chats of people who opted out."""
        listing = replace(listing, without=listing.without | self.access.hidden_people)
        found = await self.rows.places(_agent(scene), listing, limit, offset)
        return [replace(one, name=self.access.hidden(one.name)) for one in found]

    async def people(self, scene: Scene, text: str, limit: int, offset: int) -> list[PersonEntry]:
        """Return people whose id or a name matches ``text``, with their opt-out and sharing, the last seen first."""
        found = await self.rows.people(_agent(scene), text, limit, offset)
        return [self._person(one) for one in found]

    async def person(self, scene: Scene, user_id: str) -> PersonEntry:
        """Return one person by id, also one of whom no name was ever seen."""
        found = await self.rows.people(_agent(scene), user_id, ALIKE)
        return self._person(next((one for one in found if one.user_id == user_id), PersonEntry(user_id)))

    async def seen_names(self, scene: Scene, user_id: str) -> list[SeenName]:
        """Return the names that a person had, the last seen first; none of a person who opted out."""
        return [] if user_id in self.access.hidden_people else await self.rows.names(_agent(scene), user_id)

    async def profiles(
        self, scene: Scene, entity_type: EntityType | None, text: str, limit: int, offset: int
    ) -> list[Profile]:
        """Return profiles, the last updated first."""
        found = await self.rows.profiles(_agent(scene), entity_type, text, limit, offset)
        return [shown for one in found if (shown := self.access.profile(scene, one))]

    async def sources(self, scene: Scene, key: ProfileKey, limit: int, offset: int) -> list[ProfileSource]:
        """Return the facts of a profile, the newest first."""
        if key.agent != _agent(scene) or not self.access.admits_profile(scene, key):
            return []
        found = await self.rows.sources(key, limit, offset)
        return [replace(one, text=self.access.hidden(one.text)) for one in found]

    async def note_missed(self, scene: Scene, asked_in: Scene, question: str, event_id: str) -> MissedEvent:
        """Store that a question should have found an event; the same case is stored only once.

        People who opted out are redacted in the question. Raises UnknownEvent.
        """
        event = await self.event(scene, event_id)
        place, said = asked_in.scope, self.access.hidden(question[:QUESTION])
        case_id = derived_id("missed", place.key, asked_in.user_id, said, event.id)
        case = MissedEvent(case_id, place, asked_in.user_id, said, event.id, self.clock.now())
        await self.missed.note(case)
        return case

    async def missed_events(self, scene: Scene, limit: int, offset: int) -> list[MissedEvent]:
        """Return the noted cases of failed recall, the latest first."""
        found = await self.missed.cases(_agent(scene), limit, offset, without=self.access.hidden_people)
        hide = self.access.hidden
        return [replace(one, text=hide(one.text), wanted=hide(one.wanted)) for one in found]

    async def drop_missed(self, scene: Scene, case_id: str) -> None:
        """Delete a noted case of failed recall."""
        _agent(scene)
        await self.missed.drop(checked_id(case_id, "case_id"))

    async def recalled(self, scene: Scene, event_id: str) -> tuple[int, datetime | None]:
        """Return how often an event was shown in a context or an answer, and when last; 0 and None if never."""
        _agent(scene)
        return await self.missed.recalled(event_id)

    def _person(self, entry: PersonEntry) -> PersonEntry:
        if entry.user_id in self.access.hidden_people:
            return PersonEntry(entry.user_id, has_opted_out=True)
        return replace(entry, is_sharing=self.access.is_shared(entry.user_id))

    def _shown(self, scene: Scene, events: Sequence[Event]) -> list[Event]:
        """Return events redacted, also retired ones, which the usual access check would drop."""
        retired: dict[str, datetime] = {event.id: event.retired_at for event in events if event.retired_at}
        shown = self.access.shown(scene, [replace(event, retired_at=None) for event in events])
        return [replace(event, retired_at=retired.get(event.id)) for event in shown]


def _agent(scene: Scene) -> str:
    if scene.kind != "operator":
        raise NotPermitted(sentences.caller.OPERATORS_ONLY)
    return scene.agent


def _in_place(scope: Scope) -> Scene:
    """Return the scene in which an operator reads the log of a place."""
    if scope.kind == "group":
        return Scene.operator(scope.agent, group_id=scope.place_id)
    return Scene.private(scope.place_id, agent=scope.agent)


class Reads:
    """The reads of an open memory; a row that ``access`` does not admit is left out, whichever store returned it."""

    def __init__(self, opened: Opened) -> None:
        """Create over what is open."""
        self.access, self.names, self.recall, self.tally = opened.access, opened.names, opened.recall, opened.tally
        self.buffer, self.profile_reader, self.beliefs = opened.buffer, opened.profile_reader, opened.beliefs
        self.belief_search, self.event_ledger = opened.belief_search, opened.ledger.events
        self.eraser = opened.ledger.eraser
        self.pinboard, self.history = Pinboard(opened.ledger.notes, opened.clock), ProfileHistory(opened)
        self.listings = Listings(opened)

    async def context(self, scene: Scene, query: str, *, budget: int | None, shown: frozenset[str] | None) -> Context:
        """Build the context of a turn, only from memos if ``enabled=false``; the builder checks access to each item."""
        if not self.access.may_recall(scene):
            return NOTHING
        if not self.access.is_enabled:
            return await self.recall.memos_only(scene, budget=budget)
        began = time.monotonic()
        built = await self.recall.context(scene, query, budget=budget, shown=shown)
        self.tally.took("context", time.monotonic() - began)
        return built

    async def explained(
        self, scene: Scene, query: str, *, budget: int | None, settings: Settings | None
    ) -> Explanation:
        """Build the context of a turn and explain its choice of events; empty if the scene may search nothing."""
        if not self.access.may_search(scene):
            return Explanation(NOTHING)
        return await self.recall.explained(scene, query, budget=budget, settings=settings)

    async def hits(self, read_filter: ReadFilter, query: str, *, top_k: int) -> list[Hit]:
        """Search events, and the log if the kinds of the read filter include "message"."""
        if not self.access.may_search(read_filter.scene):
            return []
        read_filter = replace(read_filter, without=self.access.hidden_people)
        began = time.monotonic()
        found = await self.recall.search(read_filter, query, top_k=top_k)
        self.tally.took("search", time.monotonic() - began)
        hits = self.access.hits(read_filter, found.hits)
        self.tally.recalled([hit.event.id for hit in hits if hit.event.kind != "message"])
        return hits

    async def events(self, scene: Scene, limit: int, offset: int) -> list[Event]:
        """Return events, newest first."""
        if not self.access.may_recall(scene):
            return []
        read_filter = ReadFilter(scene, without=self.access.hidden_people)
        found = await self.event_ledger.recent(read_filter, limit, offset)
        return self.access.shown(scene, await self.names.of_events(found))

    async def forgotten(self, scene: Scene, limit: int, offset: int) -> list[Event]:
        """Return the asker's own events that the asker forgot and can restore, the latest forgotten first."""
        if not (scene.user_id and self.access.may_recall(scene)):
            return []
        since = self.beliefs.clock.now() - RESTORABLE
        found = await self.eraser.forgotten(scene.user_id, since)
        standing = [replace(event, retired_at=None) for event in found]  # the access check admits no retired ones
        shown = self.access.shown(scene, await self.names.of_events(standing))
        forgotten_at = {event.id: event.retired_at for event in found}
        return [replace(event, retired_at=forgotten_at[event.id]) for event in shown[offset : offset + limit]]

    async def event(self, scene: Scene, event_id: str) -> Event:
        """Return an active event that the scene may see; raises UnknownEvent."""
        found = await self.stored_event(scene, event_id)
        if found.retired_at is None and self.access.may_recall(scene):
            shown = self.access.shown(scene, await self.names.of_events([found]))
            if shown:
                return shown[0]
        raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)

    async def stored_event(self, scene: Scene, event_id: str) -> Event:
        """Return an event, active or retired, for a change of it; raises UnknownEvent if the scene may not read it.

        Its text is unredacted. The switch of the place is ignored, so that events can be forgotten everywhere.
        """
        event = await self.event_ledger.find(event_id)
        if event is None or not event.readable_by(scene):
            raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
        return event

    async def recent_messages(self, scene: Scene, limit: int, *, until: datetime | None) -> list[Message]:
        """Return the newest messages of the place, oldest first."""
        if not self.access.may_recall(scene):
            return []
        hidden = self.access.hidden_people
        found = await self.buffer.recent(scene.scope, limit, before=until, without=hidden)
        return self.access.shown(scene, await self.names.of_messages(scene.scope, found))

    async def catch_up(self, scene: Scene, since: datetime | None) -> CatchUp:
        """Return what was said in the place after ``since``; None: since the asker left, or from the first line."""
        now = self.beliefs.clock.now()
        lines = await self.recent_messages(scene, MOST_MISSED, until=None)
        own = [line.sent_at for line in lines if line.sender_id == scene.user_id]
        if since is None:
            earlier = [at for at in own if at < now - JUST_BACK]
            since = max(earlier) if earlier else lines[0].sent_at - MOMENT if lines else now
        missed = [line for line in lines if line.sent_at > since]
        read_filter = ReadFilter(scene, without=self.access.hidden_people)
        made = await self.event_ledger.made_of([(scene.scope, line.id) for line in missed], read_filter)
        events = self.access.shown(scene, await self.names.of_events(made))
        is_cut = len(lines) == MOST_MISSED and lines[0].sent_at > since
        return CatchUp(since, talks_of(missed, events), is_cut)

    async def find_messages(self, scene: Scene, message_ids: Collection[str]) -> list[Message]:
        """Return messages of the place by id, oldest first."""
        if not self.access.may_find(scene):
            return []
        found = await self.buffer.find(scene.scope, message_ids)
        return self.access.shown(scene, await self.names.of_messages(scene.scope, found))

    async def memos(self, scene: Scene, limit: int) -> list[Memo]:
        """Return the newest memos of the place, newest last."""
        if not self.access.may_recall(scene):
            return []
        return self.access.shown(scene, await self.recall.memos(scene.scope, limit))

    async def profile(self, scene: Scene, entity_type: EntityType, entity_id: str) -> Profile | None:
        """Return one profile; raises NotPermitted for one that the scene may not read."""
        if not self.access.may_search(scene):
            return None
        return self.access.profile(scene, await self.profile_reader.asked(scene, entity_type, entity_id))

    async def profiles(
        self, scene: Scene, query: str, *, entity_type: EntityType | None, top_k: int
    ) -> list[ProfileHit]:
        """Search profiles, best first."""
        if not self.access.may_search(scene):
            return []
        found = await self.profile_reader.search(scene, query, entity_type=entity_type, top_k=top_k)
        return self.access.profile_hits(scene, found)

    async def revisions(self, scene: Scene, key: ProfileKey) -> list[Revision]:
        """Return the past profiles of the asker or of the group, newest first."""
        if not self.access.may_search(scene):
            return []
        return self.access.revisions(scene, key, await self.history.revisions(scene, key))

    async def pins(self, scene: Scene) -> list[Pin]:
        """Return pins, oldest first, whatever the place's switch, because people need the list to remove pins."""
        return self.access.shown(scene, await self.pinboard.pins(scene))

    async def belief_page(self, scene: Scene, status: Listing, limit: int, offset: int) -> BeliefPage:
        """Return current beliefs of the group, strongest first."""
        scope = group_of(scene)
        if not self.access.may_recall(scene):
            return BeliefPage((), 0)
        page = await self.beliefs.beliefs.page(scope, status, limit, offset)
        return BeliefPage(tuple(await _shown(self, scope, page.beliefs)), page.total)

    async def belief_hits(self, scene: Scene, query: str, *, limit: int, threshold: float) -> list[BeliefHit]:
        """Search the active beliefs of the group, best first."""
        scope = group_of(scene)
        if not self.access.may_search(scene):
            return []
        worded = partial(self.access.belief, scope)
        hits = await self.belief_search.find(scope, query, limit=limit, threshold=threshold, worded=worded)
        named = await _shown(self, scope, [hit.belief for hit in hits])
        return [replace(hit, belief=belief) for hit, belief in zip(hits, named, strict=False)]

    async def belief_history(self, scene: Scene, belief_id: str) -> list[Belief]:
        """Return all versions of a belief that the scene may see, oldest first; raises UnknownBelief."""
        if not self.access.may_recall(scene):
            return []
        stored = await self.beliefs.stored(scene, belief_id)
        return await _shown(self, stored.scope, await self.beliefs.beliefs.history(stored.chain_id))

    async def belief_changes(self, scene: Scene, days: int) -> list[Change]:
        """Return the change log of the group's beliefs for the last ``days``, oldest first."""
        scope = group_of(scene)
        if not self.access.may_recall(scene):
            return []
        since = self.beliefs.clock.now() - timedelta(days=days)
        found = await self.beliefs.beliefs.changes(scope, since)
        return [shown for change in found if (shown := self.access.change(scope, change))]


async def _shown(reads: Reads, scope: Scope, beliefs: Sequence[Belief]) -> list[Belief]:
    named = await reads.names.of_beliefs(scope, beliefs)
    return [shown for belief in named if (shown := reads.access.belief(scope, belief))]
