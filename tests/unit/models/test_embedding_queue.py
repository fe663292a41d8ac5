"""Tests of the queue for embedding: questions first, documents in batches."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable, Sequence

import pytest

from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.models.breaker import MAX_FAILURES
from cognitive_memory_core.models.embedding import EmbeddingQueue
from cognitive_memory_core.ports import Calibration, Embedder, Vector
from tests.support.ledgers import a_ledger

TEXTS = [f"第{number}条" for number in range(1000)]


class Model:
    """A model that embeds when allowed; its reaction to texts may raise or take time."""

    fingerprint = "model/1"
    calibration = Calibration(0.0, 1.0)

    def __init__(self, react: Callable[[Sequence[str]], None] = lambda _: None) -> None:
        """Use this reaction."""
        self.react = react
        self.batches: list[list[str]] = []
        self.asked: list[str] = []
        self.stopped = 0
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.may_embed = asyncio.Event()
        self.may_embed.set()

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed documents once that is allowed."""
        self.batches.append(list(texts))
        await self._allowed(self.may_embed)
        self.react(texts)
        return [vector_of(text) for text in texts]

    async def embed_query(self, text: str) -> Vector:
        """Embed a question once that is allowed."""
        self.asked.append(text)
        await self._allowed(self.may_answer)
        self.react([text])
        return vector_of(text)

    async def _allowed(self, event: asyncio.Event) -> None:
        try:
            await event.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise


def vector_of(text: str) -> Vector:
    """Return a vector that depends on the text."""
    return array("f", (1.0, float(sum(text.encode()))))


def queued(model: Embedder, batch_size: int = 64) -> EmbeddingQueue:
    """Return a queue in front of a model."""
    return EmbeddingQueue(model, a_ledger().housekeeping, batch_size=batch_size)


async def settled() -> None:
    """Run all tasks until they wait."""
    for _ in range(30):
        await asyncio.sleep(0)


async def test_each_text_gets_its_own_vector_in_order() -> None:
    """A thousand texts are sent in batches of limited size, each once, and the vectors are in order."""
    model = Model()
    vectors = await queued(model).embed_documents(TEXTS)
    assert vectors == [vector_of(text) for text in TEXTS]
    assert sorted(text for batch in model.batches for text in batch) == sorted(TEXTS)
    assert max(map(len, model.batches)) == 64
    assert await queued(model).embed_documents([]) == []


async def test_a_question_overtakes_a_thousand_texts() -> None:
    """A question is sent at once, and no batch starts while it runs."""
    model = Model()
    queue = queued(model)
    model.may_embed.clear()
    model.may_answer.clear()
    waiting = asyncio.create_task(queue.embed_documents(TEXTS))
    await settled()
    assert len(model.batches) == 1
    asking = asyncio.create_task(queue.embed_query("问"))
    await settled()
    assert model.asked == ["问"]
    model.may_embed.set()
    await settled()
    assert len(model.batches) == 1
    model.may_answer.set()
    assert await asking == vector_of("问")
    assert len(await waiting) == 1000


async def test_a_caller_that_leaves_takes_its_texts_along() -> None:
    """The batch of a cancelled caller is cancelled, its other texts are never sent, and others' texts follow."""
    model = Model()
    queue = queued(model)
    model.may_embed.clear()
    leaving = asyncio.create_task(queue.embed_documents(TEXTS))
    await settled()
    leaving.cancel()
    await settled()
    assert (model.stopped, len(model.batches)) == (1, 1)
    model.may_embed.set()
    assert await queue.embed_documents(["三"]) == [vector_of("三")]


async def test_only_questions_pass_the_breaker() -> None:
    """An open breaker refuses questions but not documents."""

    def refuse(texts: Sequence[str]) -> None:
        if texts == ["一"]:
            raise UnavailableError("rests")

    model = Model(refuse)
    queue = queued(model)
    for _ in range(MAX_FAILURES + 1):
        with pytest.raises(UnavailableError):
            await queue.embed_query("一")
    assert len(model.asked) == MAX_FAILURES
    assert await queue.embed_documents(["二"]) == [vector_of("二")]
