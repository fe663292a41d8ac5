"""Tests of the requests that reach embedding and rerank models over real HTTP, and of the use of their answers."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cognitive_memory_core import CognitiveMemory, Settings
from cognitive_memory_core.errors import UnavailableError
from tests.support import model_server
from tests.support.model_server import ModelServer
from tests.support.telling import READING, tell
from tests.support.waiting import until

FACTS = [f"阿禾(2156083317)第 {number} 次在山脚读书会说起桂花糕" for number in range(1, 6)]
QUESTION = "阿禾在读书会上是怎么说桂花糕的来着，有人记得吗"  # long enough to be embedded without the lines before it
CALIBRATED_ON = "桌游局一般玩什么"


def with_models(server: ModelServer, *, rerank: bool = False, **embedding: str) -> Settings:
    """Return settings with an embedding model that has these keys, if there are any, and optionally a rerank model."""
    address = {"api_url": server.url, "model_name": "m"}
    models = {"embedding": {**address, **embedding}} if embedding else {}
    models |= {"rerank": address} if rerank else {}
    return Settings.from_mapping({"models": models, "vector_store": {"backend": "exact"}})


def is_calibrated(data_dir: Path) -> bool:
    """Return whether the ledger has a calibration."""
    with closing(sqlite3.connect(data_dir / "ledger.db")) as ledger:
        return ledger.execute("SELECT 1 FROM meta WHERE key LIKE 'calibration of %'").fetchone() is not None


async def breakers(memory: CognitiveMemory) -> dict[str, str]:
    """Return the state of each circuit breaker."""
    return dict((await memory.status()).breakers)


async def test_a_model_is_calibrated_once(tmp_path: Path) -> None:
    """The first start embeds the shipped calibration pairs, the second does not; a start without the model retries."""
    async with ModelServer() as server:
        for times in (1, 1):
            async with CognitiveMemory.open(with_models(server, model_name="m"), tmp_path) as memory:
                await tell(memory, READING, FACTS[0])
                await until(lambda: is_calibrated(tmp_path))
                await asyncio.sleep(0.3)  # a second request would come now
            assert server.texts.count(CALIBRATED_ON) == times
        server.embeddings = model_server.status(503)
        async with CognitiveMemory.open(with_models(server, model_name="other"), tmp_path):
            await until(lambda: any(asked.body["model"] == "other" for asked in server.asked))
        server.embeddings = model_server.well
        async with CognitiveMemory.open(with_models(server, model_name="other"), tmp_path) as memory:
            await until(lambda: server.texts.count(CALIBRATED_ON) == 2)


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(model_server.status(500), id="500"),
        pytest.param(model_server.page, id="HTML"),
        pytest.param(model_server.cut, id="cut"),
        pytest.param(model_server.scores(lambda *_: 7.5), id="logits"),
        pytest.param(model_server.as_json({"results": [{"index": 99, "relevance_score": 1.0}]}), id="foreign index"),
    ],
)
async def test_a_troubled_reranker_leaves_the_list_as_it_was(tmp_path: Path, bad: model_server.Behaviour) -> None:
    """Whatever a failing reranker answers, the result keeps the order it has without one, and the context names it."""
    async with ModelServer() as server:
        server.rerank = bad
        async with CognitiveMemory.open(with_models(server), tmp_path) as memory:
            await tell(memory, READING, *FACTS)
            plain = [hit.event.id for hit in await memory.search_events(READING, QUESTION)]
        async with CognitiveMemory.open(with_models(server, rerank=True), tmp_path) as memory:
            assert [hit.event.id for hit in await memory.search_events(READING, QUESTION)] == plain
            context = await memory.context(READING, QUESTION)
            assert "桂花糕" in context.text
            assert context.degraded == ("rerank",)


async def test_a_question_that_waits_when_the_memory_closes_is_answered(tmp_path: Path) -> None:
    """Closing does not wait for a model that hangs, and a question waiting for it is answered by word search."""
    async with ModelServer() as server:
        async with CognitiveMemory.open(with_models(server, model_name="m"), tmp_path) as memory:
            await tell(memory, READING, *FACTS)
            server.embeddings = model_server.never
            engine = memory._opened
            asking = asyncio.create_task(engine.embedder.embed_query("在吗"))
            await until(lambda: "在吗" in server.texts)
        (end,) = await asyncio.gather(asking, return_exceptions=True)
        assert isinstance(end, UnavailableError)
