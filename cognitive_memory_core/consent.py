"""Who may record, recall and read what: permissions per person and place, cached in memory, and the check of reads.

The check is applied before a store is queried, and again to every row before it is returned. A caller that asks for
another group or person is rejected by :func:`requested_filter`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TypeVar

from . import sentences
from .domain.answer import Hit
from .domain.belief import Belief, Change, change_without_people, without_people
from .domain.consent import Incognito, PlaceSwitch, Switch
from .domain.erasure import Tombstones, reworded
from .domain.event import MEMORY_KINDS, Event, without_quotes
from .domain.ids import checked_id
from .domain.instants import Interval
from .domain.message import Message
from .domain.notes import Memo, Pin
from .domain.profile import Profile, ProfileHit, ProfileKey
from .domain.reading import ReadFilter
from .domain.scope import Scene, Scope
from .domain.turn import Turn, Work, without_lines
from .errors import BadArgument
from .settings.schema import Live, Settings
from .store.ledger import Ledger
from .text.redaction import Redaction, finder

RECALLING: frozenset[Switch] = frozenset({"on", "recall_only"})
KEPT_PERIODS = timedelta(days=366)  # a caller may submit lines a long time after they were said
Redactable = TypeVar("Redactable", Event, Message, Memo, Pin, Profile)
Listed = TypeVar("Listed", Event, Message, Memo, Pin)


class Consent:
    """Decides what may be stored and what a scene may read, and redacts people who opted out; without I/O.

    Every change is stored before it takes effect. A check of a read uses the request, the row itself and the present
    state, and does not trust the store: a row that the scene may not read is left out even if the store returns it.
    """

    def __init__(
        self,
        ledger: Ledger,
        settings: Live[Settings] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
    ) -> None:
        """Start without restrictions, until :meth:`load` reads those of a ledger, with its tombstones.

        ``settings`` are read anew at each call. ``now`` returns the current time, which tells whether a switch has
        ended.
        """
        self._ledger = ledger
        self._settings = settings or Live(Settings())
        self._now = now
        self._changing = asyncio.Lock()  # loading and changing must not overlap
        self._tombstones = Tombstones()
        self._periods: dict[tuple[Scope, str], list[Incognito]] = {}
        self._switches: dict[Scope, PlaceSwitch] = {}
        self.opted_out: frozenset[str] = frozenset()
        self.shared: frozenset[str] = frozenset()
        self._hide = Redaction()

    async def load(self) -> None:
        """Read switches, sharing, incognito periods, opt-outs and tombstones; never overlaps with a change."""
        async with self._changing:
            self._tombstones = await self._ledger.eraser.tombstones()
            self._switches = {one.scope: one for one in await self._ledger.consent.switches()}
            self.shared = await self._ledger.consent.shared()
            await self._load_periods()
            await self._leave_out(await self._ledger.consent.opted_out())

    def place_switch(self, scope: Scope) -> PlaceSwitch:
        """Return the switch of a place now, with its end; "on" without an end by default, and after its end."""
        found = self._switches.get(scope)
        return PlaceSwitch(scope) if found is None or found.is_over(self._now()) else found

    def place_switches(self) -> list[PlaceSwitch]:
        """Return the switches in force that are not "on", by place."""
        now = self._now()
        standing = (one for one in self._switches.values() if one.switch != "on" and not one.is_over(now))
        return sorted(standing, key=lambda one: one.scope.key)

    def may_record(self, scene: Scene) -> bool:
        """Return whether what this person says here may be stored."""
        return scene.user_id not in self.opted_out and self.is_recorded(scene.scope)

    def is_recorded(self, scope: Scope) -> bool:
        """Return whether anything said in a place may be stored."""
        return scope not in self._switches or self.place_switch(scope).records

    def is_incognito(self, scene: Scene, at: datetime) -> bool:
        """Return whether the scene's person was incognito in its place at the time ``at``."""
        if not self._periods or scene.kind == "operator":
            return False
        return any(one.covers(at) for one in self._periods.get((scene.scope, scene.user_id), ()))

    def may_recall(self, scene: Scene) -> bool:
        """Return whether memory may be retrieved here; always True for an operator."""
        return scene.kind == "operator" or self.place_switch(scene.scope).switch in RECALLING

    def is_erased(self, scene: Scene, at: datetime) -> bool:
        """Return whether this person or this place was erased at ``at`` or later."""
        return self._tombstones.covers(scene.scope, (scene.user_id,), at)

    def keeps_out(self, profile: Profile) -> bool:
        """Return whether an imported profile must be rejected: the person opted out, or a tombstone covers it."""
        return profile.key.user_id in self.opted_out or self._tombstones.covers_profile(profile)

    async def opt_out(self, user_id: str, at: datetime) -> None:
        """Stop recording a person everywhere, and redact the person in what others said."""
        async with self._changing:
            await self._ledger.consent.opt_out(user_id, at)
            await self._leave_out(self.opted_out | {user_id})

    async def opt_in(self, user_id: str) -> None:
        """Undo :meth:`opt_out`."""
        async with self._changing:
            await self._ledger.consent.opt_in(user_id, self._now())
            await self._leave_out(self.opted_out - {user_id})

    async def go_incognito(self, scene: Scene, at: datetime, ends_at: datetime) -> None:
        """Record nothing of the scene's person in its place from ``at`` to ``ends_at``.

        A period that is running at ``at`` ends then. If ``ends_at`` is not after ``at``, no other period begins.
        """
        async with self._changing:
            for running in self._periods.get((scene.scope, scene.user_id), ()):
                if running.covers(at):
                    await self._ledger.consent.keep_incognito(replace(running, ends_at=at))
            if ends_at > at:
                await self._ledger.consent.keep_incognito(Incognito(scene.scope, scene.user_id, at, ends_at))
            await self._ledger.consent.drop_incognito(at - KEPT_PERIODS)
            await self._load_periods()

    async def erase_ended(self, at: datetime) -> None:
        """Erase the periods of erased people and places that ended by ``at``; until its end a period is needed."""
        if not self._periods:
            return
        async with self._changing:
            ended = (one for periods in self._periods.values() for one in periods if one.ends_at <= at)
            over = [one for one in ended if self._tombstones.covers(one.scope, (one.user_id,), one.starts_at)]
            if over:
                await self._ledger.consent.erase_incognito(over, at)
                await self._load_periods()

    async def set_sharing(self, user_id: str, shared: bool, at: datetime) -> None:
        """Share a person's own profile with every place, or stop sharing it."""
        async with self._changing:
            await self._ledger.consent.set_sharing(user_id, shared=shared, at=at)
            self.shared = self.shared | {user_id} if shared else self.shared - {user_id}

    async def set_switch(self, switch: PlaceSwitch) -> None:
        """Store the switch of a place, then let it take effect."""
        async with self._changing:
            await self._ledger.consent.set_switch(switch, self._now())
            self._switches[switch.scope] = switch

    async def drop_ended_switches(self) -> None:
        """Delete the switches that have ended, because an import does not replace stored ones."""
        for switch in tuple(self._switches.values()):
            if switch.is_over(self._now()):
                await self.set_switch(PlaceSwitch(switch.scope))

    def hidden(self, text: str) -> str:
        """Return a text with people who opted out redacted, by every name they had."""
        return self._hide(text) if self.opted_out else text

    def redacted(self, item: Redactable) -> Redactable:
        """Return an item with people who opted out redacted in each of its texts; a profile keeps its own person."""
        if not self.opted_out:
            return item
        if isinstance(item, Profile):
            return replace(item.reworded(self.hidden), name=self.hidden(item.name))
        if isinstance(item, Event):
            left = without_quotes(item, lambda quote: quote.sender_id in self.opted_out)
            return reworded(left or replace(item, text=sentences.context.SOMEBODY, quotes=()), self._hide)
        text = self._hide(item.text)
        return item if text == item.text else replace(item, text=text)

    def admitted(self, work: Work) -> Work:
        """Return a turn or dialogue without lines that must not be stored, with people who opted out redacted.

        Left out are lines of people who opted out, erased lines, and lines said incognito.
        """
        if not (self.opted_out or self._tombstones.marks or self._periods):
            return work

        def is_kept(line: Message | str) -> bool:
            if isinstance(line, str):
                return True
            is_left_out = line.scene.user_id in self.opted_out or self.is_erased(line.scene, line.sent_at)
            return not is_left_out and not self.is_incognito(line.scene, line.sent_at)

        lines = work.recent_messages if isinstance(work, Turn) else work.messages
        scenes = [line.scene for line in lines if isinstance(line, Message)]
        used_names = [scene.user_name for scene in scenes if scene.user_id in self.opted_out]
        return without_lines(work, is_kept, self._hide.knowing(used_names) if used_names else self._hide)

    @property
    def is_enabled(self) -> bool:
        """Whether the memory is enabled; with ``enabled=false`` only lists, recent messages and memos can be read."""
        return self._settings.current.enabled

    def may_search(self, scene: Scene) -> bool:
        """Return whether events and profiles may be searched: the switch permits reads and the memory is enabled."""
        return self.is_enabled and self.may_recall(scene)

    def may_find(self, scene: Scene) -> bool:
        """Return whether messages may be looked up by id: the place permits recording or retrieval."""
        return self.may_recall(scene) or self.is_recorded(scene.scope)

    def admits(self, scene: Scene, item: Event | Message | Memo | Pin) -> bool:
        """Return whether a scene may see an item.

        Messages, memos and pins must be of the scene's place. A pin of a person who opted out stays visible to its
        owner, who may remove it.
        """
        if isinstance(item, Event):
            return self.present_filter(scene).admits(item)
        if isinstance(item, Message):
            return item.scene.scope == scene.scope and item.scene.user_id not in self.opted_out
        if isinstance(item, Memo):
            return item.scope == scene.scope and item.user_id not in self.opted_out
        return item.scope == scene.scope and (scene.kind == "operator" or item.owner_id in ("", scene.user_id))

    def present_filter(self, scene: Scene) -> ReadFilter:
        """Return the read filter of all events that a scene may see now, without those of people who opted out."""
        return ReadFilter(scene, without=self.opted_out)

    def shown(self, scene: Scene, items: Iterable[Listed]) -> list[Listed]:
        """Return the items of a list that a scene may see, redacted."""
        return [self.redacted(item) for item in items if self.admits(scene, item)]

    def shown_retired(self, scene: Scene, events: Sequence[Event]) -> list[Event]:
        """Return the events that a scene may see, redacted, retired ones as well."""
        retired_at = {event.id: event.retired_at for event in events}
        shown = self.shown(scene, [replace(event, retired_at=None) for event in events])
        return [replace(event, retired_at=retired_at[event.id]) for event in shown]

    def hits(self, read_filter: ReadFilter, hits: Iterable[Hit]) -> list[Hit]:
        """Return the hits that a read filter admits, redacted, without neighbouring lines that the scene may not see.

        A score above 1, to which boosts for age and people can raise it, is returned as 1; the order does not change.
        """
        read_filter = replace(read_filter, without=self.opted_out)
        around = replace(read_filter, user_id="", group_id="", kinds=(), window=None)
        redacted = self.redacted
        return [
            replace(
                hit,
                event=redacted(hit.event),
                score=min(hit.score, 1.0),
                neighbours=tuple(redacted(line) for line in hit.neighbours if around.admits_line(line)),
            )
            for hit in hits
            if read_filter.admits(hit.event)
        ]

    def is_shared(self, user_id: str) -> bool:
        """Return whether a person's own profile may be shown in the groups that they are known in."""
        return self._settings.current.sharing == "shared" or user_id in self.shared

    @property
    def sharing_people(self) -> frozenset[str] | None:
        """Ids of the people who share their own profile; None if everybody does."""
        return None if self._settings.current.sharing == "shared" else self.shared

    def may_read_profile(self, scene: Scene, key: ProfileKey) -> bool:
        """Return whether a scene may read a profile; a shared one may be read in groups, not in other private chats."""
        return key.readable_by(scene, shared=scene.kind == "group" and self.is_shared(key.user_id))

    def admits_profile(self, scene: Scene, key: ProfileKey) -> bool:
        """Return whether a scene may see a profile: it may read it, and the person has not opted out."""
        return self.may_read_profile(scene, key) and key.user_id not in self.opted_out

    def profile(self, scene: Scene, profile: Profile | None) -> Profile | None:
        """Return a profile, redacted; None if it is None or the scene may not see it."""
        if profile is None or not self.admits_profile(scene, profile.key):
            return None
        return self.redacted(profile)

    def profile_hits(self, scene: Scene, hits: Iterable[ProfileHit]) -> list[ProfileHit]:
        """Return the hits whose profile the scene may see, redacted."""
        shown = ((hit, self.profile(scene, hit.profile)) for hit in hits)
        return [replace(hit, profile=profile) for hit, profile in shown if profile is not None]

    def belief(self, scope: Scope, belief: Belief) -> Belief | None:
        """Return a belief, redacted; None if it is not of this place, or only people who opted out said it."""
        return without_people(belief, self.opted_out, self.hidden) if belief.scope == scope else None

    def change(self, scope: Scope, change: Change) -> Change | None:
        """Return an entry of the change log, redacted; None if it is not of this place."""
        return change_without_people(change, self.opted_out, self.hidden) if change.scope == scope else None

    async def _leave_out(self, user_ids: frozenset[str]) -> None:
        self.opted_out = user_ids
        self._hide = replace(self._hide, ids=finder(user_ids))  # takes effect even if reading the names fails
        names = await self._ledger.names.names_of(user_ids)
        shared = await self._ledger.names.shared(user_ids, with_words=True)
        known = await asyncio.to_thread(Redaction.of, user_ids, names, shared)  # slow for very many
        if self.opted_out == user_ids:
            self._hide = known

    async def _load_periods(self) -> None:
        periods: dict[tuple[Scope, str], list[Incognito]] = {}
        for one in await self._ledger.consent.incognito():
            periods.setdefault((one.scope, one.user_id), []).append(one)
        self._periods = periods


def requested_filter(
    scene: Scene, user_id: str | None, group_id: str | None, kinds: Sequence[str], window: Interval | None
) -> ReadFilter:
    """Return the read filter of a search that a caller narrows to a person, a group, kinds and a time.

    Raises NotPermitted for a group or person outside the scene, BadArgument for an invalid id or kind.
    """
    wanted = (kinds,) if isinstance(kinds, str) else tuple(kinds or ())
    for kind in wanted:
        if kind not in (*MEMORY_KINDS, "message"):
            raise BadArgument(sentences.caller.bad_value("kinds", kind, "、".join((*MEMORY_KINDS, "message"))))
    target_user = checked_id(user_id, "user_id") if user_id is not None else ""
    target_group = checked_id(group_id, "group_id") if group_id is not None else ""
    scene.check_target(user_id=target_user, group_id=target_group)
    return ReadFilter(scene, target_user, target_group, wanted, window)
