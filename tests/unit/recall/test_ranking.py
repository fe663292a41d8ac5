"""Tests of each ranking step."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognitive_memory_core.recall.ranking import (
    Candidate,
    collapsed,
    diversified,
    followed,
    fused,
    weighed,
)
from cognitive_memory_core.settings.schema import Decay
from cognitive_memory_core.store.database.words import line_key
from tests.support.builders import PRIVATE, an_event
from tests.support.clock import NOON

NOBODY = frozenset[str]()
DECAY = Decay(half_life_days=10.0, boost=0.2, floor=0.35)


def a_hit(score, text="乌龙茶", **fields):
    """Return a candidate whose score equals its relevance."""
    return Candidate(an_event(text, **fields), score=score, relevance=score)


def texts(hits):
    """Return the texts of hits."""
    return [hit.event.text for hit in hits]


def test_relevance_is_the_weighted_sum_of_both_legs():
    """Relevance is the weighted sum of both searches, so that what both found comes first."""
    both, meant, worded = an_event("甲"), an_event("乙"), an_event("丙")
    hits = fused([(both, 0.8), (meant, 0.9)], [(both, 0.4), (worded, 0.6)], 0.25)
    assert texts(hits) == ["甲", "乙", "丙"]
    assert [hit.relevance for hit in hits] == pytest.approx([0.7, 0.675, 0.15])
    assert (hits[0].similarity, hits[0].lexical, hits[0].score) == (0.8, 0.4, hits[0].relevance)


def test_a_missing_leg_leaves_the_other_its_full_weight():
    """If one search is missing, the other has full weight; one that found nothing is not missing."""
    event = an_event()
    assert fused(None, [(event, 0.6)], 0.1)[0].relevance == pytest.approx(0.6)
    assert fused([(event, 0.6)], None, 0.9)[0].relevance == pytest.approx(0.6)
    assert fused([(event, 0.6)], [], 0.5)[0].relevance == pytest.approx(0.3)
    assert fused(None, None, 0.5) == []


def test_new_is_lifted_by_the_formula():
    """The score is relevance * (1 + boost * 0.5 ** (age / half_life))."""
    hit = a_hit(0.5, happened_at=NOON - timedelta(days=10))
    assert weighed([hit], (), NOBODY, DECAY, NOON)[0].score == pytest.approx(0.5 * 1.1)
    assert weighed([hit], (), NOBODY, None, NOON)[0].score == 0.5


def test_diversity_chooses_on_the_decayed_score():
    """Diversification uses the score after decay and time, so that it does not undo them."""
    old = a_hit(0.50, "旧的说法", happened_at=NOON - timedelta(days=365))
    new = a_hit(0.48, "另一件事", happened_at=NOON)
    assert texts(diversified(weighed([old, new], (), NOBODY, DECAY, NOON), 0.3, 2)) == ["另一件事", "旧的说法"]
    first = a_hit(0.9, "最像的", happened_at=NOON)
    assert texts(diversified(weighed([first, old, new], (), NOBODY, DECAY, NOON), 0.3, 3)) == [
        "最像的",
        "另一件事",
        "旧的说法",
    ]


def test_what_replaces_an_event_stands_before_it():
    """The event that replaces a found one is shown before it, once, and the old one is named as replaced."""
    old, new = an_event("周会周二开", id="old"), an_event("周会改到周四", id="new", replaces="old")
    last, tea = an_event("周会取消了", id="last", replaces="new"), an_event("乌龙茶", id="tea")
    assert followed([tea, old], [new], 8) == ([tea, new, old], frozenset({"old"}))
    assert followed([old, tea], [new, last], 8) == ([last, new, old, tea], frozenset({"old", "new"}))
    assert followed([new, old], [new], 8) == ([new, old], frozenset({"old"}))
    assert followed([old, tea], [new], 2) == ([new, old], frozenset({"old"}))
    assert followed([old], [], 8) == ([old], frozenset())


def test_an_event_whose_line_was_found_too_is_raised():
    """Two searches are two witnesses: a source line's score raises an event, never above 1, and changes no other."""
    told, alone = a_hit(0.3, "甲", message_ids=("1",)), a_hit(0.4, "乙", message_ids=("2",))
    lines = {line_key(told.event.scope.key, "1"): 0.5, line_key(PRIVATE.scope.key, "2"): 1.0}
    hits = weighed([alone, told], (), NOBODY, lines=lines)
    assert texts(hits) == ["甲", "乙"]
    assert [hit.score for hit in hits] == pytest.approx([0.65, 0.4])
    above_all = {line_key(told.event.scope.key, "1"): 3.0}
    assert [hit.score for hit in weighed([told], (), NOBODY, lines=above_all)] == pytest.approx([1.0])
    assert weighed([alone, told], (), NOBODY) == [alone, told]


def test_of_equally_good_ones_the_more_relevant_stays_first_at_every_instant():
    """Two events whose lines answer perfectly have equal scores, whatever their ages; their relevance orders them."""
    better, other = a_hit(0.7004, "茶", message_ids=("1",)), a_hit(0.6495, "咖啡", message_ids=("2",))
    lines = {line_key(better.event.scope.key, source): 1.0 for source in ("1", "2")}
    for seconds in range(200):
        now = NOON + timedelta(seconds=seconds)
        assert weighed([better, other], (), NOBODY, DECAY, now, lines)[0] is better


def test_equal_words_from_two_mouths_are_two():
    """我喜欢茶 from two people are two statements, and from one person one."""
    own = [a_hit(0.9, "我喜欢茶", sender_id=who, is_absolute=False) for who in ("1", "2", "1")]
    assert [hit.event.sender_id for hit in collapsed(own)] == ["1", "2"]
    lines = [a_hit(0.9, "我喜欢茶", sender_id=who, kind="message") for who in ("1", "2", "1")]
    assert [hit.event.sender_id for hit in collapsed(lines)] == ["1", "2"]
