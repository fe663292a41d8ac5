"""Beliefs and profiles: which of them a turn is shown, one profile by its key, and those that match a query."""

from __future__ import annotations

import asyncio
import heapq
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import mul

from .. import sentences
from ..consent import Consent
from ..domain.belief import Belief, BeliefHit
from ..domain.event import Event, Quote
from ..domain.profile import EntityType, Profile, ProfileHit, ProfileKey
from ..domain.scope import Scene, Scope
from ..errors import NotPermitted
from ..ports import Embedder, Vector, is_hashing
from ..profiles.files import FileProfiles
from ..settings.schema import Live, Settings
from ..store.beliefs import BeliefBook
from ..store.database.database import Snapshot, at_once
from ..store.facts import FactBook
from ..store.profiles import ProfileIndex
from ..tasks import AWAY, PATIENCE, with_timeout
from ..text.cleaning import clean_text
from ..text.names import clean_name
from ..text.query import QUERY_LENGTH
from ..text.terms import SEARCHED, index_terms, query_terms, telling_of
from .names import CurrentNames
from .ranking import MAX_RESULTS, terms_of

BELIEF_QUERY = 1_000  # characters
MOST_SHOWN = 10  # of a turn
SATURATION = 0.5  # coverage that counts as three quarters of a full one
STRENGTH_SHARE = 0.3  # of the order in which a turn is shown beliefs; the rest is relevance
Worded = Callable[[Scope, Belief], Belief | None]


@dataclass(frozen=True)
class BeliefSearch:
    """Finds beliefs by meaning and by words; without an embedder by words alone."""

    vectors: BeliefBook
    embedder: Embedder
    settings: Live[Settings]

    async def find(self, scope: Scope, query: str, *, limit: int, threshold: float, worded: Worded) -> list[BeliefHit]:
        """Return active beliefs with a score of at least ``threshold``, best first, also those too weak to be shown.

        ``worded`` returns a belief with hidden words redacted, or None if it must not be shown; such words never match.
        """
        said = clean_text(query[:BELIEF_QUERY]).strip()
        vector = await vector_of(self.embedder, said) if said else None
        rows = await self.vectors.near(scope, self.embedder.fingerprint, vector)
        hits = await asyncio.to_thread(self._ranked, scope, rows, said, worded)
        return [hit for hit in hits if hit.score >= threshold][: max(limit, 0)]

    def of_turn(
        self, connection: Snapshot, scope: Scope, query: str, vector: Vector | None, worded: Worded
    ) -> list[Belief]:
        """Return up to :data:`MOST_SHOWN` beliefs of a place to show, the most relevant and strongest first.

        Beliefs that are asleep (too weak) are left out. Without ``vector`` relevance is by words only.
        """
        rows = at_once(self.vectors.near, connection, scope, self.embedder.fingerprint, vector)
        if not rows:  # as in most places
            return []
        said = clean_text(query[:BELIEF_QUERY]).strip()
        hits = [hit for hit in self._ranked(scope, rows, said, worded) if not hit.belief.is_asleep]
        hits.sort(key=lambda hit: -((1.0 - STRENGTH_SHARE) * hit.score + STRENGTH_SHARE * hit.belief.strength))
        return [hit.belief for hit in hits[:MOST_SHOWN]]

    def _ranked(
        self, scope: Scope, rows: Sequence[tuple[Belief, float | None]], said: str, worded: Worded
    ) -> list[BeliefHit]:
        shown = [(belief, cosine) for row, cosine in rows if (belief := worded(scope, row))]
        terms, similarity = tuple(query_terms(said)), self.embedder.calibration.similarity
        texts = [terms_of(belief.statement, *belief.tags) for belief, _ in shown]
        words = covered(terms, texts) if terms else [0.0] * len(shown)
        weight, hits = self.settings.current.query.lexical_weight, list[BeliefHit]()
        for (belief, cosine), lexical in zip(shown, words, strict=True):
            score = lexical
            if cosine is not None and math.isfinite(cosine):
                score = (1.0 - weight) * similarity(cosine) + weight * lexical
            hits.append(BeliefHit(belief, score))
        return sorted(hits, key=lambda hit: (-hit.score, -hit.belief.strength))


