"""Properties of ranking for arbitrary hits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime

from hypothesis import assume, given
from hypothesis import strategies as st

from cognitive_memory_core.domain.instants import Interval
from cognitive_memory_core.recall.ranking import (
    NAMED,
    OUTSIDE,
    collapsed,
    diversified,
    fused,
    reranked,
    weighed,
    widened,
)
from cognitive_memory_core.settings.schema import Decay
from tests.support.builders import an_event
from tests.support.clock import SHANGHAI

WORDS = ("阿棠", "喜欢", "乌龙茶", "爬山", "什么", "tea")
SCORES = st.floats(0, 1)
ANY_SCORES = st.floats() | SCORES
INSTANTS = st.datetimes(datetime(2, 1, 3), datetime(9998, 12, 29), timezones=st.just(SHANGHAI))  # noqa: DTZ001  # bounds
EVENTS = st.builds(
    an_event,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map("".join),
    happened_at=INSTANTS,
    is_absolute=st.booleans(),
    sender_id=st.sampled_from("123"),
    subjects=st.lists(st.sampled_from("1234"), max_size=3).map(tuple),
    kind=st.sampled_from(("event", "preference", "message")),
)
PEOPLE = st.frozensets(st.sampled_from("12345"), max_size=3)
ROWS = st.lists(st.tuples(EVENTS, ANY_SCORES), max_size=8)
WORDED = st.lists(st.tuples(EVENTS, st.floats(0, 1, exclude_min=True)), max_size=8)  # these scores are above 0
WINDOWS = st.tuples(INSTANTS, INSTANTS).map(lambda ends: Interval(min(ends), max(ends)))
SEVERAL = st.lists(WINDOWS, max_size=3).map(tuple)
DECAYS = st.none() | st.builds(Decay, st.floats(1e-300, 1e300), st.floats(0, 10), SCORES)


@dataclass(frozen=True)
class Steps:
    """The parameters of a ranking."""

    weight: float
    windows: tuple[Interval, ...]
    decay: Decay | None
    now: datetime
    diversity: float
    limit: int
    people: frozenset[str] = frozenset()
    floor: float = 0.0


LIMITS = st.integers(0, 10) | st.just(10**9) | st.integers(-3, 0)
STEPS = st.builds(Steps, SCORES, SEVERAL, DECAYS, INSTANTS, SCORES, LIMITS, PEOPLE)


def ranked(dense, lexical, steps, scores=None, known=()):
    """Run every ranking step as the retriever does; ``scores`` are a reranker's, ``known`` widens the result."""
    hits = fused(dense, lexical, steps.weight)
    told = scores and {hit.event.id: score for hit, score in zip(hits, scores, strict=False)}
    hits = widened(reranked(hits, hits, told), known, 0.15)
    hits = weighed(hits, steps.windows, steps.people, steps.decay, steps.now, least=steps.floor)
    return diversified(collapsed(hits), steps.diversity, steps.limit)


@given(ROWS, WORDED, STEPS, st.lists(st.floats(), max_size=16), st.lists(EVENTS, max_size=3))
def test_no_nan_passes_and_top_k_is_a_cap(dense, lexical, steps, scores, known):
    """A result has at most ``limit`` distinct hits, with finite falling scores and relevance in [0, 1]."""
    hits = ranked(dense, lexical, steps, scores, known)
    scores = [hit.score for hit in hits]
    assert len(hits) <= max(steps.limit, 0)
    assert len({hit.event.id for hit in hits}) == len(hits)
    assert all(math.isfinite(score) for score in scores)
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= part <= 1.0 for hit in hits for part in (hit.similarity, hit.lexical, hit.relevance))


@given(st.lists(st.tuples(EVENTS, SCORES), min_size=1, max_size=8), WORDED, STEPS, SCORES, st.data())
def test_a_higher_similarity_never_hurts(dense, lexical, steps, floor, data):
    """An event whose similarity rises, all else equal, is never ranked lower."""
    steps = replace(steps, floor=floor)
    at = data.draw(st.integers(0, len(dense) - 1))
    event, similarity = dense[at]
    raised = [*dense[:at], (event, data.draw(st.floats(similarity, 1))), *dense[at + 1 :]]
    before, after = (_place(ranked(rows, lexical, steps), event) for rows in (dense, raised))
    assert after <= before


@given(ROWS, WORDED, STEPS, st.data())
def test_the_order_of_candidates_tells_nothing_but_between_equals(dense, lexical, steps, data):
    """The order of the candidates does not change hits and scores, except among equal ones."""
    shuffled = [data.draw(st.permutations(rows)) for rows in (dense, lexical)]
    everything = replace(steps, limit=20, diversity=0.0)
    lists = [ranked(*rows, everything) for rows in ((dense, lexical), shuffled)]
    assert [hit.score for hit in lists[0]] == [hit.score for hit in lists[1]]
    scores = [hit.score for hit in lists[0]]
    assume(len(set(scores)) == len(scores))
    assert _told(lists[0]) == _told(lists[1])
    worths = [hit.score for hit in ranked(dense, lexical, steps)]
    assume(len(set(worths)) == len(worths))
    assert _told(ranked(dense, lexical, steps)) == _told(ranked(*shuffled, steps))


def _told(hits):
    return [(hit.event.text, hit.score) for hit in hits]


def _place(hits, event):
    return next((place for place, hit in enumerate(hits) if hit.event.id == event.id), len(hits))


@given(ROWS, SEVERAL)
def test_the_time_named_drops_nothing(dense, windows):
    """A hit outside the time windows, if another lies in one, scores 0.3 of its score, and none is dropped."""
    before = {hit.event.id: hit for hit in fused(dense, None, 0.5) if hit.relevance > 0.0}
    after = weighed([*before.values()], windows, frozenset())
    assert {hit.event.id for hit in after} == set(before)
    inside = {hit.event.id for hit in after for window in windows if hit.event.happened_at in window}
    for hit in after:
        share = 1.0 if not inside or hit.event.id in inside else OUTSIDE
        assert hit.score == hit.relevance * share


@given(ROWS, PEOPLE)
def test_whom_the_question_names_is_lifted_within_bounds(dense, people):
    """Hits about the people named gain at most 0.15 of their score, others are unchanged, and none is dropped."""
    before = {hit.event.id: hit for hit in fused(dense, None, 0.5) if hit.relevance > 0.0}
    after = weighed([*before.values()], (), people)
    assert {hit.event.id for hit in after} == set(before)
    for hit in after:
        score = hit.relevance
        assert score <= hit.score <= score * (1 + NAMED) * (1 + 1e-9)
        if not people & {hit.event.sender_id, *hit.event.subjects}:
            assert hit.score == score


@given(ROWS, st.builds(Decay, st.floats(1e-300, 1e300), st.floats(0, 10), SCORES), INSTANTS)
def test_newness_lifts_within_bounds(dense, decay, now):
    """Newness only raises scores, and by the boost at most, whatever the clock says."""
    for hit in weighed(fused(dense, None, 0.5), (), frozenset(), decay, now):
        assert hit.relevance <= hit.score <= hit.relevance * (1 + decay.boost) * (1 + 1e-9)
        if hit.relevance < decay.floor:
            assert hit.score == hit.relevance
