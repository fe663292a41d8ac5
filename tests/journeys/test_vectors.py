"""Tests that missing or rebuilt vectors reduce or slow down results, and never fail a search."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from cognitive_memory_core import (
    CognitiveMemory,
    EmbeddingSettings,
    ModelsSettings,
    Settings,
    Turn,
    VectorStoreSettings,
)
from cognitive_memory_core.memory.opened import Opened
from cognitive_memory_core.settings.schema import Live
from tests.support import model_server
from tests.support.model_server import Behaviour, ModelServer
from tests.support.telling import READING, tell
from tests.support.vector_stores import chroma_children
from tests.support.waiting import PATIENCE, until, until_not

EXACT = VectorStoreSettings(backend="exact")
FACTS = [f"阿禾第 {number} 次在山脚读书会说起桂花糕" for number in range(1, 6)]


def with_model(server: ModelServer, *, name: str = "bge-test", store: VectorStoreSettings = EXACT) -> Settings:
    """Return settings with an embedding model, and without a vector store unless one is given."""
    embedding = EmbeddingSettings.model_validate({"api_url": server.url, "api_key": "sk-canary", "model_name": name})
    return Settings(models=ModelsSettings(embedding=embedding), vector_store=store)


def numbers_of(requests: Iterable[model_server.Asked]) -> list[str]:
    """Return which facts were sent as events; a profile, which contains them too, is sent as several lines."""
    texts = [text for asked in requests for text in asked.texts if "\n" not in text]
    return sorted(number for text in texts for number in re.findall(r"第 ([1-5]) 次", text))


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(model_server.status(429, {"Retry-After": "0"}), id="429"),
        pytest.param(model_server.status(500), id="500"),
        pytest.param(model_server.page, id="HTML"),
        pytest.param(model_server.cut, id="connection cut"),
        pytest.param(model_server.cut_within, id="answer cut"),
        pytest.param(model_server.embeddings(dimensions=16), id="wrong dimension"),
        pytest.param(model_server.with_vector([float("nan")] * model_server.DIMENSIONS), id="NaN"),
        pytest.param(model_server.with_vector([0.0] * model_server.DIMENSIONS), id="zeros"),
        pytest.param(model_server.with_vector([1e39] * model_server.DIMENSIONS), id="too large"),
        pytest.param(model_server.with_vector([]), id="empty"),
        pytest.param(model_server.embeddings(lambda rows: rows[:-1]), id="fewer vectors"),
    ],
)
async def test_a_troubled_embedding_model_costs_no_memory(tmp_path: Path, bad: Behaviour) -> None:
    """Whatever the model answers, word search finds the event at once; vectors follow, each requested only once."""
    async with ModelServer() as server, CognitiveMemory.open(with_model(server), tmp_path) as memory:
        await tell(memory, READING, FACTS[0])
        server.embeddings = bad
        await memory.remember(Turn(READING, observations=FACTS[1:]))
        await until(lambda: _are_found(memory, 5))
        context = await memory.context(READING, "桂花糕有人说起过吗")
        assert "桂花糕" in context.text
        assert (await memory.status()).index_lag == 4
        server.embeddings, asked = model_server.well, len(server.asked)
        assert await memory.drain(PATIENCE)
        assert numbers_of(server.asked[asked:]) == ["2", "3", "4", "5"]
        await until_not(lambda: _degraded(memory))  # the breaker closes by itself after a while


async def test_a_wide_question_wakes_the_process_and_does_not_wait(tmp_path: Path) -> None:
    """A search too large for exact search is still answered exactly until the store process runs, then by it."""
    live = Live(Settings())
    engine = Opened(live, tmp_path)
    await engine.open_stores()
    ledger: Any = engine.ledger
    ledger.corpora.is_wide = lambda *_: True
    engine.compose()
    memory = CognitiveMemory()
    memory._begin(engine, None, background=True)
    try:
        await memory.remember(Turn(READING, observations=FACTS))
        await until(lambda: _is_behind(memory, 5))
        assert not chroma_children()
        assert await _are_found(memory, 5)
        await until(lambda: _is_awake(memory))
        assert await _are_found(memory, 5)
        assert len(chroma_children()) == 1
        assert (await memory.status()).index.behind == 0
    finally:
        await memory._end(engine)


async def _degraded(memory: CognitiveMemory) -> bool:
    return bool((await memory.context(READING, "桂花糕")).degraded)


async def _is_behind(memory: CognitiveMemory, rows: int) -> bool:
    return (await memory.status()).index.behind == rows


async def _is_awake(memory: CognitiveMemory) -> bool:
    return (await memory.status()).index.activity == "awake"


async def _are_found(memory: CognitiveMemory, count: int) -> bool:
    return len(await memory.search_events(READING, "桂花糕", top_k=20)) >= count
