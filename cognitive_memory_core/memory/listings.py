"""The paged lists for an operator: events, lines, places, people, profiles, and what recall missed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import date, datetime

from .. import sentences
from ..domain.event import Event, MissedEvent, corrected_id
from ..domain.figures import Spending
from ..domain.ids import checked_id, derived_id
from ..domain.job import Job
from ..domain.message import Message
from ..domain.people import Alias
from ..domain.profile import EntityType, Profile, ProfileKey
from ..domain.reading import (
    Answering,
    EventListing,
    LineListing,
    PersonEntry,
    PlaceEntry,
    PlaceListing,
    ProfileSource,
    ReadFilter,
)
from ..domain.scope import Scene, Scope
from ..domain.turn import Turn
from ..errors import UnknownEvent
from ..historian.pipeline import without_hidden_lines
from ..recall.recall import SearchResult
from .opened import Opened
from .reads import operators_agent

QUESTION = 400  # characters of a noted question
LONGEST = 4_000  # characters of a text that is searched for
MOST_MADE = 50  # events of a job
ALIKE = 1_000  # people whose name contains somebody's id, at most


class Listings:
    """Lists an agent's rows for its operator, redacted as every other read is; any other scene raises NotPermitted."""

    def __init__(self, opened: Opened) -> None:
        """Create over what is open."""
        self.consent, self.names, self.clock, self.searching = opened.consent, opened.names, opened.clock, opened.recall
        ledger = opened.ledger
        self.rows, self.stored, self.log, self.quality = ledger.listings, ledger.events, ledger.log, ledger.quality
        self.buffer, self.budget, self.accounts = opened.buffer, opened.budget, ledger.housekeeping

    async def events(self, scene: Scene, listing: EventListing, limit: int, offset: int) -> list[Event]:
        """Return events, newest first, also retired ones if the listing asks for them."""
        agent = operators_agent(scene)
        found = await self.rows.events(agent, listing, limit, offset, without=self.consent.opted_out)
        return self.consent.shown_retired(scene, await self.names.of(found))

    async def lines(self, scene: Scene, listing: LineListing, limit: int, offset: int) -> list[Message]:
        """Return lines of the log, newest first."""
        await self.buffer.flush()
        found = await self.log.lines(operators_agent(scene), listing, limit, offset, without=self.consent.opted_out)
        return [one for line in found for one in self.consent.shown(_in_place(line.scene.scope), [line])]

    async def learned_from(self, scene: Scene, message_ids: Collection[str]) -> Mapping[tuple[str, str], str]:
        """Return the id of the active event that was made of each line, by the key of its place and its id."""
        return await self.rows.learned_from(operators_agent(scene), message_ids)

    async def said_at(self, scene: Scene, user_id: str, since: datetime) -> list[datetime]:
        """Return when what a person said happened; empty for a person who opted out."""
        hidden = user_id in self.consent.opted_out
        return [] if hidden else await self.rows.said_at(operators_agent(scene), user_id, since)

    async def answers(self, scene: Scene, place: Scope, newest: int, limit: int) -> list[Answering]:
        """Return who answers whom in the newest lines of a place, the most frequent first."""
        operators_agent(scene)
        found = await self.rows.answers(place, newest, limit)
        hide, hidden = self.consent.hidden, self.consent.opted_out
        return [
            replace(one, name=hide(one.name), answered_name=hide(one.answered_name))
            for one in found
            if not {one.user_id, one.answered_id} & hidden
        ]

    async def spent(self, scene: Scene, since: date) -> list[tuple[date, Spending]]:
        """Return what models cost by day and purpose since a day, oldest first."""
        operators_agent(scene)
        await self.budget.flush()
        return await self.accounts.spent(since)

    async def search(self, scene: Scene, text: str, listing: EventListing, limit: int) -> SearchResult:
        """Search the active events of a listing by words and by meaning, best first.

        Parts that were unavailable or too slow are named in ``degraded``. The search does not count as a recall.
        """
        agent, place = operators_agent(scene), listing.place
        if not self.consent.may_search(scene):
            return SearchResult()
        is_chat = place is not None and place.kind == "private"
        read_filter = ReadFilter(
            Scene.private(place.place_id, agent=agent) if place and is_chat else scene,
            listing.user_id,
            place.group_id if place else "",
            (listing.kind,) if listing.kind else (),
            listing.window,
            self.consent.opted_out,
        )
        found = await self.searching.search(read_filter, text[:LONGEST], top_k=limit)
        hits = self.consent.hits(read_filter, found.hits)
        return SearchResult(tuple(hit for hit in hits if place in (None, hit.event.scope)), found.degraded)

    async def event(self, scene: Scene, event_id: str) -> Event:
        """Return an event, active or retired; raises UnknownEvent, also if a person who opted out said it."""
        agent = operators_agent(scene)
        found = await self.stored.find(checked_id(event_id, "event_id"))
        shown = (
            self.consent.shown_retired(scene, await self.names.of([found])) if found and found.agent == agent else []
        )
        if not shown:
            raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
        return shown[0]

    async def present(self, scene: Scene, event_id: str) -> Event:
        """Return what stands for an event now: its last correction, else the event itself; either may be retired.

        Raises UnknownEvent if the agent has no event of this id.
        """
        event = await self.event(scene, event_id)
        wordings = await self.rows.wordings(event) if event.retired_at else []
        while newer := next((one for one in wordings if one.id == corrected_id(event.id, one.text)), None):
            event = newer
        return await self.event(scene, event.id)

    async def wordings(self, scene: Scene, event: Event) -> list[Event]:
        """Return the other wordings of an event, active or retired: the versions before and after its corrections."""
        operators_agent(scene)
        return self.consent.shown_retired(scene, await self.names.of(await self.rows.wordings(event)))

    async def talk(self, scene: Scene, event: Event, reach: int) -> list[Message]:
        """Return the log lines from which an event was made, with ``reach`` lines before and after each, oldest first.

        Empty if they are no longer in the log.
        """
        operators_agent(scene)
        scope, here = event.scope, _in_place(event.scope)
        lines = await self.log.find(scope, frozenset(event.message_ids)) if event.message_ids else []
        read_filter = ReadFilter(here, group_id=scope.group_id, without=self.consent.opted_out)
        return self.consent.shown(here, await self.log.around(lines, read_filter, reach) if lines else [])

    async def places(self, scene: Scene, listing: PlaceListing, limit: int, offset: int = 0) -> list[PlaceEntry]:
        """Return places, the one with the latest event or line first; not the private chats of people who opted out."""
        listing = replace(listing, without=listing.without | self.consent.opted_out)
        found = await self.rows.places(operators_agent(scene), listing, limit, offset)
        return [replace(one, name=self.consent.hidden(one.name)) for one in found]

    async def place_names(self, scene: Scene, places: Collection[Scope]) -> dict[Scope, str]:
        """Return the latest names of places; "" for one without a name, and for the chat of a person who opted out."""
        operators_agent(scene)
        found, hidden = await self.rows.place_names(places), self.consent.opted_out
        return {
            place: "" if place.kind == "private" and place.place_id in hidden else self.consent.hidden(name)
            for place, name in found.items()
        }

    async def people_names(self, scene: Scene, user_ids: Collection[str]) -> dict[str, str]:
        """Return the latest names of people; none of those who opted out."""
        found = await self.rows.people_names(operators_agent(scene), user_ids)
        return {user_id: name for user_id, name in found.items() if user_id not in self.consent.opted_out}

    async def replaced(self, scene: Scene, events: Collection[Event]) -> dict[str, Event]:
        """Return, by id, those of the events that no longer hold, each with the event that says so."""
        read_filter = ReadFilter(Scene.operator(operators_agent(scene)), without=self.consent.opted_out)
        newer = await self.stored.replacing([one.id for one in events], read_filter)
        at = {one.id: one.happened_at for one in events}
        return {one.replaces: one for one in newer if one.happened_at >= at[one.replaces]}

    async def people(self, scene: Scene, text: str, limit: int, offset: int) -> list[PersonEntry]:
        """Return people whose id or a name matches ``text``, with their opt-out and sharing, the last seen first."""
        found = await self.rows.people(operators_agent(scene), text, limit, offset)
        return [self._person(one) for one in found]

    async def person(self, scene: Scene, user_id: str) -> PersonEntry:
        """Return one person by id, also one of whom no name was ever seen."""
        found = await self.rows.people(operators_agent(scene), user_id, ALIKE)
        return self._person(next((one for one in found if one.user_id == user_id), PersonEntry(user_id)))

    async def seen_names(self, scene: Scene, user_id: str) -> list[Alias]:
        """Return the names that a person had, the last seen first; none of a person who opted out."""
        return [] if user_id in self.consent.opted_out else await self.rows.names(operators_agent(scene), user_id)

    async def profiles(
        self, scene: Scene, entity_type: EntityType | None, text: str, limit: int, offset: int
    ) -> list[Profile]:
        """Return profiles, the last updated first."""
        found = await self.rows.profiles(operators_agent(scene), entity_type, text, limit, offset)
        return [shown for one in found if (shown := self.consent.profile(scene, one))]

    async def sources(self, scene: Scene, key: ProfileKey, limit: int, offset: int) -> list[ProfileSource]:
        """Return the facts of a profile, the newest first."""
        if key.agent != operators_agent(scene) or not self.consent.admits_profile(scene, key):
            return []
        found = await self.rows.sources(key, limit, offset)
        return [replace(one, text=self.consent.hidden(one.text)) for one in found]

    async def note_missed(self, scene: Scene, asked_in: Scene, question: str, event_id: str) -> MissedEvent:
        """Store that a question should have found an event; the same case is stored only once.

        People who opted out are redacted in the question. Raises UnknownEvent.
        """
        event = await self.event(scene, event_id)
        place, said = asked_in.scope, self.consent.hidden(question[:QUESTION])
        case_id = derived_id("missed", place.key, asked_in.user_id, said, event.id)
        case = MissedEvent(case_id, place, asked_in.user_id, said, event.id, self.clock.now())
        await self.quality.note_missed(case)
        return case

    async def missed_events(self, scene: Scene, limit: int, offset: int) -> list[MissedEvent]:
        """Return the noted cases of failed recall, the latest first."""
        found = await self.quality.missed(operators_agent(scene), limit, offset, without=self.consent.opted_out)
        hide = self.consent.hidden
        return [replace(one, text=hide(one.text), wanted=hide(one.wanted)) for one in found]

    async def drop_missed(self, scene: Scene, case_id: str) -> None:
        """Delete a noted case of failed recall."""
        operators_agent(scene)
        await self.quality.drop_missed(checked_id(case_id, "case_id"))

    async def recalled(self, scene: Scene, event_id: str) -> tuple[int, datetime | None]:
        """Return how often an event was shown in a context or an answer, and when last; 0 and None if never."""
        operators_agent(scene)
        return await self.quality.recalled(event_id)

    async def outcome(self, scene: Scene, job_id: str) -> list[Event] | None:
        """Return the events that a finished job made, at most :data:`MOST_MADE`; None if it is not finished."""
        operators_agent(scene)
        ids = [derived_id("event", checked_id(job_id, "job_id"), index) for index in range(MOST_MADE)]
        done = await self.stored.done(job_id)
        return self.consent.shown_retired(scene, await self.names.of(await self.stored.fetch(ids))) if done else None

    async def told(self, scene: Scene, job: Job) -> tuple[list[Message], list[str]]:
        """Return the lines from which a job of the agent learns, and the words handed in with it; no hidden ones."""
        if job.scope.agent != operators_agent(scene):
            return [], []
        work = await self.log.database.read(without_hidden_lines, job.work)
        given = work.recent_messages if isinstance(work, Turn) else work.messages
        lines = self.consent.shown(_in_place(job.scope), [one for one in given if isinstance(one, Message)])
        words = [one for one in given if isinstance(one, str)]
        if isinstance(work, Turn) and (work.observations or not work.message_ids):
            words += [work.source_message, *work.observations]
        return lines, [self.consent.hidden(one) for one in words if one]

    def _person(self, entry: PersonEntry) -> PersonEntry:
        if entry.user_id in self.consent.opted_out:
            return PersonEntry(entry.user_id, has_opted_out=True)
        return replace(entry, is_sharing=self.consent.is_shared(entry.user_id))


def _in_place(scope: Scope) -> Scene:
    """Return the scene in which an operator reads the log of a place."""
    if scope.kind == "group":
        return Scene.operator(scope.agent, group_id=scope.place_id)
    return Scene.private(scope.place_id, agent=scope.agent)
