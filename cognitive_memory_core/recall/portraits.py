"""Portraits as a scene may see them: one by its key, those that answer a question, and those of who is here now."""

from __future__ import annotations

import asyncio
import math
import unicodedata
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import mul

from .. import sentences
from ..consent import Consent
from ..domain.profile import EntityType, Profile, ProfileHit, ProfileKey
from ..domain.scope import Scene
from ..errors import NotPermitted, UnavailableError
from ..ports.ambient import Clock
from ..ports.ledger import FactBook, IndexedProfile, ProfileIndex
from ..ports.models import Embedder, Vector
from ..ports.profiles import ProfileStore
from ..settings import Live, QuerySettings, Settings
from ..text.frequency import telling
from ..text.names import clean_name, clean_text
from ..text.terms import index_terms, query_terms
from .embedding import QueryEmbedding
from .query import QUERY_LENGTH
from .retriever import AWAY, MAX_RESULTS, PATIENCE

INLINE = 4  # portraits that are compared in a few milliseconds; more leave the event loop
_HALF_WAY = 0.5


@dataclass(frozen=True)
class Pace:
    """How long a turn waits for a file, counted from when it began to be read; how long what was read serves; seconds.

    ``held`` portraits are remembered for so long.
    """

    patience: float = 1.0
    lifetime: float = 2.0
    held: int = 256


@dataclass(frozen=True)
class _Read:
    """A file that is being read, or was; times are of the event loop's clock."""

    began_at: float
    task: asyncio.Task[Profile | None]

    def serves(self, now: float, lifetime: float) -> bool:
        """Tell whether it is read still, or was read just now."""
        if not self.task.done():
            return True
        has_answer = not self.task.cancelled() and self.task.exception() is None
        return has_answer and now - self.began_at < lifetime


