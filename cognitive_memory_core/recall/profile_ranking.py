"""Ranking of profiles for a query: by name or id, by meaning, and by shared words."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import mul

from ..domain.profile import EntityType, Profile, ProfileHit
from ..domain.scope import Scene
from ..ports.models import Calibration, Vector
from ..settings import Settings
from ..store.profile_index import IndexedProfile
from ..text.identity.name_cleaning import clean_name
from ..text.lexical.terms import index_terms
from .term_coverage import covered, saturated

LEAST = 0.15  # least relevance of a profile: a long text shares some words with most questions


@dataclass(frozen=True)
class ProfileQuestion:
    """A profile query: the folded text, its terms, its vector if available, and the embedder's calibration."""

    said: str
    terms: tuple[str, ...]
    vector: Vector | None
    calibration: Calibration

    def similarity(self, vector: Vector | None) -> float | None:
        """Return the similarity of the question to a profile's vector, in [0, 1] by the embedder's calibration.

        Both vectors must have length 1, which is not checked. None if a vector is missing, if the numbers of dimensions
        differ, or if the product is not finite.
        """
        if self.vector is None or vector is None or len(self.vector) != len(vector):
            return None
        cosine = sum(map(mul, self.vector, vector))
        return self.calibration.similarity(cosine) if math.isfinite(cosine) else None

    def touches(self, profile: Profile) -> bool:
        """Return whether a profile's text contains any query term; a cheap filter before scoring."""
        key = profile.key
        written = "\n".join((profile.name, *profile.tags, profile.summary, key.user_id or key.group_id))
        folded = unicodedata.normalize("NFKC", written).casefold()
        return any(term in folded for term in self.terms)

    def names(self, profile: Profile) -> bool:
        """Return whether the query is exactly the name or id of the profile's subject."""
        identifier = profile.key.user_id or profile.key.group_id
        name = clean_name(profile.name).casefold()
        return self.said in {name, identifier, f"{name}({identifier})"}


def is_wanted(row: IndexedProfile, scene: Scene, entity_type: EntityType | None) -> bool:
    """Return whether a profile has the requested type; in a group, "user" includes profiles of members."""
    kind = row.profile.key.entity_type
    is_here = scene.kind == "group" and entity_type == "user" and kind == "member"
    return entity_type is None or kind == entity_type or is_here


def ranked(
    rows: Sequence[IndexedProfile],
    question: ProfileQuestion,
    settings: Settings,
    as_shown: Callable[[Profile], Profile],
) -> list[ProfileHit]:
    """Rank profiles, best first, by the text that ``as_shown`` returns, so that redacted words never match."""
    weight, floor = settings.lexical_weight, max(settings.query.min_relevance, LEAST)
    near = [(row.profile, question.similarity(row.vector)) for row in rows]
    likely = [
        (as_shown(profile), similarity)
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


def one_a_person(hits: Iterable[ProfileHit], scene: Scene, entity_type: EntityType | None) -> list[ProfileHit]:
    """Return the hits, best first; in a group, of a person's member profile and shared profile only the better one."""
    if scene.kind != "group" or entity_type == "member":
        return list(hits)
    best: dict[str, ProfileHit] = {}
    for hit in hits:
        best.setdefault(hit.profile.key.user_id, hit)  # a group profile has the id ""; there is only one
    return list(best.values())


def _fused(similarity: float | None, lexical: float, weight: float) -> float:
    return lexical if similarity is None else (1.0 - weight) * similarity + weight * lexical


def _matched(terms: Sequence[str], profiles: Sequence[Profile], among: int) -> list[float]:
    """Return the share of the query that each profile covers, in [0, 1], by rarity of terms in ``among`` profiles."""
    texts = [frozenset(index_terms("\n".join((one.name, *one.tags, one.summary)))) for one in profiles]
    return [saturated(share) for share in covered(terms, texts, among)]
