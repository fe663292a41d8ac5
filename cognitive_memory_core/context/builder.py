"""Builds the context of a turn: reads all parts concurrently and leaves out those that are unavailable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .. import sentences
from ..cancellation import seen
from ..domain.context import Context, Section
from ..domain.event import Event
from ..domain.note import Memo, Pin
from ..domain.people import Person
from ..domain.profile import Profile
from ..domain.read_filter import ReadFilter
from ..domain.scope import Scene, Scope
from ..ports.tally import Tally, Untallied
from ..ports.words import LineKey
from ..read_access import ReadAccess
from ..recall.belief_search import BeliefSearch, TurnBeliefs
from ..recall.current_names import NO_PLACES, CurrentNames, KnownPlaces
from ..recall.deadlines import at_once, finished
from ..recall.naming import MOST_PEOPLE, NOBODY, Names
from ..recall.profile_reader import ProfileReader, TurnProfiles
from ..recall.query import Query
from ..recall.quotations import Quotation, Quotations, QuotationSearch, QuotedLines, key_of
from ..recall.ranking import followed, newer_first
from ..recall.retriever import BegunReads, Retriever
from ..recall.trace import NO_TRACE, LineCandidate, SearchTrace, candidates_of
from ..settings import Live, Settings
from ..store.notes import NoteBook
from ..text.lexical.tokens import token_count
from .explanation import Explanation
from .parts import PartRead, PartReader, TurnEvents
from .render import (
    belief_lines,
    block,
    event_lines,
    memo_lines,
    named_lines,
    pin_lines,
    profile_lines,
    quotation_lines,
    with_ids_once,
)
from .token_budget import Part, fitted, section_tokens

MOST_NAMED = 2  # people named by the question who are shown
SPARE_LINES = 8  # more lines of the log than are shown, in place of those that shown events were made of
FOLLOWED = 3  # best lines of the log that are shown with the lines after them
PATIENCE = 6.0  # seconds that a turn waits for any part; the retriever gives its own parts less
TOGETHER = 10  # candidates of an explanation that are redacted in one go
DEGRADED = ("embedding", "vectors", "lexical", "rerank", "profiles", "ledger", "disabled")


class ContextBuilder:
    """Builds the context of a turn; leaves out a part that fails or is late, and raises no error for it."""

    def __init__(  # noqa: PLR0913  # all that a context rests on, ports first
        self,
        retriever: Retriever,
        notes: NoteBook,
        waiting_memos: Callable[[Scope], list[Memo]],
        settings: Live[Settings],
        access: ReadAccess,
        *,
        profiles: ProfileReader | None = None,
        names: CurrentNames | None = None,
        quotations: Quotations | None = None,
        beliefs: BeliefSearch | None = None,
        tally: Tally | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """Build contexts from these parts; ``waiting_memos`` returns the memos of jobs that are still in the queue.

        ``access`` checks every item and redacts every line. Without ``profiles``, ``quotations`` or ``beliefs`` the
        context has no such section; without ``names`` texts keep the names with which they were written. A part that
        takes longer than ``patience`` seconds counts as unavailable. ``tally`` counts the events that are chosen.
        """
        self._quotations = quotations
        self._beliefs = beliefs
        self._tally = tally or Untallied()
        self._patience = patience
        self._access = access
        self._profiles = profiles
        self._names = names
        self._retriever = retriever
        self._notes = notes
        self._waiting_memos = waiting_memos
        self._settings = settings

    async def build(
        self, scene: Scene, text: str, *, budget: int | None = None, shown: Collection[str] | None = None
    ) -> Context:
        """Build the context for what was just said in a scene; ``budget`` is in tokens (None: the configured one).

        ``shown`` are ids of messages of the place that are not quoted; None: the message being answered.
        """
        return await self._built(scene, text, budget, self._settings.current, shown=shown)

    async def explained(
        self, scene: Scene, text: str, *, budget: int | None = None, settings: Settings | None = None
    ) -> Explanation:
        """Build the same context and return it with its search candidates; ``settings`` replace the present ones."""
        used = settings or self._settings.current
        trace = SearchTrace(used)
        context = await self._built(scene, text, budget, used, trace)
        read_filter = ReadFilter(scene, without=self._access.hidden_people)
        visible = [one for one in candidates_of(trace) if read_filter.admits(one.event)]
        shown: list[Event] = []
        for start in range(0, len(visible), TOGETHER):
            shown += self._access.shown(scene, [one.event for one in visible[start : start + TOGETHER]])
            await asyncio.sleep(0)  # redacting hundreds of texts would hold up the event loop
        named = await self._names.of_events(shown) if self._names else shown
        return Explanation(
            context,
            tuple(replace(one, event=event) for one, event in zip(visible, named, strict=True)),
            tuple(section_tokens(section) for section in context.sections),
            await self._explained_lines(scene, trace.lines),
        )

    async def _explained_lines(self, scene: Scene, found: Iterable[LineCandidate]) -> tuple[LineCandidate, ...]:
        visible: list[LineCandidate] = []
        for number, one in enumerate(sorted(found, key=lambda one: (one.rank == 0, one.rank, -one.score))):
            visible += [replace(one, line=line) for line in self._access.shown(scene, [one.line])]
            if number % TOGETHER == 0:
                await asyncio.sleep(0)  # as above
        return tuple(visible)

    async def _built(
        self,
        scene: Scene,
        text: str,
        budget: int | None,
        settings: Settings,
        trace: SearchTrace = NO_TRACE,
        shown: Collection[str] | None = None,
    ) -> Context:
        """Build a context; ``trace`` records the searches of events and of lines."""
        query = await self._retriever.asked(text, scene)  # before the time limit starts: the first call loads tables
        if query.says_little:  # a greeting asks for nothing
            query = replace(query, terms=())
        read_filter = ReadFilter(scene, without=self._access.hidden_people)
        embedding = self._retriever.embedding(query, settings, settings.query.auto_top_k)
        if embedding is not None:
            await at_once(embedding)  # the search by meaning then shares the trip of the other reads
        # the lines are read once, for two parts
        said = asyncio.ensure_future(self._lines_of(read_filter, query, settings, trace, shown))
        said.add_done_callback(seen)
        parts = [
            self._pins(scene),
            self._profiles_of(scene, query),
            self._beliefs_of(scene, text, query),
            self._events(read_filter, query, settings, BegunReads(embedding, said), trace),
            self._quoted(read_filter.scene, query, settings, said),
            self._recent_memos(scene, settings),
        ]
        try:
            found = _without_sources(await self._read(parts), settings.query.auto_messages_k, trace)
        finally:
            for begun in (said, embedding):
                if begun is not None:
                    begun.cancel()  # no effect when it is done
        return self._context(found, budget, settings, names=query.names)

    async def memos_only(self, scene: Scene, *, budget: int | None = None) -> Context:
        """Build the context for ``enabled=false``: recent memos only."""
        settings = self._settings.current
        found = await self._read([self._recent_memos(scene, settings)])
        return self._context(found, budget, settings, "disabled")

    async def memos(self, scope: Scope, limit: int) -> list[Memo]:
        """Return the newest memos of a place, newest last, including those of jobs still in the queue.

        Memos of people who opted out are left out and do not count towards the limit.
        """
        if limit <= 0:
            return []
        stored = await self._notes.memos(scope, limit, without=self._access.hidden_people)
        return _newest((*stored, *self._waiting(scope)), limit)

    def _waiting(self, scope: Scope) -> list[Memo]:
        hidden = self._access.hidden_people
        return [memo for memo in self._waiting_memos(scope) if memo.user_id not in hidden]

    async def _read(self, parts: Sequence[PartReader[Any]]) -> list[PartRead]:
        """Read the parts concurrently; return them in the given order, with fallbacks for late ones."""
        answers = [part.start() for part in parts]
        if waited := [answer for answer in answers if answer is not None]:
            await finished(self._patience, waited)
        found = (part.rendered(answer) for part, answer in zip(parts, answers, strict=True))
        return [one for several in found for one in several]

    def _pins(self, scene: Scene) -> PartReader[Sequence[Pin]]:
        def shown(pins: Iterable[Pin], *degraded: str) -> list[PartRead]:
            own = [pin for pin in pins if pin.owner_id in ("", scene.user_id)]  # an operator may see more than that
            hidden = self._access.hidden_people
            seen = [pin for pin in own if pin.owner_id not in hidden and self._access.admits(scene, pin)]
            section = Section(sentences.context.TITLE_PINS, pin_lines(seen))
            return [PartRead(Part("rest", section, newest_last=True), degraded)]

        read = partial(self._notes.pins, scene.scope) if _has_place(scene) else None
        return PartReader(read, (), shown, lambda: shown((), "ledger"))

    def _profiles_of(self, scene: Scene, query: Query) -> PartReader[TurnProfiles]:
        """Return a reader of the profiles of asker, people named and group; if one fails, "profiles" is degraded."""
        named = _named(query, scene, self._access.hidden_people)

        def shown(found: TurnProfiles) -> list[PartRead]:
            degraded = () if found.is_whole else ("profiles",)
            of_named = {one.id: self._access.profile(scene, found.named.get(one.id)) for one in named}
            others = tuple(
                line for one in named for line in named_lines(one, of_named[one.id], is_admin=one.id in found.admins)
            )
            asker = _profile_lines(self._access.profile(scene, found.person), scene.user_name, is_admin=scene.is_admin)
            person = Section(sentences.context.TITLE_PERSON, (*others, *asker))
            place = _profile_lines(self._access.profile(scene, found.group), scene.group_name)
            group = Section(sentences.context.TITLE_GROUP, place)
            return [PartRead(Part("profiles", section), degraded) for section in (person, group)]

        read = partial(self._profiles.of_turn, scene, [one.id for one in named]) if self._profiles else None
        return PartReader(read, TurnProfiles(), shown, lambda: shown(TurnProfiles(is_whole=False)))

    def _beliefs_of(self, scene: Scene, text: str, query: Query) -> PartReader[TurnBeliefs]:
        def shown(found: TurnBeliefs, *degraded: str) -> list[PartRead]:
            section = Section(
                sentences.context.TITLE_BELIEFS,
                belief_lines(
                    found.beliefs,
                    found.warnings,
                    self._settings.current.zone,
                    filter(self._access.present_filter(scene).admits, found.newer),
                ),
            )
            return [PartRead(Part("rest", section), degraded)]

        async def read(beliefs: BeliefSearch) -> TurnBeliefs:
            found = await beliefs.of_turn(scene.scope, text, partial(self._access.belief, scene.scope))
            ids = [event_id for belief in found.beliefs for event_id in belief.event_ids]
            newer = await self._retriever.replacing(ReadFilter(scene, without=self._access.hidden_people), ids)
            newer = [event for event in newer if event.scope == scene.scope]
            if not self._names:
                return replace(found, newer=newer)
            known = _known_people(scene, query)
            named = await self._names.of_beliefs(scene.scope, found.beliefs, known)
            return replace(found, beliefs=tuple(named), newer=await self._names.of_events(newer, known))

        reading = partial(read, self._beliefs) if self._beliefs and scene.group_id and query.terms else None
        return PartReader(reading, TurnBeliefs(), shown, lambda: shown(TurnBeliefs(), "ledger"))

    def _events(
        self,
        read_filter: ReadFilter,
        query: Query,
        settings: Settings,
        begun: BegunReads,
        trace: SearchTrace,
    ) -> PartReader[TurnEvents]:
        query_settings = settings.query

        def shown(read: TurnEvents) -> list[PartRead]:
            admits = self._access.present_filter(read_filter.scene).admits
            admitted, replacing = [*filter(admits, read.found)], [*filter(admits, read.newer)]
            events, replaced = followed(newer_first(admitted), replacing, query_settings.auto_top_k)
            lines = event_lines(events, settings.zone, replaced)
            part = Part("events", Section(sentences.context.TITLE_EVENTS, lines))
            if not trace.is_kept:
                self._tally.recalled([event.id for event in events])
            made_of = ((event.scope, source) for event in events for source in event.message_ids)
            return [PartRead(part, read.degraded, frozenset(made_of))]

        async def read() -> TurnEvents:
            replaced = self._retriever.replaced() if begun.embedding else None
            found = await self._retriever.search(
                read_filter,
                query,
                top_k=query_settings.auto_top_k,
                decay=query_settings.auto_decay,
                floor=query_settings.min_relevance,
                trace=trace,
                begun=begun,
            )
            events = [hit.event for hit in found.hits]
            every = [*events, *await self._retriever.replacing(read_filter, [event.id for event in events], replaced)]
            if self._names:
                every = await self._names.of_events(every, _known_people(read_filter.scene, query))
            return TurnEvents(every[: len(events)], every[len(events) :], found.degraded)

        return PartReader(read, TurnEvents(), shown, lambda: shown(TurnEvents(degraded=("vectors", "lexical"))))

    async def _lines_of(
        self,
        read_filter: ReadFilter,
        query: Query,
        settings: Settings,
        trace: SearchTrace,
        shown: Collection[str] | None,
    ) -> QuotedLines:
        """Find more lines of the log than will be shown, because sources of shown events are dropped later."""
        query_settings = settings.query
        if self._quotations is None or not query_settings.auto_messages_k:
            return QuotedLines()
        wanted = QuotationSearch(
            query_settings.auto_messages_k + SPARE_LINES,
            query_settings.min_relevance,
            query_settings.auto_decay,
            shown,
        )
        return await self._quotations.find(read_filter, query, wanted, trace)

    def _quoted(
        self, scene: Scene, query: Query, settings: Settings, quoted_lines: asyncio.Future[QuotedLines]
    ) -> PartReader[QuotedLines]:
        def quoting(chosen: Sequence[Quotation]) -> Section:
            lines = quotation_lines(chosen, query.names.people, settings.zone)
            return Section(sentences.context.TITLE_QUOTATIONS, lines)

        def shown(found: QuotedLines) -> list[PartRead]:
            quotations = tuple(self._admitted(scene, found.quotations))
            return [PartRead(Part("events", quoting(())), found.degraded, quotations=quotations, quoting=quoting)]

        return PartReader(lambda: quoted_lines, QuotedLines(), shown, lambda: shown(QuotedLines(degraded=("lexical",))))

    def _admitted(self, scene: Scene, quotations: Iterable[Quotation]) -> Iterator[Quotation]:
        """Yield the quotations that the scene may see, without following lines that it may not see."""
        admits = self._access.present_filter(scene).admits
        for one in quotations:
            if all(map(admits, one.lines)):
                yield one
            elif all(map(admits, replace(one, following=()).lines)):
                yield one.followed_by(lambda line: admits(line.as_event()))

    def _recent_memos(self, scene: Scene, settings: Settings) -> PartReader[Sequence[Memo]]:
        limit = settings.query.recent_end_summaries_inject_k

        def shown(memos: Iterable[Memo], *degraded: str) -> list[PartRead]:
            lines = memo_lines([memo for memo in memos if self._access.admits(scene, memo)], settings.zone)
            return [PartRead(Part("memos", Section(sentences.context.TITLE_MEMOS, lines), newest_last=True), degraded)]

        def of_jobs() -> list[Memo]:  # known without the ledger
            return self._waiting(scene.scope) if _has_place(scene) else []

        is_wanted = limit > 0 and _has_place(scene)
        without = self._access.hidden_people
        return PartReader(
            partial(self._notes.memos, scene.scope, limit, without=without) if is_wanted else None,
            (),
            lambda stored: shown(_newest((*stored, *of_jobs()), limit)),
            lambda: shown(_newest(of_jobs(), limit), "ledger"),
        )

    def _context(
        self,
        found: Sequence[PartRead],
        budget: int | None,
        settings: Settings,
        *degraded: str,
        names: Names = NOBODY,
    ) -> Context:
        parts = [self._without_the_hidden(one.part) for one in found]
        sections = fitted(parts, settings.query.context_token_budget if budget is None else budget)
        text = block(with_ids_once(sections, names) if names.are_known else sections)
        named = {*degraded, *(word for one in found for word in one.degraded)}
        return Context(text, sections, token_count(text), tuple(word for word in DEGRADED if word in named))

    def _without_the_hidden(self, part: Part) -> Part:
        if not (self._access.hidden_people and part.section.lines):
            return part
        lines = tuple(map(self._access.hidden, part.section.lines))
        return replace(part, section=replace(part.section, lines=lines))


def _profile_lines(profile: Profile | None, name: str, *, is_admin: bool = False) -> tuple[str, ...]:
    return profile_lines(profile, name, is_admin=is_admin) if profile else ()


def _named(query: Query, scene: Scene, without: Collection[str]) -> list[Person]:
    """Return the people known in the group whom a query names, except the asker and those in ``without``."""
    if scene.kind != "group":
        return []
    people = query.names.people
    others = sorted(one for one in query.people if one in people and one != scene.user_id and one not in without)
    return [people[one] for one in others[:MOST_NAMED]]


def _known_people(scene: Scene, query: Query) -> KnownPlaces:
    """Return the people of the scene's place that were read for the query; no place if the list may be incomplete."""
    names = query.names
    are_all = names.are_known and len(names.people) < MOST_PEOPLE
    return {scene.scope: names.people} if are_all and _has_place(scene) else NO_PLACES


