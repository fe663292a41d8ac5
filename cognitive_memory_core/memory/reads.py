"""What the façade reads, and the pins and profiles that people change.

Each method checks access before it asks a store, and each row that a store returns. What only an open memory needs is
imported where it is used: a bot whose memory is absent loads little.
"""

from __future__ import annotations

import asyncio
import functools
import secrets
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from .. import sentences
from ..domain.answer import NOTHING, Context, Hit
from ..domain.event import Event, Quote, shortened
from ..domain.ids import checked_id
from ..domain.notes import Pin
from ..domain.profile import EntityType, Profile, ProfileHit, ProfileKey, Revision, said_in
from ..domain.scope import Scene
from ..durations import Durations, timed
from ..errors import BadArgument, LimitReached, NotPermitted, UnavailableError, UnknownEvent, UnknownPin
from ..settings.schema import Live, Settings
from ..text.cleaning import clean_text, one_line
from .arguments import checks_arguments

if TYPE_CHECKING:
    from ..domain.belief import Belief, BeliefHit, BeliefPage, Change
    from ..domain.catching_up import CatchUp
    from ..domain.message import Message
    from ..domain.notes import Memo
    from ..domain.scope import Scope
    from ..recall.ranking import Explanation
    from .opened import Opened

MAX_RESULTS = 200
PIN_LENGTH = 500
MAX_OFFSET = 1_000_000
MAX_QUERY = 4000
MOST_DAYS = 366
RECENT = 12  # messages, if no limit is given
MOST_MISSED = 2_000  # lines that a catch-up counts
JUST_BACK = timedelta(minutes=10)  # lines of the asker this recent are said since they came back
MOMENT = timedelta(microseconds=1)
Method = TypeVar("Method", bound=Callable[..., Coroutine[Any, Any, Any]])


def reading(nothing: Callable[[], object], gate: str = "") -> Callable[[Method], Method]:
    """Decorate a method so that it returns ``nothing()`` while no memory is open, or where the ``gate`` is shut.

    The gate is the name of a rule of :class:`Consent` for the scene, which comes first.
    """

    def decorated(method: Method) -> Method:
        @functools.wraps(method)
        async def call(self: Reads, *args: Any, **kwargs: Any) -> object:
            answering = method(self, *args, **kwargs)  # raises TypeError for arguments that the method does not take
            opened = self._open  # pyright: ignore[reportPrivateUsage]  # this function is a method of the class
            scene = args[0] if args else kwargs.get("scene")
            if opened is not None and (not gate or getattr(opened.consent, gate)(scene)):
                return await answering
            answering.close()
            return nothing()

        return cast("Method", call)

    return decorated


