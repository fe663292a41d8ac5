"""Tests of the queue for embedding: questions first, documents in batches, clean closing."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest

from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.models.client import EMBEDDING_LIMIT, ModelClient
from cognitive_memory_core.models.embedding import OpenAIEmbedder
from cognitive_memory_core.models.embedding_queue import AT_ONCE, SMALLEST, EmbeddingQueue
from cognitive_memory_core.ports import GUESS, Calibration, Vector
from cognitive_memory_core.settings import EmbeddingSettings, Live
from tests.support.clock import FrozenClock
from tests.support.meters import ListedMeter
from tests.support.model_server import DIMENSIONS, ModelServer, never, well

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


def queued(model: Model, clock: FrozenClock | None = None, batch_size: int = 64) -> EmbeddingQueue:
    """Return a queue in front of a model."""
    clock = clock or FrozenClock()
    return EmbeddingQueue(model, clock, Live(GUESS), batch_size=batch_size, elapsed=clock.elapsed)


async def warmed(model: Model, queue: EmbeddingQueue) -> None:
    """Let the queue learn that its model is fast; then block the model."""
    await queue.embed_documents(TEXTS[:SMALLEST])
    model.batches.clear()
    model.may_embed.clear()


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
    await warmed(model, queue)
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


async def test_a_model_that_takes_its_time_for_each_text_gets_small_batches() -> None:
    """A model that is slow per text gets small batches one at a time, so that questions wait little."""
    clock = FrozenClock()
    model = Model(lambda texts: clock.advance(seconds=0.03 * len(texts)))
    queue = queued(model, clock)
    await queue.embed_documents(TEXTS[:640])
    assert {len(batch) for batch in model.batches[4:]} == {SMALLEST}
    model.may_embed.clear()
    waiting = asyncio.create_task(queue.embed_documents(TEXTS[:640]))
    asked = len(model.batches)
    await settled()
    assert len(model.batches) == asked + 1
    model.may_embed.set()
    await waiting


async def test_a_caller_that_leaves_takes_its_texts_along() -> None:
    """The batch of a cancelled caller is cancelled, its other texts are never sent, and others' texts follow."""
    model = Model()
    queue = queued(model)
    await warmed(model, queue)
    leaving = asyncio.create_task(queue.embed_documents(TEXTS))
    await settled()
    leaving.cancel()
    await settled()
    assert (model.stopped, len(model.batches)) == (1, 1)
    model.may_embed.set()
    assert await queue.embed_documents(["三"]) == [vector_of("三")]


async def test_an_equal_question_is_answered_from_memory_for_a_minute() -> None:
    """An equal question within a minute is answered from the cache, and later sent again."""
    model, clock = Model(), FrozenClock()
    queue = queued(model, clock)
    await queue.embed_query("喝什么茶")
    clock.advance(seconds=59)
    await queue.embed_query("喝什么茶")
    assert model.asked == ["喝什么茶"]
    clock.advance(seconds=1)
    await queue.embed_query("喝什么茶")
    assert model.asked == ["喝什么茶"] * 2


async def test_questions_at_once_are_bounded() -> None:
    """At most eight questions are sent at once, and all are answered."""
    model = Model()
    queue = queued(model)
    model.may_answer.clear()
    asking = [asyncio.create_task(queue.embed_query(text)) for text in TEXTS[:50]]
    await settled()
    assert len(model.asked) == AT_ONCE
    model.may_answer.set()
    assert await asyncio.gather(*asking) == [vector_of(text) for text in TEXTS[:50]]


async def test_whoever_waits_when_it_closes_hears_so() -> None:
    """Closing raises UnavailableError to all callers, cancels all calls and sends nothing afterwards."""
    model = Model()
    queue = queued(model)
    await warmed(model, queue)
    model.may_answer.clear()
    waiting: list[asyncio.Task[Any]] = [asyncio.create_task(queue.embed_documents(texts)) for texts in (TEXTS, ["一"])]
    await settled()
    waiting += [asyncio.create_task(queue.embed_query(text)) for text in TEXTS[: AT_ONCE + 2]]
    await settled()
    await queue.close()
    ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(end) for end in ends] == [UnavailableError] * len(waiting)
    assert model.stopped == 1 + AT_ONCE
    assert len(asyncio.all_tasks()) == 1
    with pytest.raises(UnavailableError):
        await queue.embed_documents(["一"])
    with pytest.raises(UnavailableError):
        await queue.embed_query("一")
    await queue.close()


class Stubborn(Model):
    """A model that ignores cancellation."""

    async def _allowed(self, event: asyncio.Event) -> None:
        for _ in range(2):
            with suppress(asyncio.CancelledError):
                await event.wait()


async def test_an_embedder_that_cannot_be_stopped_holds_nobody() -> None:
    """Closing ends even if a model ignores cancellation, and its callers get an error at once."""
    model = Stubborn()
    model.may_embed.clear()
    model.may_answer.clear()
    queue = queued(model)
    asking, waiting = asyncio.create_task(queue.embed_query("问")), asyncio.create_task(queue.embed_documents(["一"]))
    await settled()
    await queue.close()
    ends = (asking.exception(), waiting.exception())
    assert [type(end) for end in ends] == [UnavailableError] * 2
    model.may_embed.set()
    model.may_answer.set()
    await settled()
    assert len(asyncio.all_tasks()) == 1


async def test_only_questions_pass_the_guard() -> None:
    """An open breaker refuses questions but not documents."""

    async def refuse(_: object) -> Vector:
        raise UnavailableError("rests")

    model = Model()
    queue = EmbeddingQueue(model, FrozenClock(), Live(GUESS), guard=refuse)
    with pytest.raises(UnavailableError):
        await queue.embed_query("一")
    assert model.asked == []
    assert await queue.embed_documents(["一"]) == [vector_of("一")]


async def test_a_question_overtakes_batches_on_the_wire(server: ModelServer, meter: ListedMeter) -> None:
    """A question reaches a real endpoint that hangs on a batch; closing ends all callers."""
    server.embeddings = lambda asked: well(asked) if asked.texts == ["问"] else never(asked)
    settings = EmbeddingSettings(api_url=server.url, model_name="m")
    client = ModelClient(settings, "embedding", meter, limit=EMBEDDING_LIMIT)
    queue = EmbeddingQueue(OpenAIEmbedder(settings, client), FrozenClock(), Live(GUESS))
    waiting = asyncio.create_task(queue.embed_documents(TEXTS))
    await server.is_asked(1)
    assert len(await queue.embed_query("问")) == DIMENSIONS
    assert len(server.asked) == 2
    await queue.close()
    await client.close()
    with pytest.raises(UnavailableError):
        await waiting
