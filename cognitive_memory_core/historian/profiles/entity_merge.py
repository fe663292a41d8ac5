"""Updates one profile: reads it, merges the facts, writes it, and only then records the facts as merged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ...domain.event import Fact
from ...domain.people import Person
from ...domain.profile import Profile, ProfileKey
from ...domain.scope import Scope
from ...ports.clock import Clock
from ...ports.models import MergeInput, Merger
from ...profiles.files import FileProfiles, Overtaken
from ...settings import Live, Settings
from ...store.facts import FactBook
from ...store.names import NameBook
from ...store.profiles import ProfileIndex
from ...tasks import both, completed
from ...text.names import clean_name
from ...text.statements.withdrawn_claims import WithdrawnClaim
from .page import Page
from .profile_indexer import taken_in

AT_ONCE = 4  # a merge takes up to this many times merge_max_facts
MOST_AT_ONCE = 48  # facts of one merge; below the number that a prompt can show
TRIES = 3  # attempts if the profile is written by someone else meanwhile


@dataclass(frozen=True)
class EntityMerge:
    """Merges the facts of one entity into its profile; must not run twice at a time for the same entity.

    ``name_of`` returns the name of a group, or of a person whom the name book does not know there, or "".
    ``is_left_out`` returns whether the facts of a key must wait. ``on_written`` is called after every profile write.
    """

    merger: Merger
    store: FileProfiles
    index: ProfileIndex
    book: FactBook
    names: NameBook
    settings: Live[Settings]
    clock: Clock
    name_of: Callable[[ProfileKey], str]
    is_left_out: Callable[[ProfileKey], bool]
    on_written: Callable[[], None]

    async def merge(self, key: ProfileKey, on_last_call: Callable[[], None] = lambda: None) -> None:
        """Merge the waiting facts into their profile; errors of merger and stores are raised and lose no fact.

        Lines of withdrawn facts go first, without a model; what else these lines said is merged again. A file is
        written before its facts are recorded as merged, so that an interrupted merge is repeated. ``on_last_call`` is
        called after the last model call, before the profile is written.
        """
        facts, known = await both(self.book.facts(key, self._at_once), self._known_name(key))  # one trip reads both
        if any(fact.is_withdrawn for fact in facts) and not self.is_left_out(key):
            await self._repeated(partial(self._withdraw, key, facts))
            facts = await self.book.facts(key, self._at_once)
        new = [fact for fact in facts if not fact.is_withdrawn]
        if new and not self.is_left_out(key):
            await self._repeated(partial(self._merge, key, new, known, on_last_call))

    @property
    def _at_once(self) -> int:
        return min(AT_ONCE * self.settings.current.profile.merge_max_facts, MOST_AT_ONCE)

    async def _repeated(self, write: Callable[[], Awaitable[None]]) -> None:
        """Write a profile, again if somebody else wrote it meanwhile."""
        for tries_left in reversed(range(TRIES)):
            try:
                return await write()
            except Overtaken:
                if not tries_left:
                    raise
        return None

    async def _withdraw(self, key: ProfileKey, facts: Sequence[Fact]) -> None:
        """Remove what withdrawn facts said: lines by their events, and lines without events by their words."""
        gone, old = [fact for fact in facts if fact.is_withdrawn], await self.store.find(key)
        if old is None:
            return await self.book.mark_merged(key, gone)
        profile = old.without_events({fact.event_id for fact in gone})
        page = Page(profile, is_group=key.entity_type == "group")
        but = (*(fact.text for fact in facts if not fact.is_withdrawn), old.name, key.group_id, key.user_id)
        for claim in (WithdrawnClaim(fact.text, tuple(filter(None, but))) for fact in gone):
            page.untell(claim.is_told_by)
        standing = {one for ids in profile.sources.values() for one in ids}
        again = {one for ids in old.sources.values() for one in ids} - standing
        return await completed(self._keep(key, self._changed(old, page, "", gone), gone, again))

    async def _merge(
        self, key: ProfileKey, facts: Sequence[Fact], known: str, on_last_call: Callable[[], None]
    ) -> None:
        old, is_group, settings = await self.store.find(key), key.entity_type == "group", self.settings.current
        name = known or clean_name(self.name_of(key)) or (old.name if old else "")
        page, now = Page(old, is_group=is_group), self.clock.now().astimezone(settings.zone)
        of_lines = page.sources.values()
        standing = {one.event_id: one for one in await self.book.told(key, {one for ids in of_lines for one in ids})}
        told = [[standing[one] for one in ids if one in standing] for ids in of_lines]
        people = await self.names.people(Scope(key.agent, "group", key.group_id)) if is_group else ()
        person = Person(key.group_id if is_group else key.user_id, name)
        merged = await self.merger.merge(
            MergeInput(person, facts, [one for one in told if one], people, is_group=is_group), now
        )
        if self.is_left_out(key):  # the person may have opted out during the model call
            return
        page.take(merged)
        dated = (*standing.values(), *facts)
        days = {one.event_id: one.happened_at.astimezone(settings.zone).date().isoformat() for one in dated}
        page.shrink(settings.profile.max_chars, days)
        on_last_call()
        await completed(self._keep(key, self._changed(old or Profile(key, "", (), "", now), page, name, facts), facts))

    def _changed(self, old: Profile, page: Page, name: str, facts: Sequence[Fact]) -> Profile | None:
        """Return the profile with the text of a page; None if it has the same already."""
        profile = replace(old, tags=page.tags, summary=page.text, sources=page.sources)
        if profile == old:
            return None
        source = _newest_source(facts, old)
        return replace(profile, name=name or old.name, updated_at=self.clock.now(), source_event_id=source)

    async def _keep(
        self, key: ProfileKey, changed: Profile | None, facts: Sequence[Fact], again: Collection[str] = ()
    ) -> None:
        if changed:
            written = await self.store.write(changed)
            await taken_in(self.store, self.index, key, written)  # includes concurrent writes
            self.on_written()
        await self.book.mark_merged(key, facts, again)

    async def _known_name(self, key: ProfileKey) -> str:
        """Return a person's name from the name book, in the place of the profile; "" if none, or for a group."""
        if key.entity_type == "group":
            return ""
        is_member = key.entity_type == "member"
        place = Scope(key.agent, "group", key.group_id) if is_member else Scope(key.agent, "private", key.user_id)
        people = await self.names.people(place, [key.user_id])
        return next((clean_name(person.name) for person in people if person.id == key.user_id), "")


def _newest_source(facts: Sequence[Fact], old: Profile) -> str:
    """Return the id of the newest event in a profile that is not withdrawn; "" if there is none."""
    gone = {fact.event_id for fact in facts if fact.is_withdrawn}
    known = [old.source_event_id, *(fact.event_id for fact in facts)]
    return next((one for one in reversed(known) if one not in gone), "")
