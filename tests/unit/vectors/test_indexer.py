"""Tests of embedding every event exactly once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cognitive_memory_core.errors import BadAnswer, PermanentError, TooSlow, UnavailableError
from cognitive_memory_core.vectors.indexer import PLAIN_TEXT, Indexer
from tests.support.builders import an_event
from tests.support.ledgers import Ledger, a_ledger, a_vector, committed
from tests.support.ports import ReactingEmbedder


async def some(ledger: Ledger, *texts: str) -> None:
    """Store events without vectors."""
    await committed(ledger, *(an_event(text) for text in texts))


def embedded_by(model: ReactingEmbedder) -> list[str]:
    """Return the texts of events that a model embedded."""
    return sorted(text for text in model.answered if text != PLAIN_TEXT)


async def until_idle(indexer: Indexer) -> None:
    """Run steps until nothing waits."""
    while await indexer.step():
        pass


@pytest.mark.parametrize("error", [PermanentError("too long"), BadAnswer("NaN"), TooSlow("60 s")])
@pytest.mark.parametrize("place", [0, 1, 30, 63])
async def test_one_unusable_text_holds_nobody_up(error: Exception, place: int) -> None:
    """A text that the model refuses stays without a vector, and all others are embedded."""
    ledger = a_ledger()
    texts = [f"第 {number} 件事" for number in range(64)]

    def refuse(batch: Sequence[str]) -> None:
        if texts[place] in batch:
            raise error

    model = ReactingEmbedder(refuse)
    await some(ledger, *texts)
    indexer = Indexer("Indexer", model, ledger.vectors)
    await until_idle(indexer)
    assert embedded_by(model) == sorted(texts[:place] + texts[place + 1 :])
    assert not await ledger.database.read(indexer.has_lag)


@pytest.mark.parametrize("count", [1, 2, 64])
async def test_a_model_that_answers_nothing_well_blames_no_text(count: int) -> None:
    """While every answer is bad, few calls are made and no text is given up; later all are embedded."""
    ledger, is_well = a_ledger(), False

    def refuse(_: Sequence[str]) -> None:
        if not is_well:
            raise BadAnswer("<html>")

    model = ReactingEmbedder(refuse)
    await some(ledger, *(f"第 {number} 件事" for number in range(count)))
    indexer = Indexer("Indexer", model, ledger.vectors)
    with pytest.raises(BadAnswer):
        await indexer.step()
    assert len(model.asked) <= 12
    assert await ledger.vectors.lag("model/2") == count
    is_well = True
    await until_idle(indexer)
    assert not await ledger.database.read(indexer.has_lag)
    assert len(embedded_by(model)) == count


async def test_a_model_that_is_away_is_not_asked_text_by_text() -> None:
    """While a model is unavailable, each attempt is one call and no text is given up."""
    ledger, model = a_ledger(), ReactingEmbedder()

    def refuse(_: Sequence[str]) -> None:
        raise UnavailableError("away")

    model.react = refuse
    await some(ledger, *(f"第 {number} 件事" for number in range(20)))
    indexer = Indexer("Indexer", model, ledger.vectors)
    for _ in range(9):
        with pytest.raises(UnavailableError):
            await indexer.step()
    assert len(model.asked) == 9
    assert await ledger.vectors.lag("model/2") == 20


async def test_a_text_that_changed_meanwhile_is_embedded_anew() -> None:
    """The vector of a text that was changed meanwhile is not stored."""
    ledger = a_ledger()
    event = an_event("阿棠说了一句话")
    await committed(ledger, event)
    await ledger.vectors.store("model/2", [(event.id, "别的话", a_vector(1.0, 7.0))])
    assert await ledger.vectors.lag("model/2") == 1