class Portraits:
    """Reads portraits. Who opted out has none, whoever is not readable is not there, and nothing is ever written.

    One that holds something withdrawn is not there until it has left it, and one without any words is none. That is
    asked before the portrait is read, so that none is shown that was read before the withdrawal.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # all that reading portraits rests on, ports first
        self,
        store: ProfileStore,
        index: ProfileIndex,
        embedder: Embedder,
        consent: Consent,
        settings: Live[Settings],
        clock: Clock,
        pace: Pace = Pace(),
        *,
        facts: FactBook,
    ) -> None:
        """Read a store, and search its index with an embedder; ``facts`` know who holds what is withdrawn."""
        self._facts = facts
        self._store = store
        self._index = index
        self._embedder = embedder
        self._questions = QueryEmbedding(embedder, clock)
        self._consent = consent
        self._settings = settings
        self._pace = pace
        self._reads: OrderedDict[ProfileKey, _Read] = OrderedDict()

    async def find(self, scene: Scene, key: ProfileKey) -> Profile | None:
        """Give a portrait as it stands in its file; None where there is none to be shown, or its person opted out.

        Raises NotPermitted where the scene may not read it, whether there is one or not; UnavailableError.
        """
        if not (self._is_readable(scene, key) and await self._is_known(scene, key)):
            raise NotPermitted(sentences.foreign_profile())
        return await self._read(scene, key)

    async def asked(self, scene: Scene, entity_type: object, entity_id: object) -> Profile | None:
        """Give the portrait that is meant by ``entity_type`` and ``entity_id``; raises BadArgument and as :meth:`find`.

        In a group a "user" is the member there, or, where that person's portrait is shared and they are known there,
        the person.
        """
        key = ProfileKey.asked(scene, entity_type, entity_id)
        opened = self._opened(scene, key) if entity_type == "user" else None
        if opened and await self._is_known(scene, opened) and (found := await self._read(scene, opened)):
            return found
        return await self.find(scene, key)

    async def search(
        self, scene: Scene, query: str, *, entity_type: EntityType | None = None, top_k: int | None = None
    ) -> list[ProfileHit]:
        """Find the portraits that answer a question, best first, of those that the scene may read.

        At most ``top_k`` (``query.profile_top_k``, and 200) of relevance ``query.min_relevance`` or more. A name or id
        that is the question itself comes first, with 1. In a group a "user" is a member, too. An embedder or index that
        is away makes the answer smaller, never an error.
        """
        asked = self._settings.current.query
        said = clean_text(query[:QUERY_LENGTH]).strip()
        terms = tuple(query_terms(said))
        rows = [row for row in await self._readable(scene) if _is_wanted(row, scene, entity_type)] if terms else []
        if not rows:
            return []
        question = _Question(said.casefold().lstrip("@"), terms, await self._vector(said))
        rank = partial(self._ranked, rows, question, asked)
        hits = await asyncio.to_thread(rank) if len(rows) > INLINE else rank()
        wanted = asked.profile_top_k if top_k is None else top_k
        standing = [hit for hit in hits if self._admits(scene, hit.profile.key)]  # as things stand now
        return _one_a_person(standing, scene, entity_type)[: min(max(wanted, 0), MAX_RESULTS)]

    async def of_asker(self, scene: Scene) -> Profile | None:
        """Give the portrait of who speaks in a scene, read at most every two seconds; None for an operator.

        Raises UnavailableError, also where the file takes longer than a second; it is read on for the next turn.
        """
        if scene.kind == "operator":
            return None
        key = ProfileKey.asked(scene, "user", scene.user_id)
        opened = self._opened(scene, key)
        return (opened and await self._recent(scene, opened)) or await self._recent(scene, key)

    async def of_group(self, scene: Scene) -> Profile | None:
        """Give the portrait of the group of a scene, as :meth:`of_asker`; None in private."""
        return await self._recent(scene, ProfileKey.group(scene.group_id, scene.agent)) if scene.group_id else None

    def forget(self) -> None:
        """Read every portrait anew: to be called when some were written, restored or erased."""
        self._reads.clear()

    def _is_shared(self, user_id: str) -> bool:
        return self._settings.current.sharing == "shared" or user_id in self._consent.shared

    def _is_readable(self, scene: Scene, key: ProfileKey) -> bool:
        """What is shared is open to the groups where its person is, and not to strangers in private."""
        return key.readable_by(scene, shared=scene.kind == "group" and self._is_shared(key.user_id))

    async def _is_known(self, scene: Scene, key: ProfileKey) -> bool:
        """Tell whether somebody whose portrait is shared is known in the group that asks; an id alone opens nothing."""
        if scene.kind != "group" or key.entity_type != "user" or key.user_id == scene.user_id:
            return True
        rows = await self._index.readable(scene, {key.user_id}, self._embedder.fingerprint)
        return any(row.profile.key == key for row in rows)

    def _admits(self, scene: Scene, key: ProfileKey) -> bool:
        """The choke point that every portrait passes, whatever store it came from."""
        return self._is_readable(scene, key) and key.user_id not in self._consent.opted_out

    def _shown(self, scene: Scene, key: ProfileKey, profile: Profile | None) -> Profile | None:
        if profile is None or profile.key != key or not (_has_words(profile) and self._admits(scene, key)):
            return None
        return self._worded(profile)

    def _worded(self, profile: Profile) -> Profile:
        """Give a portrait without other people who want to be left out."""
        hide = self._consent.hidden
        tags = tuple(hide(tag) for tag in profile.tags)
        return replace(profile, name=hide(profile.name), tags=tags, summary=hide(profile.summary))

    def _opened(self, scene: Scene, key: ProfileKey) -> ProfileKey | None:
        """Name the portrait that a member's person shared, which goes before that of the place."""
        is_shared = key.entity_type == "member" and self._is_shared(key.user_id)
        return ProfileKey.user(key.user_id, scene.agent) if is_shared else None

    async def _read(self, scene: Scene, key: ProfileKey) -> Profile | None:
        if key in await self._facts.withdrawing():
            return None
        return self._shown(scene, key, await self._store.find(key))

    async def _recent(self, scene: Scene, key: ProfileKey) -> Profile | None:
        if key in await self._facts.withdrawing():
            return None
        now = asyncio.get_running_loop().time()
        read = self._reads.pop(key, None)
        if read is None or not read.serves(now, self._pace.lifetime):
            read = _Read(now, asyncio.create_task(self._store.find(key)))
            read.task.add_done_callback(_seen)
        self._reads[key] = read
        while len(self._reads) > self._pace.held:
            self._reads.popitem(last=False)
        done, _ = await asyncio.wait((read.task,), timeout=max(read.began_at + self._pace.patience - now, 0.0))
        if not done:
            raise UnavailableError(sentences.portrait_too_slow())
        return self._shown(scene, key, read.task.result())

    async def _readable(self, scene: Scene) -> list[IndexedProfile]:
        """Give what the index lets the scene read, each row looked at again; nothing where index or facts are away."""
        shared = None if self._settings.current.sharing == "shared" else self._consent.shared
        try:
            hidden = await self._facts.withdrawing()
            rows = await self._index.readable(scene, shared, self._embedder.fingerprint)
        except AWAY:
            return []
        shown = (row for row in rows if row.profile.key not in hidden and _has_words(row.profile))
        return [row for row in shown if self._admits(scene, row.profile.key)]

    async def _vector(self, said: str) -> Vector | None:
        try:
            return await asyncio.wait_for(self._questions.vector(said), PATIENCE)
        except AWAY:
            return None

    def _ranked(self, rows: Sequence[IndexedProfile], question: _Question, asked: QuerySettings) -> list[ProfileHit]:
        """Score what is shown, not what is kept: words that are hidden find nobody."""
        weight, floor = asked.lexical_weight, asked.min_relevance
        near = [(row.profile, self._similarity(question.vector, row.vector)) for row in rows]
        likely = [
            (self._worded(profile), similarity)
            for profile, similarity in near
            if _fused(similarity, 0.0, weight) > floor or question.touches(profile)
        ]
        words = _matched(question.terms, [profile for profile, _ in likely], len(rows))
        scored = (
            ProfileHit(profile, 1.0 if question.names(profile) else _fused(similarity, lexical, weight))
            for (profile, similarity), lexical in zip(likely, words, strict=True)
        )
        relevant = (hit for hit in scored if hit.score > 0.0 and hit.score >= floor)
        return sorted(relevant, key=lambda hit: (-hit.score, not question.names(hit.profile)))

    def _similarity(self, asked: Vector | None, vector: Vector | None) -> float | None:
        """Compare two vectors of unit length; None where one is missing."""
        if asked is None or vector is None or len(asked) != len(vector):
            return None
        cosine = sum(map(mul, asked, vector))
        return self._embedder.calibration.similarity(cosine) if math.isfinite(cosine) else None


