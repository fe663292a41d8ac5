"""One embedding a question a turn."""

from __future__ import annotations

import asyncio

import pytest

from cognitive_memory_core.errors import TransientError
from cognitive_memory_core.recall.embedding import REMEMBERED, QueryEmbedding
from tests.support.clock import FrozenClock
from tests.support.ports import CountingEmbedder


async def test_an_equal_question_is_answered_from_memory_for_a_minute():
    """Within a minute the embedder is asked once; after it, again."""
    embedder, clock = CountingEmbedder(), FrozenClock()
    questions = QueryEmbedding(embedder, clock)
    await questions.vector("喝什么茶")
    clock.advance(seconds=59)
    await questions.vector("喝什么茶")
    assert embedder.asked == ["喝什么茶"]
    clock.advance(seconds=1)
    await questions.vector("喝什么茶")
    assert embedder.asked == ["喝什么茶"] * 2


async def test_a_clock_that_jumps_back_keeps_nothing_alive():
    """An answer out of the future is not trusted."""
    embedder, clock = CountingEmbedder(), FrozenClock()
    questions = QueryEmbedding(embedder, clock)
    await questions.vector("喝什么茶")
    clock.advance(days=-1)
    await questions.vector("喝什么茶")
    assert len(embedder.asked) == 2


async def test_equal_questions_at_once_share_one_call():
    """Eight searches for the same words cost one embedding."""
    embedder = CountingEmbedder()
    questions = QueryEmbedding(embedder, FrozenClock())
    embedder.may_answer.clear()
    waiting = [asyncio.create_task(questions.vector("喝什么茶")) for _ in range(8)]
    await asyncio.sleep(0)
    embedder.may_answer.set()
    vectors = await asyncio.gather(*waiting)
    assert len(embedder.asked) == 1
    assert all(vector is vectors[0] for vector in vectors)


async def test_one_caller_that_gives_up_does_not_fail_the_others():
    """A cancelled search leaves the shared call to the rest."""
    embedder = CountingEmbedder()
    questions = QueryEmbedding(embedder, FrozenClock())
    embedder.may_answer.clear()
    hasty, patient = (asyncio.create_task(questions.vector("喝什么茶")) for _ in range(2))
    await asyncio.sleep(0)
    hasty.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hasty
    embedder.may_answer.set()
    assert list(await patient) == [1.0, 0.0]


async def test_a_failure_is_not_remembered():
    """The next question is asked anew."""
    embedder = CountingEmbedder(TransientError("busy"), (1.0, 0.0))
    questions = QueryEmbedding(embedder, FrozenClock())
    with pytest.raises(TransientError):
        await questions.vector("喝什么茶")
    assert list(await questions.vector("喝什么茶")) == [1.0, 0.0]


@pytest.mark.parametrize("useless", [(), (0.0, 0.0), (float("nan"), 1.0), (float("inf"), 1.0)])
async def test_what_is_no_direction_is_a_failure(useless):
    """An empty, zero, NaN or infinite vector never reaches a store."""
    with pytest.raises(TransientError):
        await QueryEmbedding(CountingEmbedder(useless), FrozenClock()).vector("喝什么茶")


async def test_a_vector_of_another_length_is_a_failure():
    """An embedder speaks in one length; the odd answer out is refused, and one that changed for good is believed."""
    embedder = CountingEmbedder((1.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    questions = QueryEmbedding(embedder, FrozenClock())
    await questions.vector("一")
    with pytest.raises(TransientError):
        await questions.vector("二")
    assert len(await questions.vector("三")) == 3


async def test_the_answers_kept_are_bounded():
    """After more questions than it remembers, the first is asked again and the last is not."""
    embedder = CountingEmbedder()
    questions = QueryEmbedding(embedder, FrozenClock())
    for number in range(REMEMBERED + 1):
        await questions.vector(str(number))
    await questions.vector(str(REMEMBERED))
    assert len(embedder.asked) == REMEMBERED + 1
    await questions.vector("0")
    assert len(embedder.asked) == REMEMBERED + 2
