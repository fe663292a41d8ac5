"""Properties of message search for arbitrary chats."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.store.search.lines import PAUSE, SHOWN, LineSearch, Reach
from cognitive_memory_core.text.query import Query
from cognitive_memory_core.text.terms import index_terms, query_terms
from tests.support.builders import GROUP, OTHER_GROUP, a_message
from tests.support.clock import NOON
from tests.support.ledgers import a_ledger
from tests.support.lines import found_in

WORDS = ("陶艺", "烘焙", "我去", "吧", "tea", "v2.3", "龍", "😀", "啊", " ")
TEXTS = st.lists(st.sampled_from(WORDS) | st.text(max_size=3), min_size=1, max_size=6).map("".join)
QUESTIONS = (
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)
    .map("".join)
    .map(lambda text: tuple(query_terms(text, characters=True)))
)
WEIGHTS = ("NEIGHBOUR", "REPLY", "TOPIC", "SUBSTANCE", "LABEL", "SINGLE")
WEIGHTINGS = st.dictionaries(st.sampled_from(WEIGHTS), st.just(0.0) | st.floats(1e-3, 10.0))


@st.composite
def talks(draw):
    """Return passages of two places: lines some minutes apart, some of them replies."""
    passages = []
    for scene in (GROUP, OTHER_GROUP):
        minutes, passage = 0, []
        for number in range(draw(st.integers(0, 8))):
            minutes += draw(st.sampled_from((1, 5, 30, 31, 90)))
            reply_to = draw(st.none() | st.integers(0, 9).map(lambda at: f"m{at}"))
            sent_at = NOON + timedelta(minutes=minutes)
            passage.append(a_message(draw(TEXTS), scene, sent_at, id=f"m{number}", reply_to=reply_to))
        passages.append(tuple(passage))
    return passages


@given(QUESTIONS, talks(), WEIGHTINGS)
def test_hits_are_bounded_and_in_order(terms, passages, weights):
    """Each line is found at most once, with relevance in (0, 1], and scores fall along the list."""
    hits = found_in(terms, passages, weights)
    places = [(hit.line.scene.scope, hit.line.id) for hit in hits]
    scores = [hit.relevance for hit in hits]
    assert len(set(places)) == len(places)
    assert set(places) <= {(line.scene.scope, line.id) for passage in passages for line in passage}
    assert all(math.isfinite(score) and 0.0 < score <= 1.0 for score in scores)
    assert scores == sorted(scores, reverse=True)


@given(QUESTIONS, talks())
def test_whoever_says_a_word_of_the_question_is_found(terms, passages):
    """Every line that shares a term with the query is found."""
    found = {(hit.line.scene.scope, hit.line.id) for hit in found_in(terms, passages)}
    for line in (line for passage in passages for line in passage):
        if not set(terms).isdisjoint(index_terms(line.text)):
            assert (line.scene.scope, line.id) in found


@given(talks())
def test_neighbours_stand_round_their_line(passages):
    """Neighbours are the adjacent lines of the same place, at most two on each side, without a pause between."""

    async def surrounded():
        ledger = a_ledger()
        said = [replace(line, text=f"{line.text} 都有") for passage in passages for line in passage]
        await ledger.log.append(said)
        everything = ReadFilter(Scene.operator())
        search = LineSearch(Query("", ("都有",)), everything, 99, NOON + timedelta(days=9), Reach(99, 0))
        lines = [*(await ledger.database.read(ledger.corpora.found_lines, search)).lines]
        assert len(lines) == len(said)
        await ledger.database.read(ledger.corpora.surround, lines, everything)
        return lines

    where = {(line.scene.scope, line.id): (passage, at) for passage in passages for at, line in enumerate(passage)}
    for hit in asyncio.run(surrounded()):
        passage, at = where[hit.line.key]
        start, stop = at, at + 1
        while start > max(at - SHOWN, 0) and _goes_on(passage, start):
            start -= 1
        while stop < min(at + SHOWN + 1, len(passage)) and _goes_on(passage, stop):
            stop += 1
        assert [line.id for line in hit.before] == [line.id for line in passage[start:at]]
        assert [line.id for line in hit.after] == [line.id for line in passage[at + 1 : stop]]
        replied = next((line.id for line in passage if line.id == hit.line.reply_to), None)
        assert (hit.replied and hit.replied.id) == replied


def _goes_on(passage, at):
    return passage[at].sent_at - passage[at - 1].sent_at <= PAUSE
