"""Reads profiles as a scene may see them: one by its key, those that match a query, and those of a turn."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from .. import sentences
from ..cancellation import seen
from ..domain.profile import EntityType, Profile, ProfileHit, ProfileKey
from ..domain.scope import Scene
from ..errors import NotPermitted, UnavailableError
from ..ports.models import Embedder, Vector
from ..profiles.files import FileProfiles
from ..read_access import ReadAccess
from ..settings import Live, Settings
from ..store.facts import FactBook
from ..store.profile_index import IndexedProfile, ProfileIndex
from ..text.identity.name_cleaning import clean_text
from ..text.lexical.terms import query_terms
from .current_names import CurrentNames
from .deadlines import AWAY, with_timeout
from .profile_ranking import ProfileQuestion, is_wanted, one_a_person, ranked
from .query import QUERY_LENGTH
from .retriever import PATIENCE
from .search_request import MAX_RESULTS

INLINE = 4  # profiles compared on the event loop in a few milliseconds; more are compared in a thread


@dataclass(frozen=True)
class ProfileReadLimits:
    """Limits of profile reads; times in seconds.

    A turn waits for a file at most ``patience`` seconds from the beginning of the read. A finished read is reused for
    ``lifetime`` seconds; at most ``held`` reads are cached.
    """

    patience: float = 1.0
    lifetime: float = 2.0
    held: int = 256


@dataclass(frozen=True)
class _ProfileRead:
    """A pending or finished read of a profile file; times are of the event loop's clock."""

    began_at: float
    task: asyncio.Task[Profile | None]

    def serves(self, now: float, lifetime: float) -> bool:
        """Return whether the read is pending, or recent and successful."""
        if not self.task.done():
            return True
        has_answer = not self.task.cancelled() and self.task.exception() is None
        return has_answer and now - self.began_at < lifetime


@dataclass(frozen=True)
class TurnProfiles:
    """The profiles of the speaker, the group and, by id, the people ``named`` in a turn.

    ``is_whole`` is False if one could not be read. ``admins`` are those of the named who run the group.
    """

    person: Profile | None = None
    group: Profile | None = None
    is_whole: bool = True
    named: Mapping[str, Profile] = field(default_factory=dict[str, Profile])
    admins: Collection[str] = ()


