"""Tests of the requests that reach embedding and rerank models over real HTTP, and of the use of their answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cognitive_memory_core import CognitiveMemory, Scene, Settings
from cognitive_memory_core.errors import UnavailableError
from tests.support import model_server
from tests.support.model_server import ModelServer
from tests.support.telling import READING, tell
from tests.support.waiting import PATIENCE, until

FACTS = [f"阿禾(2156083317)第 {number} 次在山脚读书会说起桂花糕" for number in range(1, 6)]
STORED = [f"机器人记：{fact}" for fact in FACTS]
BEST = STORED[3]
QUESTION = "阿禾在读书会上是怎么说桂花糕的来着，有人记得吗"  # long enough to be embedded without the lines before it
CALIBRATED_ON = "桌游局一般玩什么"


def with_models(server: ModelServer, *, rerank: bool = False, **embedding: str) -> Settings:
    """Return settings with an embedding model that has these keys, if there are any, and optionally a rerank model."""
    address = {"api_url": server.url, "model_name": "m"}
    models = {"embedding": {**address, **embedding}} if embedding else {}
    models |= {"rerank": address} if rerank else {}
    return Settings.from_mapping({"models": models, "vector_store": {"backend": "exact"}})


def asked_of(server: ModelServer, path: str) -> list[model_server.Asked]:
    """List the requests that reached an endpoint."""
    return [asked for asked in server.asked if asked.path.endswith(path)]


def preferring(text: str) -> model_server.Behaviour:
    """Return a behaviour that scores one text best and all others well."""
    return model_server.scores(lambda _, given: 0.9 if text in given else 0.5)


async def breakers(memory: CognitiveMemory) -> dict[str, str]:
    """Return the state of each circuit breaker."""
    return dict((await memory.status()).breakers)


async def test_instructions_lead_and_make_another_space(tmp_path: Path) -> None:
    """Instructions are prepended to their texts; changing one starts a new vector space, so all is embedded again."""
    async with ModelServer() as server:
        settings = with_models(server, query_instruction="问：", document_instruction="记：")
        async with CognitiveMemory.open(settings, tmp_path) as memory:
            await tell(memory, READING, *FACTS[:2])
            await memory.search_events(READING, QUESTION)
            assert {f"记：{text}" for text in STORED[:2]} < set(server.texts)
            assert f"问：{QUESTION}" in server.texts
        for other in ("问：", "查："):
            server.asked.clear()
            settings = with_models(server, query_instruction=other, document_instruction="记：")
            async with CognitiveMemory.open(settings, tmp_path) as memory:
                assert await memory.drain(PATIENCE)
                assert {f"记：{text}" for text in STORED[:2]}.issubset(server.texts) == (other != "问：")


async def test_a_model_is_calibrated_once(tmp_path: Path) -> None:
    """The first start embeds the shipped calibration pairs, the second does not; a start without the model retries."""
    async with ModelServer() as server:
        for times in (1, 1):
            async with CognitiveMemory.open(with_models(server, model_name="m"), tmp_path) as memory:
                await tell(memory, READING, FACTS[0])
                await until(lambda: CALIBRATED_ON in server.texts)
                await asyncio.sleep(0.3)
            assert server.texts.count(CALIBRATED_ON) == times
        server.embeddings = model_server.status(503)
        async with CognitiveMemory.open(with_models(server, model_name="other"), tmp_path):
            await until(lambda: any(asked.body["model"] == "other" for asked in server.asked))
        server.embeddings = model_server.well
        async with CognitiveMemory.open(with_models(server, model_name="other"), tmp_path) as memory:
            await until(lambda: server.texts.count(CALIBRATED_ON) == 2)


async def test_a_reranker_has_the_say(tmp_path: Path) -> None:
    """The text that the rerank model scores best comes first; a model that is switched off is not called."""
    async with ModelServer() as server:
        server.rerank = preferring(BEST)
        settings = with_models(server, rerank=True)
        async with CognitiveMemory.open(settings, tmp_path) as memory:
            await tell(memory, READING, *FACTS)
            hits = await memory.search_events(READING, QUESTION, top_k=2)
            assert hits[0].event.text == BEST
            assert (await breakers(memory))["rerank"] == "ready"
            (asked,) = asked_of(server, "/rerank")
            assert asked.body["query"] == QUESTION
            assert set(asked.body["documents"]) == set(STORED)
        off = settings.model_copy(update={"query": settings.query.model_copy(update={"enable_rerank": False})})
        async with CognitiveMemory.open(off, tmp_path) as memory:
            assert await memory.search_events(READING, QUESTION, top_k=2)
        assert len(asked_of(server, "/rerank")) == 1


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


class Reranker:
    """A custom reranker that prefers one text, or returns or raises what it was given."""

    def __init__(self, answer: Any = None) -> None:
        """Use this answer, or computed scores if there is none."""
        self.answer = answer
        self.asked = 0

    async def scores(self, query: str, texts: Sequence[str]) -> Any:
        """Score one text best, or give the fixed answer."""
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer or [0.9 if BEST in text else 0.5 for text in texts]


async def found(memory: CognitiveMemory, scene: Scene = READING) -> list[str]:
    """Return the texts that the question finds."""
    return [hit.event.text for hit in await memory.search_events(scene, QUESTION)]


async def test_a_reranker_can_be_handed_in(tmp_path: Path) -> None:
    """A reranker passed to open() replaces the configured one; whatever it raises or returns, results are returned."""
    async with ModelServer() as server:
        given = Reranker()
        async with CognitiveMemory.open(with_models(server, rerank=True), tmp_path, reranker=given) as memory:
            await tell(memory, READING, *FACTS)
            assert (await found(memory))[0] == BEST
            assert given.asked == 1
            assert "rerank" in await breakers(memory)
        assert asked_of(server, "/rerank") == []
    for bad in ([0.5], [7.5] * 5, [float("nan")] * 5, "12345", RuntimeError("x"), KeyError("x")):
        async with CognitiveMemory.open(with_models(server), tmp_path, reranker=Reranker(bad)) as memory:
            assert set(await found(memory)) == set(STORED)
            assert (await memory.context(READING, QUESTION)).degraded == ("rerank",)


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
