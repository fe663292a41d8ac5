"""The contracts of VectorLedger, with exact search."""

from __future__ import annotations

import math
import random

import pytest

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import BadArgument
from cognitive_memory_core.ports import Vector
from cognitive_memory_core.store.vectors import Checkpoint
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, an_event
from tests.support.clock import NOON
from tests.support.ledgers import MODEL, Ledger, a_vector, committed, embedded, events_near, later

EAST, NORTH, WEST = a_vector(1, 0), a_vector(0, 1), a_vector(-1, 0)


async def nearest(ledger: Ledger, read_filter: ReadFilter | Scene, limit: int = 50) -> list[str]:
    """Return the ids of the events nearest to the east."""
    asked = ReadFilter(read_filter) if isinstance(read_filter, Scene) else read_filter
    return [event.id for event, _ in await events_near(ledger.corpora, EAST, asked, limit)]


async def changed(ledger: Ledger, after: Checkpoint) -> list[tuple[Event | str, Vector | None]]:
    """Return the changes after a checkpoint: events with vectors, or ids of those no longer to be found."""
    changes = await ledger.vectors.changes(MODEL, after, 50)
    assert [mark for mark, *_ in changes] == sorted({mark for mark, *_ in changes})
    assert await ledger.vectors.behind(after) == len(changes)
    return [(event.id if vector is None else event, vector) for _, event, vector in changes]


async def test_standing_events_wait_for_their_vector_oldest_first(ledger: Ledger) -> None:
    """Active events without a vector of the model are returned in the order of writing, and counted."""
    first, retired, second = an_event("甲", happened_at=later(days=1)), an_event("乙"), an_event("丙")
    await committed(ledger, first, retired, second)
    await ledger.eraser.forget(retired.id, NOON)
    assert await ledger.vectors.waiting(MODEL, 10) == [(first.id, "甲"), (second.id, "丙")]
    assert await ledger.vectors.waiting(MODEL, 1) == [(first.id, "甲")]
    assert await ledger.vectors.lag(MODEL) == 2
    await ledger.vectors.store(MODEL, [(first.id, first.text, EAST), ("nobody", "", EAST)])
    assert await ledger.vectors.waiting(MODEL, 10) == [(second.id, "丙")]
    await ledger.events.restore(retired.id)
    assert await ledger.vectors.waiting(MODEL, 10) == [(retired.id, "乙"), (second.id, "丙")]
    assert await ledger.vectors.lag(MODEL) == 2


async def test_vectors_of_another_model_are_not_compared(ledger: Ledger) -> None:
    """Vectors of another model are never compared, even if they have the same length."""
    old, new = an_event("甲"), an_event("乙")
    await embedded(ledger, [(old, EAST)], "old model")
    assert await nearest(ledger, GROUP) == [old.id]
    await embedded(ledger, [(new, NORTH)])
    assert await nearest(ledger, GROUP) == [new.id]
    await ledger.vectors.store(MODEL, [(old.id, old.text, EAST)])
    assert await nearest(ledger, GROUP) == [old.id, new.id]
    ledger.corpora.follow("old model")
    assert await nearest(ledger, GROUP) == []


@pytest.mark.parametrize("bad", [(math.nan, 1), (math.inf, 0), (), (0, 0)])
async def test_a_vector_without_a_direction_is_refused(ledger: Ledger, bad: tuple[float, ...]) -> None:
    """A batch with an unusable vector is rejected as a whole; an unusable query finds nothing."""
    event, other = an_event("甲"), an_event("乙")
    await committed(ledger, event, other)
    with pytest.raises(BadArgument):
        await ledger.vectors.store(MODEL, [(event.id, event.text, EAST), (other.id, other.text, a_vector(*bad))])
    assert await ledger.vectors.lag(MODEL) == 2
    assert await events_near(ledger.corpora, a_vector(*bad), ReadFilter(GROUP), 5) == []


async def test_what_follows_the_ledger_hears_of_every_change_once_in_order(ledger: Ledger) -> None:
    """Changes after a checkpoint list every changed event once, in order, in its current state."""
    first, second, third = an_event("甲"), an_event("乙"), an_event("丙")
    await embedded(ledger, [(first, EAST), (second, NORTH), (third, WEST)])
    assert await changed(ledger, Checkpoint()) == [(first, EAST), (second, NORTH), (third, WEST)]
    mark = (await ledger.vectors.changes(MODEL, Checkpoint(), 2))[-1][0]
    assert await changed(ledger, mark) == [(third, WEST)]
    await ledger.eraser.forget(first.id, NOON)
    assert await changed(ledger, mark) == [(third, WEST), (first.id, None)]
    await ledger.vectors.store(MODEL, [(third.id, third.text, EAST)])
    await ledger.events.restore(first.id)
    assert await changed(ledger, mark) == [(third, EAST), (first, EAST)]
    await ledger.vectors.store("another model", [(third.id, third.text, EAST)])
    assert await changed(ledger, mark) == [(first, EAST), (third.id, None)]
    assert await changed(ledger, (await ledger.vectors.changes(MODEL, Checkpoint(), 9))[-1][0]) == []


async def test_nearest_agrees_with_arithmetic_through_many_changes(ledger: Ledger) -> None:
    """After any sequence of writes the results equal those of direct computation."""
    chance = random.Random(20260304)
    standing: dict[str, tuple[Event, list[float]]] = {}
    for step in range(60):
        event = an_event(f"第{step}件", chance.choice([GROUP, OTHER_GROUP]), sender_id=chance.choice(["2000001", "5"]))
        numbers = [chance.gauss(0, 1) for _ in range(2)]
        await embedded(ledger, [(event, a_vector(*numbers))])
        standing[event.id] = (event, numbers)
        if step % 3 == 0:
            gone = chance.choice(list(standing))
            await ledger.eraser.forget(gone, NOON)
            del standing[gone]
        for scene in (GROUP, PRIVATE):
            cosines = {
                event.id: numbers[0] / math.hypot(*numbers)
                for event, numbers in standing.values()
                if ReadFilter(scene).admits(event)
            }
            best = sorted(cosines, key=lambda event_id: -cosines[event_id])
            assert await nearest(ledger, scene) == best[:50]