LEAST = 0.15  # least relevance of a profile: a long text shares some words with most questions


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

    @property
    def event_ids(self) -> set[str]:
        """The ids of the events on which lines rest that a model worded."""
        every = (one for one in (self.person, self.group, *self.named.values()) if one)
        return {one for profile in every for ids in events_of_lines(profile).values() for one in ids}


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
        consent: Consent,
        settings: Live[Settings],
        *,
        facts: FactBook,
        names: CurrentNames,
    ) -> None:
        """Create over a store and its index; ``facts`` lists the profiles from which facts have yet to be removed.

        ``names`` puts present names into a profile's text.
        """
        self._facts = facts
        self._store = store
        self._index = index
        self._embedder = embedder
        self._consent = consent
        self._settings = settings
        self._names = names

    async def find(self, scene: Scene, key: ProfileKey) -> Profile | None:
        """Return a profile, redacted and with present names; None if there is none or the class leaves it out.

        Raises NotPermitted if the scene may not read it (even if there is none), UnavailableError if a store fails.
        """
        if not (self._consent.may_read_profile(scene, key) and await self._is_known(scene, key)):
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
        kinds = ("user", "member") if scene.kind == "group" and entity_type == "user" else (entity_type,)
        rows = await self._readable(scene) if query_terms(said) else []
        rows = [row for row in rows if entity_type is None or row[0].key.entity_type in kinds]
        if not rows:
            return []
        vector = await vector_of(self._embedder, said)
        given = rows, said, vector, self._embedder, settings, self._consent.redacted
        hits = await asyncio.to_thread(ranked, *given)
        wanted = settings.query.profile_top_k if top_k is None else top_k
        best = [hit for hit in hits if self._consent.admits_profile(scene, hit.profile.key)]  # by present consent
        if scene.kind == "group" and entity_type != "member":  # of a member and a shared profile only the better one
            once: dict[str, ProfileHit] = {}
            for hit in best:
                once.setdefault(hit.profile.key.user_id, hit)  # a group profile has the id ""; there is only one
            best = [*once.values()]
        best = best[: min(max(wanted, 0), MAX_RESULTS)]
        return [
            replace(hit, profile=profile)
            for hit, profile in zip(best, await self._names.of([hit.profile for hit in best]), strict=True)
        ]

    def of_turn(self, connection: Snapshot, scene: Scene, named: Sequence[str] = ()) -> TurnProfiles:
        """Return the profiles of a scene's speaker, of its group and of the people named in a turn; blocking.

        None for an operator, for people who opted out, and for the group of a private chat. ``named`` are ids of people
        whose names are known in the group; they are ignored outside groups. A file that fails is left out.
        """
        hidden, hidden_people = at_once(self._facts.keys_to_update, connection), self._consent.opted_out
        others = [one for one in named if scene.kind == "group" and one not in {*hidden_people, scene.user_id}]
        failed: list[ProfileKey] = []

        def shown(key: ProfileKey) -> Profile | None:
            try:
                profile = None if key in hidden else self._store.read(key)
                if profile is None or not _is_told(profile, key):
                    return None
                return self._consent.profile(scene, *self._names.present(connection, [profile]))
            except AWAY:
                failed.append(key)
                return None

        def of_person(user_id: str) -> Profile | None:
            key, failed_before = ProfileKey.asked(scene, "user", user_id), len(failed)
            opened = self._opened(scene, key)
            found = shown(opened) if opened else None
            return found if found or len(failed) > failed_before else shown(key)

        found = {one: profile for one in others if (profile := of_person(one))}
        admins = at_once(self._names.book.admins, connection, scene.scope, others) if others else ()
        is_left_out = scene.kind == "operator" or scene.user_id in hidden_people
        asker = None if is_left_out else of_person(scene.user_id)
        group = shown(ProfileKey.group(scene.group_id, scene.agent)) if scene.group_id else None
        return TurnProfiles(asker, group, not failed, found, admins)

    async def _is_known(self, scene: Scene, key: ProfileKey) -> bool:
        """Return whether the asking group knows a shared profile's person, because an id alone gives no access."""
        if scene.kind != "group" or key.entity_type != "user" or key.user_id == scene.user_id:
            return True
        rows = await self._index.readable(scene, {key.user_id}, self._embedder.fingerprint)
        return any(profile.key == key for profile, _ in rows)

    def _opened(self, scene: Scene, key: ProfileKey) -> ProfileKey | None:
        """Return the key of the shared profile to prefer to a member's; None if the person does not share it."""
        is_shared = key.entity_type == "member" and self._consent.is_shared(key.user_id)
        return ProfileKey.user(key.user_id, scene.agent) if is_shared else None

    async def _read(self, scene: Scene, key: ProfileKey) -> Profile | None:
        if key in await self._facts.keys_to_update():
            return None
        profile = await self._store.find(key)
        if profile is None or not _is_told(profile, key):
            return None
        return self._consent.profile(scene, *await self._names.of([profile]))

    async def _readable(self, scene: Scene) -> list[tuple[Profile, Vector | None]]:
        """Return the readable rows of the index, each checked again; empty if index or facts are unavailable."""
        shared = self._consent.sharing_people
        fingerprint = self._embedder.fingerprint
        try:
            reading = asyncio.gather(self._facts.keys_to_update(), self._index.readable(scene, shared, fingerprint))
            hidden, rows = await with_timeout(PATIENCE, reading)
        except AWAY:
            return []
        shown = (row for row in rows if row[0].key not in hidden and _is_told(row[0], row[0].key))
        return [row for row in shown if self._consent.admits_profile(scene, row[0].key)]