def _without_sources(found: Sequence[PartRead], limit: int, trace: SearchTrace) -> list[PartRead]:
    """Keep the best ``limit`` quoted messages from which no shown event was made."""
    sources = frozenset[LineKey]().union(*(one.made_of for one in found))
    return [_without_shown_sources(one, sources, limit, trace) for one in found]


def _without_shown_sources(read: PartRead, sources: Collection[LineKey], limit: int, trace: SearchTrace) -> PartRead:
    if read.quoting is None:
        return read
    left = [one for one in read.quotations if one.key not in sources][:limit]
    kept = {one.key: rank for rank, one in enumerate(left, 1)}
    for at, one in enumerate(trace.lines):
        key = one.line.scope, one.line.id
        dropped = "shown_as_event" if key in sources else "limit"
        trace.lines[at] = replace(one, rank=kept.get(key, 0), cut=one.cut or (None if key in kept else dropped))
    chosen = _followed(left, {*kept, *sources})
    return replace(read, part=replace(read.part, section=read.quoting(chosen)))


def _followed(quotations: Sequence[Quotation], shown: Collection[LineKey]) -> list[Quotation]:
    """Keep following lines for the best quotations only; each line once, and none that is ``shown`` elsewhere."""
    seen = set(shown)
    chosen = [replace(one, following=()) for one in quotations]
    for at, one in enumerate(quotations[:FOLLOWED]):
        chosen[at] = one.followed_by(lambda line: key_of(line) not in seen)
        seen.update(map(key_of, chosen[at].following))
    return chosen


def _has_place(scene: Scene) -> bool:
    return scene.kind != "operator" or bool(scene.group_id)


def _newest(memos: Iterable[Memo], limit: int) -> list[Memo]:
    """Return the ``limit`` newest memos without duplicates, newest last."""
    once = {memo.id: memo for memo in memos}
    return sorted(once.values(), key=lambda memo: memo.written_at)[-limit:] if limit > 0 else []
