"""Tests of an embedding model over HTTP."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import pytest

from cognitive_memory_core.errors import BadAnswer, PermanentError, UnavailableError
from cognitive_memory_core.models.client import EMBEDDING_LIMIT, ModelClient
from cognitive_memory_core.models.embedding import OpenAIEmbedder
from cognitive_memory_core.settings.schema import EmbeddingSettings
from tests.support import model_server
from tests.support.meters import ListedMeter
from tests.support.model_server import DIMENSIONS, Behaviour, ModelServer, embeddings, vector_of, well

Made = Callable[..., OpenAIEmbedder]
TEXTS = ["我喜欢乌龙茶", "周五改到周六", "likes oolong 🍵"]


@pytest.fixture
async def made(server: ModelServer, meter: ListedMeter) -> AsyncIterator[Made]:
    """Return a function that makes embedders with the server, and close them at the end."""
    clients: list[ModelClient] = []

    def make(
        *, dimensions: int = 0, seconds: float = 5.0, asking_for: int | None = None, **settings: Any
    ) -> OpenAIEmbedder:
        given = EmbeddingSettings(api_url=server.url, model_name="m", dimensions=asking_for, **settings)
        clients.append(ModelClient(given, "embedding", meter, limit=EMBEDDING_LIMIT))
        embedder = OpenAIEmbedder(given, clients[-1], seconds=seconds, query_seconds=seconds)
        embedder.length = dimensions or embedder.length
        return embedder

    yield make
    for client in clients:
        await client.close()


@pytest.mark.parametrize(
    "change", [list, model_server.in_base64, lambda rows: rows[::-1]], ids=["list", "b64", "permuted"]
)
async def test_vectors_are_those_of_their_texts(
    server: ModelServer, made: Made, meter: ListedMeter, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
) -> None:
    """Each text gets its own unit vector, whatever the order and encoding of the answer."""
    server.embeddings = embeddings(change)
    vectors = await made().embed_documents(TEXTS)
    assert [vector.typecode for vector in vectors] == ["f"] * 3
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert list(vector) == pytest.approx(vector_of(text), abs=1e-6)
    assert meter.calls == [("embedding", 3)]


def with_vector(*numbers: object) -> Behaviour:
    """Return a behaviour with these numbers, filled up to the usual dimension."""
    return model_server.with_vector([*numbers, *[0.5] * (DIMENSIONS - len(numbers))])


BAD_ANSWERS: dict[str, Behaviour] = {
    "wrong dimension": embeddings(dimensions=DIMENSIONS // 2),
    "one of another length": model_server.with_vector([0.5] * 7),
    "nan": with_vector(math.nan),
    "inf": with_vector(math.inf),
    "1e39": with_vector(1e39),
    "zeros": model_server.with_vector([0.0] * DIMENSIONS),
    "next to nothing": model_server.with_vector([1e-40] * DIMENSIONS),
    "empty vector": model_server.with_vector([]),
    "null in vector": with_vector(None),
    "true in vector": with_vector(True),
    "vector is null": model_server.with_vector(None),
    "half a float in base64": model_server.with_vector("AAAA"),
    "a text of no base64": model_server.with_vector("向量"),
    "too few": embeddings(lambda rows: rows[:-1]),
    "too many": embeddings(lambda rows: [*rows, rows[0]]),
    "index twice": embeddings(lambda rows: [{**row, "index": 0} for row in rows]),
    "index out of range": embeddings(lambda rows: [{**row, "index": row["index"] + 1} for row in rows]),
    "index is true": embeddings(lambda rows: [rows[0], {**rows[1], "index": True}]),
    "no index": embeddings(lambda rows: [{"embedding": row["embedding"]} for row in rows]),
    "rows are numbers": model_server.as_json({"data": [1, 2]}),
    "data is null": model_server.as_json({"data": None}),
    "a list": model_server.as_json([]),
    "html": model_server.page,
    "empty body": model_server.raw(b""),
    "deep": model_server.raw(b"[" * 100_000),
    "no utf-8": model_server.raw(b'{"data": "\xff\xfe"}'),
}


@pytest.mark.parametrize("behaviour", BAD_ANSWERS.values(), ids=BAD_ANSWERS.keys())
async def test_bad_vectors_are_refused(
    server: ModelServer, made: Made, meter: ListedMeter, behaviour: Behaviour
) -> None:
    """An answer with one bad vector raises BadAnswer, and the call is counted."""
    server.embeddings = behaviour
    with pytest.raises(BadAnswer):
        await made(dimensions=DIMENSIONS).embed_documents(TEXTS[:2])
    assert len(meter.calls) == len(server.asked) == 1


async def test_first_good_answer_fixes_the_length(server: ModelServer, made: Made) -> None:
    """The first good answer fixes the vector length, and other lengths are refused."""
    embedder = made()
    server.embeddings = [embeddings(lambda rows: [], 5), embeddings(), embeddings(dimensions=DIMENSIONS * 2)]
    with pytest.raises(BadAnswer):
        await embedder.embed_query("茶")
    assert len(await embedder.embed_query("茶")) == DIMENSIONS
    with pytest.raises(BadAnswer, match=f"{DIMENSIONS * 2}.*{DIMENSIONS}"):
        await embedder.embed_query("茶")


def test_fingerprint_tells_spaces_apart() -> None:
    """Model, dimensions and instructions change the fingerprint; address, key and batch size do not."""

    def fingerprint(**settings: Any) -> str:
        given = EmbeddingSettings(**{"model_name": "m", **settings})
        return OpenAIEmbedder(given, ModelClient(given, "embedding", ListedMeter())).fingerprint

    different = [{}, {"model_name": "n"}, {"dimensions": 8}, {"query_instruction": "q"}, {"document_instruction": "q"}]
    assert len({fingerprint(**settings) for settings in different}) == len(different)
    elsewhere = fingerprint(api_url="http://example.com/v1", api_key="sk-canary", batch_size=3)
    assert fingerprint() == elsewhere == "m/native"


@pytest.mark.parametrize(
    ("behaviour", "calls"),
    [
        (well, 1),
        (embeddings(usage="many"), 1),
        (model_server.page, 1),
        (model_server.never, 1),
        (model_server.status(500), 0),
        (model_server.status(400), 0),
        (model_server.cut, 0),
    ],
)
async def test_what_may_have_to_be_paid_is_counted(
    server: ModelServer, made: Made, meter: ListedMeter, behaviour: Behaviour, calls: int
) -> None:
    """Answers and time-outs are counted; refused and unsent requests are not."""
    server.embeddings = behaviour
    with suppress(BadAnswer, UnavailableError, PermanentError):
        await made(seconds=1.0).embed_query("茶")
    assert len(meter.calls) == calls