@dataclass(frozen=True)
class _Question:
    """What is asked for: the folded text, its words, and its vector where there is one."""

    said: str
    terms: tuple[str, ...]
    vector: Vector | None

    def touches(self, profile: Profile) -> bool:
        """Tell whether a portrait can share a word at all, which is soon told of the many that share none."""
        key = profile.key
        written = "\n".join((profile.name, *profile.tags, profile.summary, key.user_id or key.group_id))
        folded = unicodedata.normalize("NFKC", written).casefold()
        return any(term in folded for term in self.terms)

    def names(self, profile: Profile) -> bool:
        """Tell whether it is nothing but the name or id of somebody."""
        identifier = profile.key.user_id or profile.key.group_id
        name = clean_name(profile.name).casefold()
        return self.said in {name, identifier, f"{name}({identifier})"}


def _has_words(profile: Profile) -> bool:
    return bool(profile.tags or profile.summary.strip())


def _seen(task: asyncio.Task[Profile | None]) -> None:
    """Let a failure that nobody waits for any more be no complaint of the loop's."""
    if not task.cancelled():
        task.exception()


def _is_wanted(row: IndexedProfile, scene: Scene, entity_type: EntityType | None) -> bool:
    kind = row.profile.key.entity_type
    is_here = scene.kind == "group" and entity_type == "user" and kind == "member"
    return entity_type is None or kind == entity_type or is_here


def _one_a_person(hits: Iterable[ProfileHit], scene: Scene, entity_type: EntityType | None) -> list[ProfileHit]:
    """In a group, keep the better one of a member's and the same person's shared portrait."""
    if scene.kind != "group" or entity_type == "member":
        return list(hits)
    best: dict[str, ProfileHit] = {}
    for hit in hits:
        best.setdefault(hit.profile.key.user_id, hit)  # "" is the one group there is
    return list(best.values())


def _fused(similarity: float | None, lexical: float, weight: float) -> float:
    return lexical if similarity is None else (1.0 - weight) * similarity + weight * lexical


def _matched(terms: Sequence[str], profiles: Sequence[Profile], among: int) -> list[float]:
    """Say how much of a question each portrait covers, in [0, 1]; a word counts by how rare it is ``among`` all."""
    texts = [frozenset(index_terms("\n".join((one.name, *one.tags, one.summary)))) for one in profiles]
    weights = {term: _weight(term, texts, among) for term in terms}
    whole = sum(weights.values())
    shares = (sum(weight for term, weight in weights.items() if term in text) / whole for text in texts)
    return [share * (1.0 + _HALF_WAY) / (share + _HALF_WAY) for share in shares]


def _weight(term: str, texts: Sequence[frozenset[str]], among: int) -> float:
    having = sum(term in text for text in texts)
    return math.prod(map(telling, term)) * math.log1p(among / max(having, 1))
