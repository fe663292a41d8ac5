"""Tests of searching events by words and by meaning."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from cognitive_memory_core.domain.instants import Interval
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.recall.one_pass import SearchPass
from cognitive_memory_core.recall.recall import SearchResult
from cognitive_memory_core.settings.schema import Live, QuerySettings, Settings
from cognitive_memory_core.text.query import Query
from cognitive_memory_core.text.terms import query_terms
from tests.support.builders import GROUP, OTHER_GROUP, an_event
from tests.support.clock import NOON
from tests.support.ledgers import MODEL, a_ledger, a_vector, embedded
from tests.support.ports import CountingEmbedder, ListedEvents, ListedVectors, ListedWords, a_recall, direct

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
    where, missing = read_filter or ReadFilter(GROUP), {"words": "lexical", "vectors": "vectors"}
    asked = SearchPass(retriever.sources, where, query, retriever._settings.current, NOON, missing=missing)

    def read(begun, on):
        begun.hits = [one.hit for one in begun.best_events(on, top_k, decay, floor)]

    found = await retriever._carried_out(asked, read)
    return SearchResult(tuple(found.hits), found.degraded)


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


WHO = Query("我是谁", ("我是", "是谁"), (), "我是谁", asks_who=True, people=frozenset({"2000001"}))


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


@pytest.mark.parametrize(
    ("wide", "found", "asked"), [(True, 5, []), (True, 1, [15]), (True, 0, [15]), (False, 5, [15])]
)
async def test_a_wide_index_is_asked_where_there_are_too_many_vectors(wide, found, asked):
    """Where it finds too few that the ledger still has, or exact search is fast enough, exact search answers."""
    index = ListedVectors((TEA, 0.5))
    index.is_wide = lambda connection, read_filter: wide
    events = ListedEvents(TEA, HILL)

    async def nearest(vector, read_filter, limit):
        first = ("hill", 0.9) if found else ("erased", 0.9)
        return [first, *[("tea", 0.5)] * limit][: found if found == 1 else limit]

    retriever = a_retriever(events, ListedWords(), index)
    retriever.sources.wide_index = nearest
    hits = ids(await search(retriever))
    assert index.limits == asked
    assert hits == (["hill", "tea"] if not asked else ["tea"])


class Judge:
    """A reranker that returns these scores."""

    def __init__(self, scores):
        """Take the scores, in the order of the texts."""
        self.scored, self.asked = scores, []

    async def scores(self, query, texts):
        """Return them."""
        self.asked.append(texts)
        return self.scored


async def test_a_reranker_decides_alone():
    """Its scores replace the relevance of what it was asked about, and what it puts below the floor is left out."""
    judge = Judge([0.1, 0.8])
    found = await search(a_retriever(reranker=judge), floor=0.3)
    assert judge.asked == [[TEA.text, HILL.text]]
    assert [(hit.event.id, hit.relevance) for hit in found.hits] == [("hill", 0.8)]
    assert found.degraded == ()
