"""Beliefs and profiles: which of them a turn is shown, one profile by its key, and those that match a query."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
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


@dataclass(frozen=True)
class BeliefSearch:
    """Finds beliefs by meaning and by words; without an embedder by words alone."""

    vectors: BeliefBook
    embedder: Embedder
    settings: Live[Settings]
    consent: Consent

    async def find(self, scope: Scope, query: str, *, limit: int, threshold: float) -> list[BeliefHit]:
        """Return active beliefs with a score of at least ``threshold``, best first, also those too weak to be shown.

        Hidden words are redacted, and never match.
        """
        said = clean_text(query[:BELIEF_QUERY]).strip()
        vector = await vector_of(self.embedder, said) if said else None
        hits = await self.vectors.database.read(self._ranked, scope, said, vector)
        return [hit for hit in hits if hit.score >= threshold][:limit]

    def of_turn(self, connection: Snapshot, scope: Scope, said: str, vector: Vector | None) -> list[Belief]:
        """Return up to :data:`MOST_SHOWN` beliefs of a place to show, the most relevant and strongest first.

        Beliefs that are asleep (too weak) are left out. Without ``vector`` relevance is by words only.
        """
        hits = self._ranked(connection, scope, said[:BELIEF_QUERY], vector)
        hits = [hit for hit in hits if not hit.belief.is_asleep]
        hits.sort(key=lambda hit: -((1.0 - STRENGTH_SHARE) * hit.score + STRENGTH_SHARE * hit.belief.strength))
        return [hit.belief for hit in hits[:MOST_SHOWN]]

    def _ranked(self, connection: Snapshot, scope: Scope, said: str, vector: Vector | None) -> list[BeliefHit]:
        rows = at_once(self.vectors.near, connection, scope, self.embedder.fingerprint, vector)
        shown = [(belief, cosine) for row, cosine in rows if (belief := self.consent.belief(scope, row))]
        if not shown:  # as in most places
            return []
        texts, cosines = [(one.statement, *one.tags) for one, _ in shown], [cosine for _, cosine in shown]
        scores = _scores(said, texts, cosines, self.embedder, self.settings.current)
        hits = [BeliefHit(belief, score) for (belief, _), score in zip(shown, scores, strict=True)]
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


@dataclass(frozen=True)
class ProfileReader:
    """Reads profiles, on a reading thread; writes nothing.

    Left out are profiles of people who opted out, unreadable and empty ones, and those from which withdrawn facts have
    yet to be removed: ``facts`` lists these, and is asked before a profile is read, so that none read before a
    withdrawal is shown. Texts have present ``names``.
    """

    store: FileProfiles
    index: ProfileIndex
    embedder: Embedder
    consent: Consent
    settings: Live[Settings]
    facts: FactBook
    names: CurrentNames

    async def find(self, scene: Scene, key: ProfileKey) -> Profile | None:
        """Return a profile, redacted and with present names; None if there is none or the class leaves it out.

        Raises NotPermitted if the scene may not read it (even if there is none), UnavailableError if a store fails.
        """
        return await self.names.book.database.read(self._permitted, scene, [key])

    async def asked(self, scene: Scene, entity_type: object, entity_id: object) -> Profile | None:
        """Return the profile for ``entity_type`` and ``entity_id`` as :meth:`find` does; also raises BadArgument.

        In a group, "user" means the person's shared profile if it is shared and the person is known there, otherwise
        the person's member profile.
        """
        key = ProfileKey.asked(scene, entity_type, entity_id)
        keys = self._keys_of(scene, key.user_id) if entity_type == "user" else [key]
        return await self.names.book.database.read(self._permitted, scene, keys)

    async def search(
        self, scene: Scene, query: str, *, entity_type: EntityType | None = None, top_k: int = MAX_RESULTS
    ) -> list[ProfileHit]:
        """Find profiles that match a query, best first, among those that the scene may read.

        Returns at most ``top_k`` of relevance ``query.min_relevance`` and 0.15 or more. A query that is exactly a name
        or id puts that profile first, with relevance 1. In a group, "user" includes members. An unavailable embedder or
        index makes the result smaller and raises no error.
        """
        said = clean_text(query[:QUERY_LENGTH]).strip()
        if not query_terms(said):
            return []
        vector = await vector_of(self.embedder, said)
        try:
            reading = self.names.book.database.read(self._found, scene, said, vector, entity_type, top_k)
            return await with_timeout(PATIENCE, reading)
        except AWAY:
            return []

    def of_turn(self, connection: Snapshot, scene: Scene, named: Sequence[str] = ()) -> TurnProfiles:
        """Return the profiles of a scene's speaker, of its group and of the people named in a turn; blocking.

        None for an operator, for people who opted out, and for the group of a private chat. ``named`` are ids of people
        whose names are known in the group; they are ignored outside groups. A file that fails is left out.
        """
        hidden, hidden_people = at_once(self.facts.keys_to_update, connection), self.consent.opted_out
        others = [one for one in named if scene.kind == "group" and one not in {*hidden_people, scene.user_id}]
        is_whole = True

        def first(keys: Sequence[ProfileKey]) -> Profile | None:
            nonlocal is_whole
            try:
                return self._first(connection, scene, keys, hidden)
            except AWAY:
                is_whole = False
                return None

        found = {one: profile for one in others if (profile := first(self._keys_of(scene, one)))}
        admins = at_once(self.names.book.admins, connection, scene.scope, others) if others else ()
        is_left_out = scene.kind == "operator" or scene.user_id in hidden_people
        asker = None if is_left_out else first(self._keys_of(scene, scene.user_id))
        group = first([ProfileKey.group(scene.group_id, scene.agent)]) if scene.group_id else None
        return TurnProfiles(asker, group, is_whole, found, admins)

    def _keys_of(self, scene: Scene, user_id: str) -> list[ProfileKey]:
        """Return under which keys a person's profile is looked for: in a group a shared one before the member's."""
        key = ProfileKey.asked(scene, "user", user_id)
        is_shared = key.entity_type == "member" and self.consent.is_shared(user_id)
        return [ProfileKey.user(user_id, scene.agent), key] if is_shared else [key]

    def _first(
        self, connection: Snapshot, scene: Scene, keys: Sequence[ProfileKey], hidden: Collection[ProfileKey]
    ) -> Profile | None:
        """Return the first of some profiles that is stored and not left out, as the scene may see it; else None."""
        for key in keys:
            profile = None if key in hidden else self.store.read(key)
            if profile is not None and _is_told(profile, key):
                shown = self.consent.profile(scene, *self.names.present(connection, [profile]))
                if shown is not None:
                    return shown
        return None

    def _permitted(self, connection: Snapshot, scene: Scene, keys: Sequence[ProfileKey]) -> Profile | None:
        """Return the first of some profiles that the scene may read; raise NotPermitted if the last is none of them.

        In a group an id alone gives no access to a shared profile: the index must know its person there.
        """
        permitted = [key for key in keys if self.consent.may_read_profile(scene, key)]
        shared = [one for one in permitted if one.entity_type == "user" and one.user_id != scene.user_id]
        if scene.kind == "group" and shared:
            people = {key.user_id for key in shared}
            rows = at_once(self.index.readable, connection, scene, people, self.embedder.fingerprint)
            known = {profile.key for profile, _ in rows}
            permitted = [key for key in permitted if key not in shared or key in known]
        if keys[-1] not in permitted:
            raise NotPermitted(sentences.caller.FOREIGN_PROFILE)
        return self._first(connection, scene, permitted, at_once(self.facts.keys_to_update, connection))

    def _found(
        self,
        connection: Snapshot,
        scene: Scene,
        said: str,
        vector: Vector | None,
        entity_type: EntityType | None,
        top_k: int,
    ) -> list[ProfileHit]:
        """Rank the profiles that the scene may read, by the text that it may see: redacted words never match.

        A vector that is missing or of another length leaves the words alone.
        """
        hidden, consent = at_once(self.facts.keys_to_update, connection), self.consent
        kinds = {"user", "member"} if scene.kind == "group" and entity_type == "user" else {entity_type}
        rows = at_once(self.index.readable, connection, scene, consent.sharing_people, self.embedder.fingerprint)
        shown, cosines = list[Profile](), list[float | None]()
        for profile, own in rows:
            key = profile.key
            is_wanted = entity_type is None or key.entity_type in kinds
            if is_wanted and key not in hidden and _is_told(profile, key) and consent.admits_profile(scene, key):
                shown.append(consent.redacted(profile))
                is_comparable = vector is not None and own is not None and len(vector) == len(own)
                cosines.append(sum(map(mul, vector or (), own or ())) if is_comparable else None)
        texts, settings = [(one.name, *one.tags, one.summary) for one in shown], self.settings.current
        named, hits = said.casefold().lstrip("@"), list[tuple[bool, ProfileHit]]()
        for profile, score in zip(shown, _scores(said, texts, cosines, self.embedder, settings), strict=True):
            name, identifier = clean_name(profile.name).casefold(), profile.key.user_id or profile.key.group_id
            is_named = named in {name, identifier, f"{name}({identifier})"}
            hits.append((is_named, ProfileHit(profile, 1.0 if is_named else score)))
        hits.sort(key=lambda one: (-one[1].score, not one[0]))
        floor = max(settings.query.min_relevance, LEAST)
        best = [hit for _, hit in hits if hit.score >= floor]
        if scene.kind == "group" and entity_type != "member":  # of a member and a shared profile only the better one
            once = dict[str, ProfileHit]()
            for hit in best:
                once.setdefault(hit.profile.key.user_id, hit)  # a group profile has the id ""; there is only one
            best = [*once.values()]
        best = best[:top_k]
        present = self.names.present(connection, [hit.profile for hit in best])
        return [replace(hit, profile=profile) for hit, profile in zip(best, present, strict=True)]


def _scores(
    said: str,
    texts: Sequence[Sequence[str]],
    cosines: Sequence[float | None],
    embedder: Embedder,
    settings: Settings,
) -> list[float]:
    """Return how relevant some texts are to a query: by words and, where there is a cosine, by meaning."""
    words, weight = covered(query_terms(said), [terms_of(*text) for text in texts]), settings.query.lexical_weight
    return [
        (1.0 - weight) * embedder.calibration.similarity(cosine) + weight * lexical
        if cosine is not None and math.isfinite(cosine)
        else lexical
        for cosine, lexical in zip(cosines, words, strict=True)
    ]


def covered(terms: Iterable[str], texts: Sequence[frozenset[str]]) -> list[float]:
    """Return, for each text, the share of the query's term weight that the text contains, saturating, in [0, 1].

    A term weighs more the rarer it is in the language and among the texts; one that no text has weighs as if one text
    had it. Of a long query only the heaviest terms count, as many as are searched.
    """
    count, asked = len(texts), frozenset(terms)
    if not texts or not asked:
        return [0.0] * count
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


async def vector_of(embedder: Embedder, said: str, seconds: float = PATIENCE) -> Vector | None:
    """Return the vector of a query; None if the embedder is unavailable or late."""
    try:
        if is_hashing(embedder):  # it never waits: a task would cost more than the vector
            return await embedder.embed_query(said)
        return await with_timeout(seconds, embedder.embed_query(said))
    except AWAY:
        return None
