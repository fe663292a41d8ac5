"""The contract of VectorStore: in memory, with Chroma in a child process, and with a Chroma server."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cognitive_memory_core.domain.event import Event, Quote
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports import Generation
from tests.properties.test_scope import NARROWINGS, SIX_VOICES, THREE_PLACES, THREE_SCENES, Voice, said
from tests.support.builders import GROUP, OPERATOR, PRIVATE, an_event
from tests.support.ledgers import MODEL, a_vector
from tests.support.sizes import sized
from tests.support.vector_stores import Shop, VectorStore, chroma_children, row, rows, shop_of

pytestmark = pytest.mark.asyncio(loop_scope="module")  # one store of each kind for all

EAST, NORTH, WEST = a_vector(1, 0), a_vector(0, 1), a_vector(-1, 0)
EVERYTHING = ReadFilter(OPERATOR)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["in memory", "chroma", "chroma server"])
async def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    """Return one store of each kind for the whole module, since starting a child per test would take minutes."""
    async with shop_of(request.param, tmp_path_factory.mktemp("vectors")) as shop:
        yield shop


@pytest.fixture
def store(shop: Shop) -> VectorStore:
    """Return the open store."""
    return shop.store


@pytest_asyncio.fixture(loop_scope="module")
async def generation(store: VectorStore) -> Generation:
    """Create an empty generation of two dimensions."""
    return await store.begin(MODEL, 2)


async def found(
    store: VectorStore, generation: Generation, read_filter: ReadFilter | Scene, limit: int = 50
) -> list[str]:
    """Return the ids nearest to the east."""
    asked = ReadFilter(read_filter) if isinstance(read_filter, Scene) else read_filter
    return [event_id for event_id, _ in await store.nearest(generation, EAST, asked, limit)]


async def test_the_next_generation_grows_beside_the_one_in_use(store: VectorStore, generation: Generation) -> None:
    """The generation in use keeps its rows while the next one is built, and accepts more once it is opened again."""
    old, new, late = an_event("甲"), an_event("乙"), an_event("丙")
    await store.upsert(generation, rows([(old, EAST)]))
    await store.put_in_use(generation)
    growing = await store.begin("next", 3)
    assert growing.number != generation.number
    await store.upsert(growing, rows([(new, a_vector(1, 0, 0))], "next"))
    assert await store.open() == generation
    await store.upsert(generation, rows([(late, NORTH)]))
    assert await found(store, generation, GROUP) == [old.id, late.id]


async def test_what_is_put_in_use_stays_alone(shop: Shop, generation: Generation) -> None:
    """After a switch only the new generation is served, also after reopening, and the others refuse every call."""
    old, new = an_event("甲"), an_event("乙")
    await shop.store.upsert(generation, rows([(old, EAST)]))
    await shop.store.put_in_use(generation)
    growing = await shop.store.begin(MODEL, 2)
    await shop.store.upsert(growing, rows([(new, EAST)]))
    await shop.store.put_in_use(growing)
    for is_reopened in (False, True):
        if is_reopened:
            await shop.reopen()
        assert await shop.store.open() == growing
        assert await found(shop.store, growing, GROUP) == [new.id]
        await refuses(shop.store, generation, old)
        assert await shop.store.listed(growing) == {new.id}


async def refuses(store: VectorStore, gone: Generation, event: Event) -> None:
    """Check that a removed generation can be neither read nor written nor used."""
    for call in (
        store.upsert(gone, rows([(event, EAST)])),
        store.remove(gone, [event.id]),
        store.listed(gone),
        store.nearest(gone, EAST, EVERYTHING, 5),
        store.put_in_use(gone),
    ):
        with pytest.raises(UnavailableError):
            await call


@pytest.mark.parametrize("shop", ["in memory", "chroma"], indirect=True)
async def test_a_store_sleeps_until_it_is_asked(shop: Shop, generation: Generation) -> None:
    """A sleeping store runs no process, keeps its rows, and is started by opening it."""
    east, late = an_event("甲"), an_event("乙")
    await shop.store.upsert(generation, rows([(east, EAST)]))
    await shop.store.put_in_use(generation)
    for _ in range(2):
        await shop.store.sleep()
        assert not chroma_children()
        assert await shop.store.is_there()
    assert await shop.store.open() == generation
    await shop.store.upsert(generation, rows([(late, NORTH)]))
    await shop.store.sleep()
    assert await shop.store.open() == generation
    assert await found(shop.store, generation, EVERYTHING) == [east.id, late.id]


async def test_an_attempt_that_was_given_up_is_replaced(shop: Shop, generation: Generation) -> None:
    """Building again removes an abandoned generation and leaves the one in use unchanged."""
    kept, left, new = an_event("甲"), an_event("乙"), an_event("丙")
    await shop.store.upsert(generation, rows([(kept, EAST)]))
    await shop.store.put_in_use(generation)
    given_up = await shop.store.begin(MODEL, 2)
    await shop.store.upsert(given_up, rows([(left, EAST)]))
    await shop.reopen()
    assert await shop.store.open() == generation
    again = await shop.store.begin(MODEL, 2)
    assert await shop.store.listed(again) == frozenset()
    await refuses(shop.store, given_up, left)
    await shop.store.upsert(again, rows([(new, EAST)]))
    assert await found(shop.store, again, GROUP) == [new.id]
    assert await shop.store.open() == generation
    assert await shop.store.listed(generation) == {kept.id}


@settings(max_examples=sized(4, 60), suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.tuples(THREE_PLACES, SIX_VOICES), st.tuples(THREE_SCENES, NARROWINGS))
async def test_a_search_gives_exactly_what_the_reading_admits(
    store: VectorStore,
    generation: Generation,
    spoken: tuple[Sequence[Scene], Sequence[Voice]],
    asked: tuple[Sequence[Scene], ReadFilter],
) -> None:
    """For random events and readings, while the same rows become other people's, places' and times' each round."""
    events, (scenes, narrowing) = said(*spoken), asked
    turn = 2 * math.pi / len(events)
    circle = (a_vector(math.cos(turn * number), math.sin(turn * number)) for number in range(len(events)))
    active = [(event, vector) for event, vector in zip(events, circle, strict=True) if event.retired_at is None]
    await store.upsert(generation, rows(active))
    await store.remove(generation, [event.id for event in events if event.retired_at is not None])
    for scene in scenes:
        for read_filter in (ReadFilter(scene), replace(narrowing, scene=scene)):
            answer = await found(store, generation, read_filter)
            assert sorted(answer) == sorted(event.id for event in events if read_filter.admits(event))


async def test_an_event_without_others_words_follows_its_voice_again(
    store: VectorStore, generation: Generation
) -> None:
    """An event that loses the quote of somebody else is found in a private chat with its voice."""
    own, other = (Quote("1", PRIVATE.user_id, "乌龙茶"), Quote("2", "2000009", "你喝什么？"))
    event = an_event(sender_id=PRIVATE.user_id)
    for quotes, expected in (((own, other), []), ((own,), [event.id])):
        await store.upsert(generation, [row(event, EAST, quotes=quotes)])
        assert await found(store, generation, PRIVATE) == expected