def covered(terms: Sequence[str], texts: Sequence[frozenset[str]]) -> list[float]:
    """Return, for each text, the share of the query's term weight that the text contains, saturating, in [0, 1].

    A term weighs more the rarer it is in the language and among the texts; one that no text has weighs as if one text
    had it. Of a long query only the heaviest terms count, as many as are searched.
    """
    if not texts:
        return []
    count, asked = len(texts), frozenset(terms)
    common = [asked & text for text in texts]
    having = Counter(chain.from_iterable(common))
    rarity = [math.log1p(count / number) for number in range(1, count + 1)]  # of a term that so many texts have
    weights = {term: telling_of(term) * rarity[having[term] - 1 if term in having else 0] for term in asked}
    heaviest = weights.values() if len(weights) <= SEARCHED else heapq.nlargest(SEARCHED, weights.values())
    whole, weight_of = math.fsum(heaviest), weights.__getitem__  # fsum: the order of a set says nothing
    shares = [min(math.fsum(map(weight_of, some)) / whole, 1.0) for some in common]
    return [share * (1.0 + SATURATION) / (share + SATURATION) for share in shares]


def events_of_lines(profile: Profile) -> dict[str, tuple[str, ...]]:
    """Return the ids of the events of each line that a model worded; what rules wrote quotes its events already."""
    return {said: ids for said, ids in profile.sources.items() if sentences.context.noted(f"- {said}") is None}


def tags_by_hand(profile: Profile) -> list[str]:
    """Return the tags that a person wrote: what models read are no words that a model cut out of somebody's line."""
    return [tag for tag in profile.tags if tag not in profile.sources]


def words_of_lines(profile: Profile, events: Mapping[str, Event], without: Collection[str] = ()) -> dict[str, Quote]:
    """Return the words of its person on which each line rests that a model worded; of a group, anybody's.

    They are those of the line's first event that share most with it, before others those of its voice: 不收 to a
    proposal. ``events`` are those that may be shown, by id. Nobody of ``without`` is quoted.
    """
    person, words = profile.key.user_id, dict[str, Quote]()
    for said, ids in events_of_lines(profile).items():
        for event in (events[one] for one in ids if one in events):
            told = (quote for quote in event.quotes if quote.sent_at and quote.sender_id not in ("", *without))
            own = [quote for quote in told if person in ("", quote.sender_id)]
            if own:
                words[said] = own[0] if len(own) == 1 else _nearest(said, own, event.sender_id)
                break
    return words


def _nearest(said: str, quotes: Sequence[Quote], voice: str) -> Quote:
    terms = frozenset(term for term in index_terms(said) if len(term) > 1)

    def nearness(quote: Quote) -> tuple[bool, int]:
        shared = len(terms.intersection(index_terms(quote.text)))
        return shared > 0 and quote.sender_id == voice, shared

    return max(quotes, key=nearness)


def _is_told(profile: Profile, key: ProfileKey) -> bool:
    """Return whether a file under a key holds that profile, with words."""
    return profile.key == key and bool(profile.tags or profile.summary.strip())


def ranked(
    rows: Sequence[tuple[Profile, Vector | None]],
    said: str,
    vector: Vector | None,
    embedder: Embedder,
    settings: Settings,
    as_shown: Callable[[Profile], Profile],
) -> list[ProfileHit]:
    """Rank profiles, best first, by the text that ``as_shown`` returns, so that redacted words never match.

    A query that is exactly the name or id of a profile's subject has relevance 1 for it. Vectors have length 1, which
    is not checked; one that is missing or of another length leaves the words alone.
    """
    weight, floor = settings.query.lexical_weight, max(settings.query.min_relevance, LEAST)
    terms, named = tuple(query_terms(said)), said.casefold().lstrip("@")
    shown = [as_shown(profile) for profile, _ in rows]
    texts = [terms_of(one.name, *one.tags, one.summary) for one in shown]
    hits: list[tuple[bool, ProfileHit]] = []
    for (_, own), profile, lexical in zip(rows, shown, covered(terms, texts), strict=True):
        name, identifier = clean_name(profile.name).casefold(), profile.key.user_id or profile.key.group_id
        is_named, score = named in {name, identifier, f"{name}({identifier})"}, lexical
        if vector is not None and own is not None and len(vector) == len(own):
            cosine = sum(map(mul, vector, own))
            if math.isfinite(cosine):
                score = (1.0 - weight) * embedder.calibration.similarity(cosine) + weight * lexical
        hits.append((is_named, ProfileHit(profile, 1.0 if is_named else score)))
    relevant = (one for one in hits if one[1].score > 0.0 and one[1].score >= floor)
    return [hit for _, hit in sorted(relevant, key=lambda one: (-one[1].score, not one[0]))]


async def vector_of(embedder: Embedder, said: str, seconds: float = PATIENCE) -> Vector | None:
    """Return the vector of a query; None if the embedder is unavailable or late."""
    try:
        if is_hashing(embedder):  # it never waits: a task would cost more than the vector
            return await embedder.embed_query(said)
        return await with_timeout(seconds, embedder.embed_query(said))
    except AWAY:
        return None