class ProfileReader:
    """Reads profiles and writes nothing.

    Left out are profiles of people who opted out, unreadable and empty ones, and those from which withdrawn facts have
    yet to be removed. Withdrawals are looked up before a profile is read, so that none read before a withdrawal is
    shown.
    """

    def __init__(
        self,
        store: FileProfiles,
        index: ProfileIndex,
        embedder: Embedder,
        access: ReadAccess,
        settings: Live[Settings],
        pace: ProfileReadLimits = ProfileReadLimits(),
        *,
        facts: FactBook,
        names: CurrentNames | None = None,
    ) -> None:
        """Create over a store and its index; ``facts`` lists the profiles from which facts have yet to be removed.

        ``names`` puts present names into a profile's text; without it the names remain as they were written.
        """
        self._facts = facts
        self._store = store
        self._index = index
        self._embedder = embedder
        self._access = access
        self._settings = settings
        self._pace = pace
        self._names = names
        self._reads: OrderedDict[ProfileKey, _ProfileRead] = OrderedDict()

    async def find(self, scene: Scene, key: ProfileKey) -> Profile | None:
        """Return a profile, redacted and with present names; None if there is none or the class leaves it out.

        Raises NotPermitted if the scene may not read it (even if there is none), UnavailableError if a store fails.
        """
        if not (self._access.may_read_profile(scene, key) and await self._is_known(scene, key)):
            raise NotPermitted(sentences.caller.FOREIGN_PROFILE)
        return await self._read(scene, key)

    async def asked(self, scene: Scene, entity_type: object, entity_id: object) -> Profile | None:
        """Return the profile for ``entity_type`` and ``entity_id`` as :meth:`find` does; also raises BadArgument.

        In a group, "user" means the person's shared profile if it is shared and the person is known there, otherwise
        the person's member profile.
        """
        key = ProfileKey.asked(scene, entity_type, entity_id)
        opened = self._opened(scene, key) if entity_type == "user" else None
        if opened and await self._is_known(scene, opened) and (found := await self._read(scene, opened)):
            return found
        return await self.find(scene, key)

    async def search(
        self, scene: Scene, query: str, *, entity_type: EntityType | None = None, top_k: int | None = None
    ) -> list[ProfileHit]:
        """Find profiles that match a query, best first, among those that the scene may read.

        Returns at most ``top_k`` (None: ``query.profile_top_k``; never above 200) of relevance ``query.min_relevance``
        and 0.15 or more. A query that is exactly a name or id puts that profile first, with relevance 1. In a group,
        "user" includes members. An unavailable embedder or index makes the result smaller and raises no error.
        """
        settings = self._settings.current
        said = clean_text(query[:QUERY_LENGTH]).strip()
        terms = tuple(query_terms(said))
        rows = [row for row in await self._readable(scene) if is_wanted(row, scene, entity_type)] if terms else []
        if not rows:
            return []
        vector = await self._vector(said)
        question = ProfileQuestion(said.casefold().lstrip("@"), terms, vector, self._embedder.calibration)
        rank = partial(ranked, rows, question, settings, self._access.redacted)
        hits = await asyncio.to_thread(rank) if len(rows) > INLINE else rank()
        wanted = settings.query.profile_top_k if top_k is None else top_k
        admitted = [hit for hit in hits if self._access.admits_profile(scene, hit.profile.key)]  # by present consent
        best = one_a_person(admitted, scene, entity_type)[: min(max(wanted, 0), MAX_RESULTS)]
        return [replace(hit, profile=await self._named(hit.profile)) for hit in best]

    async def of_turn(self, scene: Scene, named: Sequence[str] = ()) -> TurnProfiles:
        """Return the profiles of a scene's speaker, of its group and of the people named in a turn.

        None for an operator, for people who opted out, and for the group of a private chat. ``named`` are ids of people
        whose names are known in the group; they are ignored outside groups. A file is read at most once in 2 seconds.
        One that fails or takes longer than a second is left out; its read goes on for the next turn. Raises
        UnavailableError if withdrawn facts cannot be looked up.
        """
        keys_to_update, hidden_people = await self._facts.keys_to_update(), self._access.hidden_people
        is_left_out = scene.kind == "operator" or scene.user_id in hidden_people
        asker = [] if is_left_out else self._of_person(scene, scene.user_id)
        group = [ProfileKey.group(scene.group_id, scene.agent)] if scene.group_id else []
        others = [one for one in named if scene.kind == "group" and one not in {*hidden_people, scene.user_id}]
        keys = {one: self._of_person(scene, one) for one in others}
        for key in (*asker, *group, *chain.from_iterable(keys.values())):
            self._begun(key)  # all files are read concurrently
        person, has_person = await self._first(scene, asker, keys_to_update)
        place, has_place = await self._first(scene, group, keys_to_update)
        read = {one: await self._first(scene, of_one, keys_to_update) for one, of_one in keys.items()}
        found = {one: profile for one, (profile, _) in read.items() if profile}
        is_whole = has_person and has_place and all(ok for _, ok in read.values())
        admins = await self._names.book.admins(scene.scope, others) if self._names and others else ()
        return TurnProfiles(person, place, is_whole, found, admins)

    def _of_person(self, scene: Scene, user_id: str) -> list[ProfileKey]:
        """Return the keys under which a person's profile may be stored, preferred first."""
        key = ProfileKey.asked(scene, "user", user_id)
        opened = self._opened(scene, key)
        return [opened, key] if opened else [key]

    async def _first(
        self, scene: Scene, keys: Sequence[ProfileKey], hidden: Collection[ProfileKey]
    ) -> tuple[Profile | None, bool]:
        """Return the first of these profiles that exists and is not hidden; and False if a read failed."""
        for key in keys:
            try:
                if key not in hidden and (found := await self._recent(scene, key)):
                    return found, True
            except AWAY:
                return None, False
        return None, True

    def forget(self) -> None:
        """Drop cached reads; call this after profiles were written, restored or erased."""
        self._reads.clear()

    async def _is_known(self, scene: Scene, key: ProfileKey) -> bool:
        """Return whether the asking group knows a shared profile's person, because an id alone gives no access."""
        if scene.kind != "group" or key.entity_type != "user" or key.user_id == scene.user_id:
            return True
        rows = await self._index.readable(scene, {key.user_id}, self._embedder.fingerprint)
        return any(row.profile.key == key for row in rows)

    async def _shown(self, scene: Scene, key: ProfileKey, profile: Profile | None) -> Profile | None:
        if profile is None or profile.key != key or not _has_words(profile):
            return None
        return self._access.profile(scene, await self._named(profile))

    async def _named(self, profile: Profile) -> Profile:
        """Return a profile with present names in its text."""
        return await self._names.of_profile(profile) if self._names else profile

    def _opened(self, scene: Scene, key: ProfileKey) -> ProfileKey | None:
        """Return the key of the shared profile to prefer to a member's; None if the person does not share it."""
        is_shared = key.entity_type == "member" and self._access.is_shared(key.user_id)
        return ProfileKey.user(key.user_id, scene.agent) if is_shared else None

    async def _read(self, scene: Scene, key: ProfileKey) -> Profile | None:
        if key in await self._facts.keys_to_update():
            return None
        return await self._shown(scene, key, await self._store.find(key))

    async def _recent(self, scene: Scene, key: ProfileKey) -> Profile | None:
        read, now = self._begun(key), asyncio.get_running_loop().time()
        if not read.task.done():
            await asyncio.wait((read.task,), timeout=max(read.began_at + self._pace.patience - now, 0.0))
        if not read.task.done():
            raise UnavailableError(sentences.storage_errors.PROFILE_TOO_SLOW)
        return await self._shown(scene, key, read.task.result())

    def _begun(self, key: ProfileKey) -> _ProfileRead:
        """Return a pending or recent read of the file, or start one."""
        now = asyncio.get_running_loop().time()
        read = self._reads.pop(key, None)
        if read is None or not read.serves(now, self._pace.lifetime):
            read = _ProfileRead(now, asyncio.create_task(self._store.find(key)))
            read.task.add_done_callback(seen)
        self._reads[key] = read
        while len(self._reads) > self._pace.held:
            self._reads.popitem(last=False)
        return read

    async def _readable(self, scene: Scene) -> list[IndexedProfile]:
        """Return the readable rows of the index, each checked again; empty if index or facts are unavailable."""
        shared = self._access.sharing_people
        reading = asyncio.gather(
            self._facts.keys_to_update(), self._index.readable(scene, shared, self._embedder.fingerprint)
        )
        try:
            hidden, rows = await with_timeout(PATIENCE, reading)
        except AWAY:
            return []
        shown = (row for row in rows if row.profile.key not in hidden and _has_words(row.profile))
        return [row for row in shown if self._access.admits_profile(scene, row.profile.key)]

    async def _vector(self, said: str) -> Vector | None:
        try:
            return await with_timeout(PATIENCE, self._embedder.embed_query(said))
        except AWAY:
            return None


def _has_words(profile: Profile) -> bool:
    return bool(profile.tags or profile.summary.strip())
