"""Searching with two legs."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta
from typing import ClassVar

import pytest

from cognitive_memory_core.domain.hit import Reading
from cognitive_memory_core.domain.interval import Interval
from cognitive_memory_core.errors import PermanentError, TransientError, UnavailableError
from cognitive_memory_core.recall.query import Query
from cognitive_memory_core.recall.retriever import MAX_CANDIDATES, MAX_RESULTS, Found, Retriever
from cognitive_memory_core.settings import Decay, Live, QuerySettings, Settings
from cognitive_memory_core.text.terms import query_terms
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_message, an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ports import Away, CountingEmbedder, ListedEvents, ListedVectors, ListedWords

TEA = an_event("阿棠(2000001) 喜欢乌龙茶", id="tea")
HILL = an_event("大家周六去爬山", id="hill")
GONE = an_event("阿棠(2000001) 喜欢红茶", id="gone", retired_at=NOON)
FOREIGN = an_event("阿棠(2000001) 喜欢桌游", OTHER_GROUP, id="foreign")
ASKED = Query("阿棠喜欢什么茶", tuple(query_terms("阿棠喜欢什么茶")))


def a_retriever(events=None, words=None, vectors=None, embedder=None, **query):
    """Make a retriever over stand-ins that hold TEA and HILL."""
    return Retriever(
        events or ListedEvents(TEA, HILL, GONE, FOREIGN),
        words or ListedWords([(TEA, 3.0)]),
        vectors or ListedVectors(("hill", 0.6), ("tea", 0.5)),
        embedder or CountingEmbedder(),
        Live(Settings(query=QuerySettings(lexical_weight=0.5, diversity=0.0, **query))),
        FrozenClock(),
    )


async def search(retriever, reading=None, *, query=ASKED, top_k=5, decay=None, floor=0.0):
    """Search in the group."""
    return await retriever.search(reading or Reading(GROUP), query, top_k=top_k, decay=decay, floor=floor)


def ids(found):
    """Name what was found."""
    return [hit.event.id for hit in found.hits]


async def test_both_legs_are_joined():
    """What words and meaning both say comes before what meaning alone says."""
    found = await search(a_retriever())
    assert ids(found) == ["tea", "hill"]
    assert found.degraded == ()
    assert found.hits[0].similarity == pytest.approx(0.5)
    assert found.hits[0].lexical > 0


@pytest.mark.parametrize("error", [UnavailableError("away"), TransientError("busy"), PermanentError("bad key")])
@pytest.mark.parametrize(
    ("part", "left", "word"),
    [
        ("embedder", ["tea"], "embedding"),
        ("vectors", ["tea"], "vectors"),
        ("events", ["tea"], "ledger"),
        ("words", ["hill", "tea"], "lexical"),
    ],
)
async def test_each_leg_may_be_away(part, left, word, error):
    """Whatever fails, the other leg carries on alone, and the missing part is named."""
    found = await search(a_retriever(**{part: Away(error)}))
    assert (ids(found), found.degraded) == (left, (word,))


async def test_everything_away_finds_nothing():
    """Without any store or model the answer is empty and says why."""
    found = await search(a_retriever(Away(), Away(), Away(), Away()))
    assert found == Found((), ("embedding", "lexical"))


async def test_a_useless_vector_is_an_embedding_that_failed():
    """A NaN never reaches the index of vectors."""
    vectors = ListedVectors(("hill", 0.6))
    found = await search(a_retriever(vectors=vectors, embedder=CountingEmbedder((float("nan"), 1.0))))
    assert (ids(found), found.degraded, vectors.limits) == (["tea"], ("embedding",), [])


async def test_a_foreign_or_retired_row_is_never_shown():
    """Whatever a store answers, every row passes the reading once more."""
    words = ListedWords([(FOREIGN, 9.0), (GONE, 9.0), (TEA, 1.0)])
    vectors = ListedVectors(("foreign", 0.99), ("gone", 0.98), ("tea", 0.5))
    assert ids(await search(a_retriever(words=words, vectors=vectors))) == ["tea"]
    assert ids(await search(a_retriever(words=words, vectors=vectors), Reading(replace(PRIVATE, user_id="9")))) == []


async def test_people_left_out_are_left_out():
    """Neither leg shows what somebody said who opted out."""
    assert ids(await search(a_retriever(), Reading(GROUP, without=frozenset({GROUP.user_id})))) == []


async def test_a_vector_of_a_lost_event_is_passed_over():
    """An id that the ledger does not know is no hit and no error."""
    found = await search(a_retriever(vectors=ListedVectors(("lost", 0.9), ("tea", 0.5))))
    assert (ids(found), found.degraded) == (["tea"], ())


@pytest.mark.parametrize(
    ("top_k", "multiplier", "asked"),
    [(5, 3, 15), (MAX_RESULTS, 1, MAX_RESULTS), (10**9, 1, MAX_RESULTS), (10**9, 10**9, MAX_CANDIDATES)],
)
async def test_candidates_are_more_than_asked_for_and_bounded(top_k, multiplier, asked):
    """Each leg gives ``top_k * rerank_candidate_multiplier``, however huge the numbers a model sends."""
    words, vectors = ListedWords(), ListedVectors()
    await search(a_retriever(words=words, vectors=vectors, rerank_candidate_multiplier=multiplier), top_k=top_k)
    assert [limit for _, _, limit in words.asked] == vectors.limits == [asked]


@pytest.mark.parametrize("top_k", [0, -3])
async def test_asking_for_nothing_asks_nobody(top_k):
    """With top_k of 0 or less no store or model is troubled."""
    embedder = CountingEmbedder()
    assert await search(a_retriever(embedder=embedder), top_k=top_k) == Found()
    assert embedder.asked == []


async def test_a_question_without_a_word_finds_nothing():
    """Punctuation alone recalls nothing, and nothing is missing either."""
    embedder = CountingEmbedder()
    assert await search(a_retriever(embedder=embedder), query=Query("？？？\n群聊 读书会 阿棠")) == Found()
    assert embedder.asked == []


async def test_where_and_who_are_for_models_only():
    """A model gets the line of context with a short question; hashed characters get the question alone."""
    query = Query("茶呢\n群聊 读书会 阿棠", ("茶呢",), None, "茶呢")
    for name, text in (("", "茶呢"), ("bge-m3", "茶呢\n群聊 读书会 阿棠")):
        embedder = CountingEmbedder()
        settings = Live(Settings.from_mapping({"models": {"embedding": {"model_name": name}}}))
        await search(
            Retriever(ListedEvents(), ListedWords(), ListedVectors(), embedder, settings, FrozenClock()), query=query
        )
        assert embedder.asked == [text]


class WatchedReading(Reading):
    """A reading that remembers on which threads it was asked."""

    threads: ClassVar[set[int]] = set()

    def admits(self, event):
        """Remember the thread."""
        self.threads.add(threading.get_ident())
        return super().admits(event)


async def test_ranking_many_leaves_the_event_loop():
    """A few candidates are ranked at once, hundreds are ranked on another thread."""
    here = threading.get_ident()
    for count, off_the_loop in ((3, False), (200, True)):
        WatchedReading.threads.clear()
        words = ListedWords([(an_event(f"茶{number}"), 1.0) for number in range(count)])
        await search(a_retriever(words=words), WatchedReading(GROUP), top_k=100)
        assert (WatchedReading.threads != {here}) == off_the_loop


async def test_top_k_is_a_cap():
    """Never more hits than asked for."""
    assert ids(await search(a_retriever(), top_k=1)) == ["tea"]


async def test_the_floor_keeps_the_irrelevant_out():
    """What is less relevant than the floor is not found."""
    assert ids(await search(a_retriever(), floor=0.31)) == ["tea"]


async def test_equal_texts_are_found_once():
    """The same statement learned twice is one hit."""
    twin = replace(TEA, id="twin")
    words = ListedWords([(TEA, 3.0), (twin, 3.0)])
    assert ids(await search(a_retriever(words=words))) == ["tea", "hill"]


async def test_time_named_and_newness_order_the_hits():
    """The window of the question and the decay both have their say."""
    old = replace(TEA, id="old", text="阿棠去年喜欢白茶", happened_at=NOON - timedelta(days=400))
    words = ListedWords([(TEA, 3.0), (old, 3.0)])
    retriever = a_retriever(words=words, vectors=ListedVectors())
    past = replace(ASKED, window=Interval(NOON - timedelta(days=500), NOON - timedelta(days=300)))
    assert ids(await search(retriever)) == ["tea", "old"]
    assert ids(await search(retriever, query=past)) == ["old", "tea"]
    lifted = await search(retriever, decay=Decay(14.0, 0.2, 0.0))
    assert lifted.hits[0].score == pytest.approx(lifted.hits[0].relevance * 1.2)


async def test_the_two_legs_run_at_once():
    """The words are looked up while the embedder still thinks."""
    embedder, words = CountingEmbedder(), ListedWords([(TEA, 3.0)])
    embedder.may_answer.clear()
    searching = asyncio.create_task(search(a_retriever(embedder=embedder, words=words)))
    for _ in range(5):
        await asyncio.sleep(0)
    assert words.asked
    embedder.may_answer.set()
    assert ids(await searching) == ["tea", "hill"]


async def test_a_cancelled_search_ends():
    """Whoever gives up is not held by a model that hangs."""
    embedder = CountingEmbedder()
    embedder.may_answer.clear()
    searching = asyncio.create_task(search(a_retriever(embedder=embedder)))
    await asyncio.sleep(0)
    searching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await searching
    embedder.may_answer.set()


async def test_messages_are_found_as_events_of_their_own_kind():
    """A hit on the log has the message's id, and is scored by its words, its time and its age."""
    said, other = a_message("我喜欢乌龙茶", id="m1"), a_message("我喜欢爬山", id="m2")
    foreign = a_message("我喜欢乌龙茶", OTHER_GROUP, id="m3")
    words = ListedWords(messages=[(foreign, 9.0), (said, 3.0), (other, 2.0)])
    reading = Reading(GROUP, kinds=("message",))
    found = await a_retriever(words=words).messages(reading, Query("乌龙茶", ("乌龙", "龙茶", "喜欢")), top_k=5)
    assert ids(found) == ["m1", "m2"]
    assert {hit.event.kind for hit in found.hits} == {"message"}
    assert found.hits[0].score == found.hits[0].relevance == found.hits[0].lexical > found.hits[1].score


async def test_messages_without_their_index_are_missing():
    """An index that is away is named; asking for nothing, or without a word, names nothing."""
    retriever = a_retriever(words=Away())
    assert await retriever.messages(Reading(GROUP), ASKED, top_k=5) == Found((), ("lexical",))
    assert await retriever.messages(Reading(GROUP), ASKED, top_k=0) == Found()
    assert await retriever.messages(Reading(GROUP), Query("？"), top_k=5) == Found()
