"""Updates one profile: reads it, merges the facts, writes it, and only then records the facts as merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ... import sentences
from ...cancellation import both, completed
from ...domain.fact import Fact
from ...domain.people import Person
from ...domain.profile import Profile, ProfileKey
from ...domain.scope import Scope
from ...errors import BadAnswer
from ...files.profiles import FileProfiles, Overtaken
from ...ports.clock import Clock
from ...ports.models import Merger, ProfileContent
from ...settings import Live, Settings
from ...store.facts import FactBook
from ...store.names import NameBook
from ...store.profile_index import ProfileIndex
from ...text.identity.name_cleaning import clean_name
from .profile_indexer import taken_in

AT_ONCE = 4  # a merge takes up to this many times merge_max_facts
MOST_AT_ONCE = 48  # facts of one merge; below the number that a prompt can show
TRIES = 3  # attempts if the profile is written by someone else meanwhile
NOTHING = ProfileContent((), "")


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

        The file is written before the facts are recorded as merged, so that an interrupted merge is repeated.
        ``on_last_call`` is called after the last model call, before the profile is written.
        """
        facts, known = await both(self.book.facts(key, self._at_once), self._known_name(key))  # one trip reads both
        if not facts or self.is_left_out(key):
            return
        for tries_left in reversed(range(TRIES)):
            try:
                await self._merge(key, facts, known, on_last_call)
            except Overtaken:
                if not tries_left:
                    raise
            else:
                return

    @property
    def _at_once(self) -> int:
        return min(AT_ONCE * self.settings.current.profile.merge_max_facts, MOST_AT_ONCE)

    async def _merge(
        self, key: ProfileKey, facts: Sequence[Fact], known: str, on_last_call: Callable[[], None]
    ) -> None:
        profile = await self.store.find(key)
        name = known or clean_name(self.name_of(key)) or (profile.name if profile else "")
        person = Person(key.group_id if key.entity_type == "group" else key.user_id, name)
        now = self.clock.now().astimezone(self.settings.current.zone)
        old = ProfileContent(profile.tags, profile.summary) if profile else NOTHING
        asked = [fact for fact in facts if not fact.is_withdrawn] if old == NOTHING else facts
        content = await self.merger.merge(person, profile, asked, now) if asked else old
        if self.is_left_out(key):  # the person may have opted out during the model call
            return
        if content == NOTHING != old and not any(fact.is_withdrawn for fact in facts):
            raise BadAnswer(sentences.models.PROFILE_STAYS)
        changed = None if content == old else self._merged_profile(key, person, content, facts, profile)
        on_last_call()
        await completed(self._keep(key, changed, facts))

    def _merged_profile(
        self, key: ProfileKey, person: Person, content: ProfileContent, facts: Sequence[Fact], old: Profile | None
    ) -> Profile:
        return Profile(
            key,
            person.name,
            content.tags,
            content.summary,
            updated_at=self.clock.now(),
            source_event_id=_newest_source(facts, old),
            version=old.version if old else "",
        )

    async def _keep(self, key: ProfileKey, changed: Profile | None, facts: Sequence[Fact]) -> None:
        if changed:
            written = await self.store.write(changed)
            await taken_in(self.store, self.index, key, written)  # includes concurrent writes
            self.on_written()
        await self.book.mark_merged(key, facts)

    async def _known_name(self, key: ProfileKey) -> str:
        """Return a person's name from the name book, in the place of the profile; "" if none, or for a group."""
        if key.entity_type == "group":
            return ""
        is_member = key.entity_type == "member"
        place = Scope(key.agent, "group", key.group_id) if is_member else Scope(key.agent, "private", key.user_id)
        people = await self.names.people(place, [key.user_id])
        return next((clean_name(person.name) for person in people if person.id == key.user_id), "")


def _newest_source(facts: Sequence[Fact], old: Profile | None) -> str:
    """Return the id of the newest event in a profile that is not withdrawn; "" if there is none."""
    gone = {fact.event_id for fact in facts if fact.is_withdrawn}
    known = [old.source_event_id if old else "", *(fact.event_id for fact in facts)]
    return next((one for one in reversed(known) if one not in gone), "")
