"""Tests of a rerank model over HTTP."""

from __future__ import annotations

import math

import pytest

from cognitive_memory_core.errors import BadAnswer, UnavailableError
from cognitive_memory_core.models.client import ModelClient
from cognitive_memory_core.models.reranking import http_scores
from cognitive_memory_core.settings.schema import RerankSettings
from tests.support import model_server
from tests.support.meters import ListedMeter
from tests.support.model_server import Behaviour, ModelServer, as_json

TEXTS = ["茶", "咖啡", "乌龙茶"]


async def scored(url: str, meter: ListedMeter | None = None, texts: list[str] = TEXTS) -> list[float]:
    """Score texts with a new reranker."""
    settings = RerankSettings(api_url=url, model_name="r")
    client = ModelClient(settings, "rerank", meter or ListedMeter())
    try:
        return await http_scores("r", client, "乌龙茶", texts, seconds=1.0)
    finally:
        await client.close()


def results(*pairs: tuple[object, object]) -> Behaviour:
    """Return a behaviour with these indexes and scores."""
    return as_json({"results": [{"index": index, "relevance_score": score} for index, score in pairs]})


@pytest.mark.parametrize("end", ["", "/", "/rerank"])
async def test_scores_stand_in_the_order_of_the_texts(server: ModelServer, end: str) -> None:
    """Each text gets its own score, however the answer is sorted and the address is written."""
    meter = ListedMeter()
    assert await scored(server.url + end, meter) == pytest.approx([1 / 3, 0.0, 1.0])
    assert server.asked[0].path == "/v1/rerank"
    assert server.asked[0].body == {"model": "r", "query": "乌龙茶", "documents": TEXTS, "top_n": 3}
    assert meter.calls == [("rerank", 9)]


@pytest.mark.parametrize(
    "behaviour",
    [
        results((0, 4.2)),
        results((0, math.nan)),
        results((0, "0.5")),
        results((0, True)),
        results((3, 0.5)),
        results((None, 0.5)),
        results((0, 0.5), (0, 0.6)),
        as_json({"results": None}),
        as_json({"results": ["x"]}),
        as_json([]),
        model_server.page,
    ],
)
async def test_bad_scores_are_refused(server: ModelServer, behaviour: Behaviour) -> None:
    """Scores out of range, wrong indexes and other formats raise BadAnswer."""
    server.rerank = behaviour
    with pytest.raises(BadAnswer):
        await scored(server.url)


@pytest.mark.parametrize("behaviour", [model_server.never, model_server.status(503), model_server.status(404)])
async def test_reranker_that_is_away_is_unavailable(server: ModelServer, behaviour: Behaviour) -> None:
    """A missing answer, an error and a missing endpoint raise UnavailableError in time."""
    server.rerank = behaviour
    with pytest.raises(UnavailableError):
        await scored(server.url)