@checks_arguments
class Reads:
    """The reads of :class:`CognitiveMemory`, its pins and profiles; a row that the access check refuses is left out.

    A scene sees its group's pins and the asker's own, an operator all of the group. Without a group, an operator
    changes any pin of the agent by its id. Past profiles are shown without what forgotten events stated.
    """

    def __init__(self, reason: str) -> None:
        """Begin without an open memory, for this reason."""
        self._open: Opened | None = None  # None: it returns nothing, and stores nothing
        self._settings = Live(Settings(enabled=False))
        self._reason = reason
        self._durations = {one: Durations(one) for one in ("remember", "context", "search_events", "search_profiles")}
        self._pinning = asyncio.Lock()  # changes take turns, so that no limit is exceeded

    @property
    def _opened(self) -> Opened:
        if self._open is None:
            raise UnavailableError(self._reason)
        return self._open

    async def context(
        self, scene: Scene, query: str, *, budget: int | None = None, shown: Sequence[str] | None = None
    ) -> Context:
        """Build the context block for the model; parts whose component fails are left out and named in ``degraded``.

        ``shown`` are ids of messages of the place that the caller shows the model anyway; they are not quoted. None:
        only the message being answered is not: the asker's own of the last two minutes with the words of the query.
        """
        known, opened = None if shown is None else checked_ids(shown), self._open
        with timed(self._durations, "context"):
            if opened is None or not opened.consent.may_recall(scene):
                return NOTHING
            if not opened.consent.is_enabled:
                return await opened.recall.memos_only(scene, budget=budget)
            return await opened.recall.context(scene, query[:MAX_QUERY], budget=budget, shown=known)

    async def explain(
        self, scene: Scene, query: str, *, budget: int | None = None, settings: Settings | None = None
    ) -> Explanation:
        """Build the context as :meth:`context` does, and return it with every candidate of its search of events.

        ``settings`` replace the present settings for this call only. Nothing is stored.
        """
        from ..recall.ranking import Explanation  # noqa: PLC0415  # loaded with an open memory

        if self._open is None or not self._open.consent.may_search(scene):
            return Explanation(NOTHING)
        return await self._open.recall.explained(scene, query[:MAX_QUERY], budget=budget, settings=settings)

    async def search_events(
        self,
        scene: Scene,
        query: str,
        *,
        user_id: str | None = None,
        group_id: str | None = None,
        kinds: Sequence[str] = (),
        top_k: int | None = None,
        time_from: datetime | str | None = None,
        time_to: datetime | str | None = None,
    ) -> list[Hit]:
        """Search the events that the scene may read, best first; an empty ``kinds`` means every kind of event.

        ``kinds=("message",)`` searches the raw log; with further kinds, both are searched. A target outside the scene
        raises NotPermitted. Times are aware datetimes or ISO text, read in the configured zone if naive; a bare end
        date includes its day.
        Finds nothing if of most words of the query not a character was ever said there, nothing is near in meaning, and
        nobody of the place is named.
        """
        from ..consent import requested_filter  # noqa: PLC0415  # loaded with an open memory
        from ..text.time.time_limits import interval_of  # noqa: PLC0415  # loaded with an open memory

        window = interval_of(time_from, time_to, self._settings.current.zone)
        read_filter, opened = requested_filter(scene, user_id, group_id, kinds, window), self._open
        limit = max(counted(top_k, self._settings.current.query.tool_default_top_k), 1)
        with timed(self._durations, "search_events"):
            if opened is None or not opened.consent.may_search(scene):
                return []
            read_filter = replace(read_filter, without=opened.consent.opted_out)
            found = await opened.recall.search(read_filter, query[:MAX_QUERY], top_k=limit)
            hits = opened.consent.hits(read_filter, found.hits)
            opened.tally.recalled([hit.event.id for hit in hits if hit.event.kind != "message"])
            return hits

    @reading(list, "may_recall")
    async def events(self, scene: Scene, *, limit: int = 20, offset: int = 0) -> list[Event]:
        """Return the events that the scene may read, newest first."""
        opened, count, start = self._opened, counted(limit, 20), counted(offset, 0, most=MAX_OFFSET)
        found = await opened.ledger.events.recent(opened.consent.present_filter(scene), count, start)
        return opened.consent.shown(scene, await opened.names.of(found))

    @reading(list, "may_recall")
    async def forgotten_events(self, scene: Scene, *, limit: int = 20, offset: int = 0) -> list[Event]:
        """Return the asker's own events that the asker forgot and can restore, the latest forgotten first."""
        from ..domain.erasure import RESTORABLE  # noqa: PLC0415  # few ask

        opened, count, start = self._opened, counted(limit, 20), counted(offset, 0, most=MAX_OFFSET)
        if not scene.user_id:
            return []
        found = await opened.ledger.eraser.forgotten(scene.user_id, opened.clock.now() - RESTORABLE)
        return opened.consent.shown_retired(scene, await opened.names.of(found))[start : start + count]

    async def find_event(self, scene: Scene, event_id: str) -> Event:
        """Return an active event that the scene may read; raises UnknownEvent."""
        opened, shown = self._open, list[Event]()
        if opened is not None:
            found = await self._stored(scene, event_id)
            if found.retired_at is None and opened.consent.may_recall(scene):
                shown = opened.consent.shown(scene, await opened.names.of([found]))
        if not shown:
            raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
        return shown[0]

    async def _stored(self, scene: Scene, event_id: str) -> Event:
        """Return an event, active or retired, for a change of it; raises UnknownEvent if the scene may not read it.

        Its text is unredacted. The switch of the place is ignored, so that events can be forgotten everywhere.
        """
        event = await self._opened.ledger.events.find(event_id)
        if event is None or not event.readable_by(scene):
            raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
        return event

    @reading(list, "may_recall")
    async def recent_messages(
        self, scene: Scene, limit: int | None = None, *, until: datetime | None = None
    ) -> list[Message]:
        """Return the newest logged messages of the place, oldest first, without those of people who opted out."""
        opened, count = self._opened, counted(limit, RECENT)
        found = await opened.buffer.recent(scene.scope, count, before=until, without=opened.consent.opted_out)
        return opened.consent.shown(scene, await opened.names.of(found))

    async def catch_up(self, scene: Scene, *, since: datetime | str | None = None) -> CatchUp:
        """Return what was said in the place after ``since``, or after the asker's last line, by talk.

        ``since`` is an aware datetime or ISO text, read in the configured zone if naive. The asker's lines of the last
        ten minutes do not count as the last one. At most 2,000 lines are counted. Empty while the place is switched
        off or not read. Raises UnavailableError.
        """
        from ..domain.catching_up import CatchUp, talks_of  # noqa: PLC0415  # few ask
        from ..text.time.time_limits import instant_of  # noqa: PLC0415  # loaded with an open memory

        start = None if since is None else instant_of(since, self._settings.current.zone, "since")
        if (opened := self._open) is None:
            return CatchUp(start or datetime.now(timezone.utc))
        now, consent = opened.clock.now(), opened.consent
        is_open, hidden = consent.may_recall(scene), consent.opted_out
        found = await opened.buffer.recent(scene.scope, MOST_MISSED, before=None, without=hidden) if is_open else []
        lines = consent.shown(scene, await opened.names.of(found))
        if start is None:
            earlier = [one.sent_at for one in lines if one.sender_id == scene.user_id and one.sent_at < now - JUST_BACK]
            start = max(earlier) if earlier else lines[0].sent_at - MOMENT if lines else now
        missed = [line for line in lines if line.sent_at > start]
        made = await opened.ledger.events.made_of([line.key for line in missed], consent.present_filter(scene))
        events = consent.shown(scene, await opened.names.of(made))
        is_cut = len(lines) == MOST_MISSED and lines[0].sent_at > start
        return CatchUp(start, talks_of(missed, events), is_cut)

    @reading(list, "may_find")
    async def find_messages(self, scene: Scene, message_ids: Sequence[str]) -> list[Message]:
        """Return those of the given messages that are in the log of the scene's place, oldest first.

        Messages of people who opted out are left out. Empty for a place that is switched off. Raises UnavailableError
        if the log cannot be read.
        """
        opened = self._opened
        found = await opened.buffer.find(scene.scope, checked_ids(message_ids))
        return opened.consent.shown(scene, await opened.names.of(found))

    @reading(list, "may_recall")
    async def memos(self, scene: Scene, limit: int | None = None) -> list[Memo]:
        """Return the newest memos of the place, newest last, including those of jobs that are still queued."""
        opened, count = self._opened, counted(limit, self._settings.current.query.recent_end_summaries_inject_k)
        return opened.consent.shown(scene, await opened.recall.memos(scene.scope, count))

    async def get_profile(self, scene: Scene, entity_type: EntityType, entity_id: str) -> Profile | None:
        """Return a profile, or None if there is none.

        In a group, "user" means the person's profile as a member, or the person's own if profiles are shared. Raises
        NotPermitted for a profile that the scene may not read.
        """
        if not ProfileKey.asked(scene, entity_type, entity_id).readable_by(scene):
            raise NotPermitted(sentences.caller.FOREIGN_PROFILE)
        if (opened := self._open) is None or not opened.consent.may_search(scene):
            return None
        return opened.consent.profile(scene, await opened.profile_reader.asked(scene, entity_type, entity_id))

    @reading(dict, "may_search")
    async def profile_words(self, scene: Scene, profile: Profile) -> Mapping[str, Quote]:
        """Return, by line, the first words on which each line of a stored profile rests that a model worded."""
        from ..recall.beliefs_and_profiles import events_of_lines, words_of_lines  # noqa: PLC0415  # loaded with an open memory

        opened, told = self._opened, events_of_lines(profile)
        events = await opened.ledger.events.fetch([*{one for ids in told.values() for one in ids}]) if told else ()
        shown = {event.id: event for event in opened.consent.shown(scene, events)}
        return words_of_lines(profile, shown, opened.consent.opted_out)

    @reading(list, "may_search")
    async def search_profiles(
        self, scene: Scene, query: str, *, entity_type: EntityType | None = None, top_k: int | None = None
    ) -> list[ProfileHit]:
        """Search the profiles that the scene may read, best first."""
        opened, limit = self._opened, max(counted(top_k, self._settings.current.query.profile_top_k), 1)
        with timed(self._durations, "search_profiles"):
            said = query[:MAX_QUERY]
            found = await opened.profile_reader.search(scene, said, entity_type=entity_type, top_k=limit)
            return opened.consent.profile_hits(scene, found)

    async def beliefs(
        self,
        scene: Scene,
        *,
        status: Literal["active", "deprecated", "all"] = "active",
        limit: int = 20,
        offset: int = 0,
    ) -> BeliefPage:
        """Return the beliefs of the scene's group, strongest first: "active", "deprecated" or "all" of them."""
        from ..domain.belief import BeliefPage  # noqa: PLC0415  # loaded with an open memory
        from ..evolution.beliefs import group_of  # noqa: PLC0415  # loaded with an open memory

        opened, count, start = self._open, counted(limit, 20), counted(offset, 0, most=MAX_OFFSET)
        if opened is None or not opened.consent.may_recall(scene):
            return BeliefPage((), 0)
        scope = group_of(scene)
        page = await opened.beliefs.beliefs.page(scope, status, count, start)
        return BeliefPage(tuple(await self._worded(scope, page.beliefs)), page.total)

    @reading(list, "may_search")
    async def search_beliefs(
        self, scene: Scene, query: str, *, limit: int = 5, threshold: float = 0.7
    ) -> list[BeliefHit]:
        """Search the active beliefs of the scene's group; scores are in [0, 1], best first."""
        from ..evolution.beliefs import group_of  # noqa: PLC0415  # loaded with an open memory

        opened, scope, count = self._opened, group_of(scene), counted(limit, 5)
        hits = await opened.belief_search.find(scope, query[:MAX_QUERY], limit=count, threshold=threshold)
        named = await self._worded(scope, [hit.belief for hit in hits])
        return [replace(hit, belief=belief) for hit, belief in zip(hits, named, strict=False)]

    @reading(list, "may_recall")
    async def belief_history(self, scene: Scene, belief_id: str) -> list[Belief]:
        """Return all versions of a belief, oldest first, by the id of any version; raises UnknownBelief.

        An operator without a group finds a belief of any group of their agent, also in the next three methods.
        """
        book = self._opened.beliefs
        stored = await book.stored(scene, belief_id)
        return await self._worded(stored.scope, await book.beliefs.history(stored.chain_id))

    @reading(list, "may_recall")
    async def belief_changes(self, scene: Scene, *, days: int = 7) -> list[Change]:
        """Return the change log of the beliefs of the scene's group for the last ``days``, oldest first."""
        from ..evolution.beliefs import group_of  # noqa: PLC0415  # loaded with an open memory

        opened, scope, count = self._opened, group_of(scene), counted(days, 7, most=MOST_DAYS)
        found = await opened.beliefs.beliefs.changes(scope, opened.clock.now() - timedelta(days=count))
        return await self._quoted(scope, found)

    async def _worded(self, scope: Scope, beliefs: Sequence[Belief]) -> list[Belief]:
        """Return those of the beliefs that may be seen, with present names and their quotes."""
        from ..evolution.beliefs import quoting  # noqa: PLC0415  # loaded with an open memory

        opened = self._opened

        async def lines(scope: Scope, ids: Collection[str]) -> list[Message]:
            return await opened.names.of(await opened.buffer.find(scope, ids))

        named = await opened.names.of(beliefs)
        shown = [one for belief in named if (one := opened.consent.belief(scope, belief))]
        return await quoting(shown, scope, lines, opened.ledger.events, opened.consent)

    async def _quoted(self, scope: Scope, changes: Sequence[Change]) -> list[Change]:
        """Return those of the changes that may be seen, with the quotes of the versions before and after.

        What only people who opted out said is left out, and so is a change of nothing else.
        """
        opened = self._opened
        shown = [one for change in changes if (one := opened.consent.change(scope, change))]
        ids = {belief_id for one in shown for belief_id in (one.belief_id, one.old_id) if belief_id}
        stored = await opened.beliefs.beliefs.versions(ids) if ids else []
        told = {one.id: one.quotes for one in await self._worded(scope, stored)}
        hidden = {one.id for one in stored} - told.keys()
        quoted = (
            replace(
                one,
                old_statement=(old := "" if one.old_id in hidden else one.old_statement),
                new_statement=(new := "" if one.belief_id in hidden else one.new_statement),
                old_quotes=told.get(one.old_id or "", ()) if old else (),
                new_quotes=told.get(one.belief_id, ()) if new else (),
            )
            for one in shown
        )
        return [one for one in quoted if one.old_statement or one.new_statement]

    @reading(list)
    async def pins(self, scene: Scene) -> list[Pin]:
        """Return the pins of the scene's place, oldest first: the group's and the asker's own, for an operator all."""
        return self._opened.consent.shown(scene, await self._opened.ledger.notes.pins(scene.scope))

    async def pin(self, scene: Scene, text: str, *, for_group: bool = False) -> Pin:
        """Store a pin; return the existing one for an exact duplicate; raise LimitReached over ``pins.max``."""
        opened, limit, text = self._opened, self._settings.current.pins.max, self._pin_text(text)
        owner_id = "" if for_group or scene.kind == "operator" else scene.user_id
        async with self._pinning:
            own = [pin for pin in await opened.ledger.notes.pins(scene.scope) if pin.owner_id == owner_id]
            if standing := next((pin for pin in own if pin.text == text), None):
                return standing
            if len(own) >= limit:
                raise LimitReached(sentences.caller.PINS_FULL.format(limit=limit))
            pin = Pin(secrets.token_hex(8), scene.scope, text, owner_id, opened.clock.now(), scene.user_id)
            await opened.ledger.notes.write_pin(pin)
        return pin

    async def update_pin(self, scene: Scene, pin_id: str, text: str) -> Pin:
        """Replace a pin's text; raises UnknownPin. An operator without a group may change any pin of their agent."""
        text = self._pin_text(text)
        async with self._pinning:
            pin = replace(await self._get_pin(scene, pin_id), text=text, author_id=scene.user_id)
            await self._opened.ledger.notes.write_pin(pin)
        return pin

    async def unpin(self, scene: Scene, pin_id: str) -> None:
        """Delete a pin; raises UnknownPin if the id is unknown or the scene (place and asker) may not see the pin."""
        async with self._pinning:
            await self._opened.ledger.notes.erase_pin((await self._get_pin(scene, pin_id)).id)

    async def _get_pin(self, scene: Scene, pin_id: str) -> Pin:
        pin = await self._opened.ledger.notes.find_pin(pin_id)
        if pin and (self._opened.consent.admits(scene, pin) if scene.has_place else pin.scope.agent == scene.agent):
            return pin
        raise UnknownPin(sentences.caller.UNKNOWN_PIN)

    def _pin_text(self, text: str) -> str:
        wanted = clean_text(self._opened.consent.hidden(text)).strip()
        if not wanted:
            raise BadArgument(sentences.caller.bad_value("text", text, "非空文本"))
        return shortened(wanted, PIN_LENGTH)

    @reading(list, "may_search")
    async def profile_revisions(self, scene: Scene, key: ProfileKey) -> list[Revision]:
        """Return the past profiles of the asker or of the group, newest first; an operator may read all.

        Sharing lets others read only the present profile: for past ones they get NotPermitted.
        """
        from .forgetting import forgotten_in  # noqa: PLC0415  # loaded with an open memory

        opened = self._opened
        await self._permit(scene, key)
        without = await forgotten_in(key, opened.ledger.eraser)
        past = await opened.profiles.revisions(key)
        told = ((one, opened.consent.profile(scene, without(one.profile))) for one in past)
        return [replace(one, profile=profile) for one, profile in told if profile]

    async def restore_profile(self, scene: Scene, key: ProfileKey, revision_id: str) -> Profile:
        """Restore a past profile; the present one becomes a revision, so that this can be undone.

        People may restore their own profile, a group's scene the group's, and an operator any; others raise
        NotPermitted. Callers must check who in a group may do it, as with its pins. Raises UnknownRevision.
        """
        from .forgetting import forgotten_in  # noqa: PLC0415  # loaded with an open memory

        opened = self._opened
        await self._permit(scene, key)
        without = await forgotten_in(key, opened.ledger.eraser)
        return await self._taken_in(await opened.profiles.restore(key, revision_id, opened.clock.now(), without))

    async def edit_profile(self, scene: Scene, key: ProfileKey, line: str, text: str) -> Profile:
        """Replace a line of a profile that was written by hand, that is, rests on no event; return the new profile.

        A blank ``line`` adds one, a blank ``text`` removes it; the former profile becomes a revision. Later merges keep
        such lines. Permissions are those of :meth:`restore_profile`, but a group's is for an operator only. Raises
        BadArgument if no such line is there.
        """
        opened = self._opened
        await self._permit(scene, key)
        if scene.kind != "operator" and not key.user_id:  # unlike a past version, these are words that nobody said here
            raise NotPermitted(sentences.caller.NOT_YOUR_PROFILE)
        present = await opened.profiles.find(key) or Profile(key, "", (), "", opened.clock.now())
        lines, wanted = present.summary.split("\n"), one_line(opened.consent.hidden(text), PIN_LENGTH)
        wanted = wanted.lstrip("#-*+• \t")
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
        edited = replace(present, summary="\n".join(lines), updated_at=opened.clock.now())
        return await self._taken_in(await opened.profiles.write(edited))

    async def _permit(self, scene: Scene, key: ProfileKey) -> None:
        await self._opened.profile_reader.find(scene, key)  # raises for a profile that may not be read
        if scene.kind != "operator" and key.user_id not in ("", scene.user_id):
            raise NotPermitted(sentences.caller.NOT_YOUR_PROFILE)

    async def _taken_in(self, stored: Profile) -> Profile:
        await self._opened.ledger.profiles.take_in(stored.key, self._opened.profiles.read)
        self._opened.on_restored()
        return self._opened.consent.redacted(stored)


def counted(value: int | None, default: int, *, most: int = MAX_RESULTS) -> int:
    """Return a count clamped to 0 … ``most``; None means the default."""
    return min(default if value is None else max(value, 0), most)


def checked_ids(message_ids: Sequence[str]) -> frozenset[str]:
    """Return the ids; raise BadArgument for one that is none."""
    return frozenset(checked_id(message_id, "message_ids") for message_id in message_ids)


def operators_agent(scene: Scene) -> str:
    """Return the agent of an operator's scene; raise NotPermitted for any other scene."""
    if scene.kind != "operator":
        raise NotPermitted(sentences.caller.OPERATORS_ONLY)
    return scene.agent
