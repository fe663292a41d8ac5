"""Tests of wrappers around custom models."""

from __future__ import annotations

import asyncio
import math
import subprocess
import sys
from array import array
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from cognitive_memory_core.errors import BadAnswer, UnavailableError
from cognitive_memory_core.models.caller_models import CallerChat, CallerEmbedder, caller_scores
from cognitive_memory_core.ports import Ask
from tests.support.meters import ListedMeter
from tests.support.waiting import until

ASK = Ask("rewrite", "", "", "answer", {}, str)
TEXTS = ["茶", "咖啡"]


def test_a_callers_vector_loads_no_numpy() -> None:
    """The first vector of a caller's embedder is checked without loading numpy, for which the event loop would wait."""
    code = (
        "import asyncio, sys\n"
        "from cognitive_memory_core.models.caller_models import CallerEmbedder\n"
        "from tests.support.ports import CountingEmbedder\n"
        "vector = asyncio.run(CallerEmbedder(CountingEmbedder()).embed_query('茶'))\n"
        "print(len(vector) > 0, 'numpy' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "True False"


class Reranker:
    """A reranker that returns or raises what it was given."""

    def __init__(self, answer: Any) -> None:
        """Use this answer."""
        self.answer = answer

    async def scores(self, query: str, texts: Sequence[str]) -> Any:
        """Return or raise."""
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    "answer",
    [
        [],
        [0.5],
        [0.5, 0.5, 0.5],
        [0.5, math.nan],
        [0.5, math.inf],
        [0.5, 1.5],
        [-0.1, 0.5],
        [0.5, None],
        [0.5, "x"],
        [0.5, [0.5]],
        None,
        7,
        BadAnswer("own"),
    ],
)
async def test_what_is_no_score_for_each_text_is_refused(answer: Any) -> None:
    """Scores that are too few, too many, out of range or no numbers raise BadAnswer."""
    with pytest.raises(BadAnswer):
        await caller_scores(Reranker(answer), "喝什么", TEXTS)


@pytest.mark.parametrize("failure", [RuntimeError("x"), ConnectionError("x"), KeyError("x"), asyncio.TimeoutError()])
async def test_whatever_a_reranker_raises_means_that_it_is_away(failure: Exception) -> None:
    """Any error of a reranker becomes UnavailableError without its text."""
    with pytest.raises(UnavailableError, match="重排"):
        await caller_scores(Reranker(failure), "喝什么", TEXTS)


@pytest.mark.parametrize("vectors", [None, 7, [], [[1.0]], [[1.0], None], [[1.0], ["x"]], [[1.0], [math.nan]]])
async def test_what_is_no_vector_for_each_text_is_refused(vectors: Any) -> None:
    """An answer without one valid vector per text raises BadAnswer."""

    class Odd(Plain):
        async def embed_documents(self, texts: Sequence[str]) -> Any:
            return vectors

    odd: Any = Odd()
    with pytest.raises(BadAnswer):
        await CallerEmbedder(odd).embed_documents(TEXTS)


async def test_a_model_that_is_not_even_asynchronous_is_away() -> None:
    """A model that raises at once or returns nothing awaitable counts as unavailable."""

    class Hasty:
        def scores(self, query: str, texts: Sequence[str]) -> list[float]:
            if query == "raise":
                raise RuntimeError("x")
            return [0.5 for _ in texts]

    hasty: Any = Hasty()
    for query in ("raise", "give"):
        with pytest.raises(UnavailableError):
            await caller_scores(hasty, query, TEXTS)


class Plain:
    """An embedder without a calibration."""

    fingerprint = "plain"

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Return lists."""
        return [[1.0, 0.0] for _ in texts]

    async def embed_query(self, text: str) -> list[float]:
        """Return a list."""
        return [0.0, 2.0]


class Growing(Plain):
    """An embedder whose vectors get longer."""

    length = 1

    async def embed_query(self, text: str) -> list[float]:
        """Return a longer list than before."""
        self.length += 1
        return [1.0] * self.length


async def test_a_vector_of_another_length_is_refused() -> None:
    """All vectors of a model have the length of its first one."""
    growing: Any = Growing()
    embedder = CallerEmbedder(growing)
    assert len(await embedder.embed_query("一")) == 2
    with pytest.raises(BadAnswer, match="3"):
        await embedder.embed_query("二")
    assert await embedder.embed_documents(["三"]) == [array("f", [1.0, 0.0])]


class Stubborn:
    """A model that cancels itself or ignores cancellation."""

    fingerprint = "stubborn"

    def __init__(self, *, cancels_itself: bool) -> None:
        """Choose the behaviour."""
        self.cancels_itself = cancels_itself
        self.is_cancelled = False
        self.task: asyncio.Task[Any] | None = None

    def cancel(self) -> None:
        """End the call that ignored its cancellation."""
        assert self.task
        self.task.cancel()

    async def ask(self, ask: Any) -> Any:
        """Never answer."""
        if self.cancels_itself:
            raise asyncio.CancelledError
        self.task = asyncio.current_task()
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if self.is_cancelled:
                    raise
                self.is_cancelled = True

    embed_documents = embed_query = ask

    async def scores(self, query: str, texts: Sequence[str]) -> Any:
        """Never answer."""
        return await self.ask(query)


CALLS: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "chat": lambda model: CallerChat(model, 0.01, ListedMeter()).ask(ASK),
    "embedder": lambda model: CallerEmbedder(model).embed_documents(TEXTS),
    "query": lambda model: CallerEmbedder(model).embed_query("茶"),
    "reranker": lambda model: caller_scores(model, "茶", TEXTS),
}


@pytest.mark.parametrize("call", CALLS)
async def test_a_model_that_cancels_itself_is_away(call: str) -> None:
    """CancelledError raised by a model becomes UnavailableError."""
    with pytest.raises(UnavailableError, match="取消"):
        await CALLS[call](Stubborn(cancels_itself=True))


@pytest.mark.parametrize("call", CALLS)
async def test_nobody_waits_for_a_model_that_swallows_its_cancellation(call: str) -> None:
    """A cancelled caller returns at once even if the model ignores cancellation."""
    model = Stubborn(cancels_itself=False)
    asking = asyncio.ensure_future(CALLS[call](model))
    await asyncio.sleep(0.001)
    asking.cancel()
    with pytest.raises((asyncio.CancelledError, UnavailableError)):
        await asking
    await until(lambda: model.is_cancelled)
    model.cancel()


async def test_a_model_that_never_answers_is_given_up_in_time() -> None:
    """A model that never answers and ignores cancellation costs its caller only the time limit."""
    model = Stubborn(cancels_itself=False)
    with pytest.raises(UnavailableError, match="TimeoutError"):
        await CALLS["chat"](model)
    await until(lambda: model.is_cancelled)
    model.cancel()
