"""Tests of searching events by words and by meaning."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from cognitive_memory_core.domain.interval import Interval
from cognitive_memory_core.domain.read_filter import NAMED, NARROWED, ReadFilter
from cognitive_memory_core.errors import BadArgument, PermanentError, TransientError, UnavailableError
from cognitive_memory_core.models.caller_models import CallerEmbedder
from cognitive_memory_core.models.embedding_queue import EmbeddingQueue
from cognitive_memory_core.recall.one_pass import Question
from cognitive_memory_core.recall.query import Query
from cognitive_memory_core.recall.ranking import MAX_CANDIDATES, MAX_RESULTS
from cognitive_memory_core.recall.recall import LONG, SearchResult
from cognitive_memory_core.settings import Live, QuerySettings, Settings
from cognitive_memory_core.text.terms import query_terms
from tests.support.builders import GROUP, OTHER_GROUP, an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import MODEL, a_ledger, a_vector, embedded
from tests.support.ports import Away, CountingEmbedder, ListedEvents, ListedVectors, ListedWords, a_recall, direct

TEA = an_event("阿棠(2000001) 喜欢乌龙茶", id="tea")
HILL = an_event("大家周六去爬山", id="hill")
GONE = an_event("阿棠(2000001) 喜欢红茶", id="gone", retired_at=NOON)
FOREIGN = an_event("阿棠(2000001) 喜欢桌游", OTHER_GROUP, id="foreign")
ASKED = Query("阿棠喜欢什么茶", tuple(query_terms("阿棠喜欢什么茶")))


def a_retriever(
    events=None, words=None, vectors=None, embedder=None, *, reranker=None, ledger=None, settings=None, **query
):
    """Return a recall over test doubles that hold TEA and HILL."""
    patience = query.pop("patience", 5.0)
    return a_recall(
        ledger,
        embedder,
        Live(settings or Settings(query=QuerySettings(lexical_weight=0.5, diversity=0.0, **query))),
        events=events or ListedEvents(TEA, HILL, GONE, FOREIGN),
        words=words or ListedWords([(TEA, 3.0)]),
        vectors=vectors or ListedVectors((HILL, 0.6), (TEA, 0.5)),
        reranker=reranker,
        patience=patience,
    )


async def search(retriever, read_filter=None, *, query=ASKED, top_k=5, decay=None, floor=0.0):
    """Search the events of the group alone."""
    settings = retriever._settings.current
    question = Question(retriever.sources, read_filter or ReadFilter(GROUP), query, settings)
    question.missing = {"words": "lexical", "vectors": "vectors"}

    def steps():
        question.hits = yield from question._events(top_k, decay, floor, {})

    await retriever._answered(question, steps())
    return SearchResult(tuple(question.hits), question.degraded)


def ids(found):
    """Return the ids of the hits."""
    return [hit.event.id for hit in found.hits]


async def test_both_legs_are_joined():
    """An event found by words and meaning comes before one found by meaning alone."""
    found = await search(a_retriever())
    assert ids(found) == ["tea", "hill"]
    assert found.degraded == ()
    assert found.hits[0].similarity == pytest.approx(0.5)
    assert found.hits[0].lexical > 0


@pytest.mark.parametrize("error", [UnavailableError("away"), TransientError("busy"), PermanentError("bad key")])
@pytest.mark.parametrize(
    ("part", "left", "word"),
    [("embedder", ["tea"], "embedding"), ("vectors", ["tea"], "vectors"), ("words", ["hill", "tea"], "lexical")],
)
async def test_each_leg_may_be_away(part, left, word, error):
    """If one search fails, the other continues, and the missing part is named."""
    found = await search(a_retriever(**{part: Away(error)}))
    assert (ids(found), found.degraded) == (left, (word,))


async def test_a_useless_vector_is_an_embedding_that_failed():
    """A vector with NaN counts as a failed embedding and never reaches the vector index."""
    vectors = ListedVectors((HILL, 0.6))
    given = CallerEmbedder(CountingEmbedder((float("nan"), 1.0)))
    embedder = EmbeddingQueue(given, FrozenClock(), Live(CountingEmbedder.calibration))
    found = await search(a_retriever(vectors=vectors, embedder=embedder))
    assert (ids(found), found.degraded, vectors.limits) == (["tea"], ("embedding",), [])


@pytest.mark.parametrize(
    ("top_k", "multiplier", "asked"),
    [(5, 3, 15), (MAX_RESULTS, 1, MAX_RESULTS), (10**9, 1, MAX_RESULTS), (10**9, 10**9, MAX_CANDIDATES)],
)
async def test_candidates_are_more_than_asked_for_and_bounded(top_k, multiplier, asked):
    """Each search fetches ``top_k * rerank_candidate_multiplier`` rows, within a limit."""
    words, vectors = ListedWords(), ListedVectors()
    await search(a_retriever(words=words, vectors=vectors, rerank_candidate_multiplier=multiplier), top_k=top_k)
    assert [limit for _, _, limit in words.asked] == vectors.limits == [asked]


@pytest.mark.parametrize("top_k", [0, -3])
async def test_asking_for_nothing_asks_nobody(top_k):
    """With ``top_k`` of 0 or less no store or model is called."""
    embedder = CountingEmbedder()
    assert await search(a_retriever(embedder=embedder), top_k=top_k) == SearchResult()
    assert embedder.asked == []


async def test_a_question_without_a_word_finds_nothing():
    """A question without a word finds nothing, and nothing is reported as missing."""
    embedder = CountingEmbedder()
    assert await search(a_retriever(embedder=embedder), query=Query("？？？\n群聊 读书会 阿棠")) == SearchResult()
    assert embedder.asked == []


async def test_where_and_who_are_for_models_only():
    """A model embeds a short question with its place and people, and the hashing embedder only the question."""
    query = Query("茶呢\n群聊 读书会 阿棠", ("茶呢",), (), "茶呢")
    for name, text in (("", "茶呢"), ("bge-m3", "茶呢\n群聊 读书会 阿棠")):
        embedder = CountingEmbedder()
        settings = Live(Settings.from_mapping({"models": {"embedding": {"model_name": name}}}))
        stores = {"events": ListedEvents(), "words": ListedWords(), "vectors": ListedVectors()}
        await search(a_recall(None, embedder, settings, **stores), query=query)
        assert embedder.asked == [text]


@pytest.mark.parametrize(("cosine", "found"), [(0.4, []), (0.7, ["hill"])])
async def test_with_a_model_what_shares_no_word_must_be_near_in_meaning(cosine, found):
    """With an embedding model a query whose words nobody said finds events that are near in meaning, and only those."""
    settings = Settings.from_mapping({"models": {"embedding": {"model_name": "some"}}})
    retriever = a_retriever(words=ListedWords([]), vectors=ListedVectors((HILL, cosine)), settings=settings)
    assert ids(await search(retriever, query=Query("asdfqwer", ("asdfqwer",)))) == found


async def test_the_floor_keeps_the_irrelevant_out():
    """Events below the floor are not found."""
    assert ids(await search(a_retriever(), floor=0.31)) == ["tea"]


async def test_equal_texts_are_found_once():
    """Two events with the same statement are one hit."""
    twin = replace(TEA, id="twin")
    words = ListedWords([(TEA, 3.0), (twin, 3.0)])
    assert ids(await search(a_retriever(words=words))) == ["tea", "hill"]


async def test_words_are_searched_while_the_question_is_embedded():
    """A model that is slow delays neither the search by words nor its result beyond the time limit."""
    embedder, words = CountingEmbedder(), ListedWords([(TEA, 3.0)])
    embedder.may_answer.clear()
    found = await search(a_retriever(embedder=embedder, words=words, patience=0.2))
    assert words.asked
    assert (ids(found), found.degraded) == (["tea"], ("embedding",))
    embedder.may_answer.set()


async def test_a_cancelled_search_ends():
    """A search can be cancelled while a model hangs."""
    embedder = CountingEmbedder()
    embedder.may_answer.clear()
    searching = asyncio.create_task(search(a_retriever(embedder=embedder)))
    await asyncio.sleep(0)
    searching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await searching
    embedder.may_answer.set()


THEN = Interval(NOON - timedelta(days=31), NOON - timedelta(days=29))


async def a_crowd(*inside):
    """Return a ledger of three hundred good matches of today and some events that match less."""
    ledger = a_ledger()
    ledger.corpora.follow(MODEL)
    crowd = [an_event(f"阿棠喜欢什么茶{number}", id=f"c{number}", sender_id="2000002") for number in range(300)]
    await embedded(
        ledger, [*((event, a_vector(1.0, 0.0)) for event in crowd), *((one, a_vector(0.99, 0.141)) for one in inside)]
    )
    return ledger


LONGER = an_event("阿棠喜欢什么茶，这事说来话长", id="longer")
OLD, ELSEWHOSE = replace(LONGER, happened_at=NOON - timedelta(days=30)), replace(LONGER, sender_id="2000007")


@pytest.mark.parametrize("leg", ["vectors", "words"])
@pytest.mark.parametrize(
    ("inside", "named"),
    [(OLD, {"windows": (THEN,)}), (ELSEWHOSE, {"people": frozenset({"2000007"})})],
    ids=["time", "person"],
)
async def test_what_the_question_names_is_not_crowded_out(leg, inside, named):
    """An event of the named time or person is found behind any number of better matches."""
    ledger = await a_crowd(inside)
    legs = {"words": ListedWords(), "vectors": ledger.corpora}
    legs = {"words": ledger.corpora, "vectors": ListedVectors()} if leg == "words" else legs
    retriever = a_retriever(ledger=ledger, **legs)
    assert "longer" not in ids(await search(retriever))
    found = await search(retriever, query=replace(ASKED, **named))
    assert (ids(found)[0], found.degraded) == ("longer", ())
    assert len(found.hits) == 5


class Matching(ListedWords):
    """A word index that returns those of its rows that the read filter admits."""

    def found_events(self, connection, terms, read_filter, limit):
        """Return the admitted rows."""
        self.asked.append((terms, read_filter, limit))
        return [row for row in self._events if read_filter.admits(row[0])][:limit]


PEOPLE = frozenset(f"300000{number}" for number in range(9))


@pytest.mark.parametrize(
    ("many", "inside", "top_k", "calls"),
    [(14, 0, 5, 1), (20, 0, 5, 2), (20, 4, 5, 2), (20, 5, 5, 1), (600, NARROWED - 1, 200, 2), (600, NARROWED, 200, 1)],
)
async def test_more_is_asked_for_only_where_something_may_be_missing(many, inside, top_k, calls):
    """A second search runs only if the first was cut off and has too few rows of the named time or person."""
    senders = ["2000007"] * inside + ["2000002"] * (many - inside)
    rows = [(an_event(f"茶{at}", id=f"e{at}", sender_id=sender), 3.0) for at, sender in enumerate(senders)]
    for people, asked in (({"2000007"}, calls), (set(), 1)):
        words = Matching(rows)
        await search(a_retriever(words=words), query=replace(ASKED, people=frozenset(people)), top_k=top_k)
        assert len(words.asked) == asked


async def test_what_is_asked_for_more_is_bounded_and_narrower():
    """Additional searches cover the time and at most three people, forty rows each, without repetition."""
    rows = [(an_event(f"茶{number}", id=f"e{number}"), 3.0) for number in range(MAX_CANDIDATES + 1)]
    asked = replace(ASKED, windows=(THEN,), people=PEOPLE)
    for read_filter, readings in (
        (ReadFilter(GROUP), 2 + NAMED),
        (ReadFilter(GROUP, window=Interval(NOON - timedelta(days=99), NOON + timedelta(days=1))), 1 + NAMED),
        (ReadFilter(GROUP, user_id=GROUP.user_id), 2),
    ):
        words = Matching(rows)
        await search(a_retriever(words=words, rerank_candidate_multiplier=99), read_filter, query=asked, top_k=200)
        assert len(words.asked) == len({one for _, one, _ in words.asked}) == readings
        assert [limit for _, _, limit in words.asked] == [MAX_CANDIDATES] + [NARROWED] * (readings - 1)
        assert all(
            replace(one, window=read_filter.window, user_id=read_filter.user_id) == read_filter
            for _, one, _ in words.asked
        )


async def test_a_leg_that_fails_on_the_way_keeps_what_it_has():
    """If an additional search fails, the rows found so far are kept and the part is named."""

    class Failing(Matching):
        def found_events(self, connection, terms, read_filter, limit):
            if read_filter.window is not None:
                raise UnavailableError("away")
            return super().found_events(connection, terms, read_filter, limit)

    rows = [(an_event(f"阿棠喜欢什么茶{number}", id=f"e{number}"), 3.0) for number in range(20)]
    retriever = a_retriever(words=Failing(rows), vectors=ListedVectors())
    found = await search(retriever, query=replace(ASKED, windows=(THEN,)))
    assert (len(found.hits), found.degraded) == (5, ("lexical",))


class Judge:
    """A reranker that returns listed scores or raises, and records its calls."""

    def __init__(self, answer):
        """Use scores by text, a list of scores, or an error."""
        self.answer = answer
        self.asked = []

    async def scores(self, query, texts):
        """Record the call and answer."""
        self.asked.append((query, list(texts)))
        if isinstance(self.answer, Exception):
            raise self.answer
        if isinstance(self.answer, asyncio.Event):
            await self.answer.wait()
        return [self.answer[text] for text in texts] if isinstance(self.answer, dict) else self.answer


@pytest.mark.parametrize("settings", [{"enable_rerank": False}, {"rerank_candidate_multiplier": 1}])
async def test_a_reranker_is_not_asked_in_vain(settings):
    """The reranker is not called if switched off, without hits, or without more candidates than hits."""
    judge = Judge([])
    await search(a_retriever(reranker=judge, **settings))
    await search(a_retriever(reranker=judge, words=ListedWords(), vectors=ListedVectors()))
    assert judge.asked == []


async def test_whom_the_question_names_comes_first():
    """Of two statements that match equally, the one by the named person comes first, and the other is kept."""
    mine, yours = (an_event(f"喜欢{tea}茶", id=tea, sender_id=who) for tea, who in (("红", "1"), ("绿", "2")))
    words = ListedWords([(mine, 3.0), (yours, 3.0)])
    for person, order in (("1", ["红", "绿"]), ("2", ["绿", "红"])):
        query = replace(ASKED, people=frozenset({person}))
        assert ids(await search(a_retriever(words=words, vectors=ListedVectors()), query=query)) == order


WHO = Query("我是谁", ("我是", "是谁"), (), "我是谁", True, frozenset({"2000001"}))


class KnownEvents(ListedEvents):
    """A ledger that also lists the newest events and records its calls."""

    def __init__(self, *events, error=None):
        """Hold these events; raise the error when listing."""
        super().__init__(*events)
        self.listed = events
        self.error = error
        self.asked = []

    @direct
    def recent(self, _, read_filter, limit, offset=0):
        """Return all events, including those that the reading does not admit."""
        self.asked.append(read_filter)
        if self.error:
            raise self.error
        return sorted(self.listed, key=lambda event: event.happened_at, reverse=True)[:limit]


NEW = replace(TEA, id="new", text="阿棠在学长笛", happened_at=NOON + timedelta(days=1))


async def test_who_somebody_is_is_answered_with_what_is_known():
    """An identity question finds the newest events of that person without a common word, above any floor."""
    ledger = KnownEvents(TEA, NEW, FOREIGN, GONE)
    retriever = a_retriever(ledger, ListedWords(), ListedVectors())
    found = await search(retriever, query=WHO, floor=0.15)
    assert (ids(found), found.degraded) == (["new", "tea"], ())
    assert [read_filter.user_id for read_filter in ledger.asked] == ["2000001"]


async def test_what_is_known_of_several_comes_newest_first():
    """For several people, the newest events of all come first."""

    class Books(KnownEvents):
        @direct
        def recent(self, _, read_filter, limit, offset=0):
            known = KnownEvents.recent.__wrapped__(self, _, read_filter, limit)
            return [event for event in known if read_filter.user_id == event.sender_id]

    late = replace(NEW, id="late", sender_id="2000002", text="小满在搬家")
    ledger = Books(replace(TEA, id="tea"), late)
    two = replace(WHO, people=frozenset({"2000001", "2000002"}))
    assert ids(await search(a_retriever(ledger, ListedWords(), ListedVectors()), query=two)) == ["late", "tea"]


async def test_what_is_found_by_words_stays_before_what_is_known():
    """Three good hits prevent the addition; fewer hits stay before the added events."""
    ledger = KnownEvents(TEA, NEW)
    rows = [(an_event(f"{name}是谁", id=name), 3.0) for name in ("甲", "乙", "丙")]
    assert len(ids(await search(a_retriever(ledger, ListedWords(rows), ListedVectors()), query=WHO))) == 3
    assert ledger.asked == []
    few = await search(a_retriever(ledger, ListedWords(rows[:1]), ListedVectors()), query=WHO)
    assert ids(few) == ["甲", "new", "tea"]


@pytest.mark.parametrize("query", [replace(WHO, asks_who=False), replace(WHO, people=frozenset())])
async def test_no_other_question_is_widened(query):
    """Events are added neither for another kind of question nor without a known person."""
    ledger = KnownEvents(TEA)
    assert ids(await search(a_retriever(ledger, ListedWords(), ListedVectors()), query=query)) == []
    assert ledger.asked == []


async def test_widening_never_leaves_the_target():
    """Added events obey the person and the kinds to which the search is narrowed."""
    ledger = KnownEvents(TEA)
    narrow = ReadFilter(GROUP, user_id="2000009", kinds=("event",))
    assert ids(await search(a_retriever(ledger, ListedWords(), ListedVectors()), narrow, query=WHO)) == []
    assert ledger.asked == [narrow]


async def test_a_ledger_that_cannot_list_is_named():
    """If listing fails, the found hits are returned and the ledger is named."""
    ledger = KnownEvents(TEA, error=UnavailableError("away"))
    found = await search(a_retriever(ledger, vectors=ListedVectors()), query=replace(WHO, terms=ASKED.terms))
    assert (ids(found), found.degraded) == (["tea"], ("ledger",))


async def test_a_long_question_is_read_off_the_event_loop():
    """A long question is parsed in another thread."""
    here, threads = threading.get_ident(), set()

    class Watched(str):
        __slots__ = ()

        def __getitem__(self, key):
            threads.add(threading.get_ident())
            return super().__getitem__(key)

    for length, off_the_loop in ((LONG, False), (LONG + 1, True)):
        threads.clear()
        await a_retriever()._asked(Watched("字" * length), GROUP)
        assert (threads != {here}) == off_the_loop


@pytest.mark.parametrize(("wide", "found", "asked"), [(True, 5, []), (True, 1, [15]), (False, 5, [15])])
async def test_a_wide_index_is_asked_where_there_are_too_many_vectors(wide, found, asked):
    """Where it finds too few, or exact search is fast enough, exact search answers; unknown ids are skipped."""
    index = ListedVectors((TEA, 0.5))
    index.is_wide = lambda connection, read_filter: wide
    events = ListedEvents(TEA, HILL)

    async def nearest(vector, read_filter, limit):
        return [("hill", 0.9), ("unknown", 0.8), *[("tea", 0.5)] * limit][: limit if found == 5 else found]

    retriever = a_retriever(events, ListedWords(), index)
    retriever.sources.wide = nearest
    hits = ids(await search(retriever))
    assert index.limits == asked
    assert hits == (["hill", "tea"] if not asked else ["tea"])


@pytest.mark.parametrize("error", [UnavailableError("away"), BadArgument("other length")])
async def test_a_wide_index_that_is_away_is_replaced_by_exact_search(error):
    """Exact search finds the same, only slower, so nothing is missing."""
    index = ListedVectors((TEA, 0.5))
    index.is_wide = lambda connection, read_filter: True
    retriever = a_retriever(vectors=index, words=ListedWords())

    async def nearest(vector, read_filter, limit):
        raise error

    retriever.sources.wide = nearest
    found = await search(retriever)
    assert (ids(found), found.degraded) == (["tea"], ())
