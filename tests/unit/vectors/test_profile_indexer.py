"""Tests that the search index of profiles equals the files and has vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.errors import BadAnswer, PermanentError, StorageRefused
from cognitive_memory_core.store.profiles import words_of
from cognitive_memory_core.tasks import latest
from cognitive_memory_core.vectors.indexer import PROFILE_BATCH as BATCH
from cognitive_memory_core.vectors.indexer import READ_AGAIN, ProfileIndexer
from tests.support.clock import FrozenClock
from tests.support.ledgers import a_ledger
from tests.support.ports import ReactingEmbedder, Wrapping
from tests.support.profiles import KEEP, TANG, TANG_THERE, TemporaryProfiles, a_profile
from tests.support.waiting import until, until_not


class World:
    """Profile files, an index and a model."""

    def __init__(self, react: Callable[[Sequence[str]], None] = lambda _: None) -> None:
        """Start without profiles."""
        self.clock = FrozenClock()
        self.store = TemporaryProfiles(KEEP, self.clock)
        ledger = a_ledger(clock=self.clock)
        self.index, self.book = ledger.profiles, ledger.profile_vectors
        self.model = ReactingEmbedder(react)
        self.indexer = ProfileIndexer(self.store, self.index, self.book, self.model, elapsed=self.clock.elapsed)

    async def portray(self, number: int, summary: str = "喜欢乌龙茶。") -> ProfileKey:
        """Write a person's profile."""
        key = ProfileKey.member("10001", str(2000000 + number))
        standing = await self.store.find(key)
        await self.store.write(a_profile(summary, key, version=standing.version if standing else ""))
        return key

    async def catch_up(self) -> None:
        """Do the work of the loop once."""
        await self.indexer.refresh()
        while await self.indexer.step():
            pass

    async def waiting(self) -> int:
        """Count the profiles without a vector."""
        return len(await self.book.waiting(ReactingEmbedder.fingerprint, 1000))


def refusing(word: str, error: Exception) -> Callable[[Sequence[str]], None]:
    """Return a reaction that raises for batches with a word."""

    def react(texts: Sequence[str]) -> None:
        if any(word in text for text in texts):
            raise error

    return react


async def test_every_profile_gets_its_vector_once() -> None:
    """Profiles are indexed and embedded in batches, each once."""
    world = World()
    for number in range(BATCH + 3):
        await world.portray(number)
    await world.catch_up()
    assert await world.waiting() == 0
    assert [len(batch) for batch in world.model.asked] == [BATCH, 3]
    await world.catch_up()
    assert len(world.model.asked) == 2
    assert not await world.index.database.read(world.indexer.has_lag)


async def test_what_changed_by_hand_is_taken_in() -> None:
    """At the start, changed files are embedded again, new ones added and deleted ones removed."""
    world = World()
    kept, mended, removed = [await world.portray(number) for number in range(3)]
    await world.catch_up()
    await world.portray(1, "改喝红茶了。")
    added = await world.portray(4)
    await world.store.erase([removed])
    world.model.asked.clear()
    await world.catch_up()
    assert set(await world.index.versions()) == {kept, mended, added}
    assert sum("红茶" in text for batch in world.model.asked for text in batch) == 1
    assert sum(len(batch) for batch in world.model.asked) == 2


async def test_a_profile_that_changes_while_it_is_taken_in_ends_right() -> None:
    """A profile changed during its indexing is indexed with its latest content."""
    world = World()
    key = await world.portray(1)

    class Racing(Wrapping):
        async def take_in(self, key: Any, read: Any) -> None:
            await world.portray(1, "改喝红茶了。")
            await world.index.take_in(key, read)

    await ProfileIndexer(world.store, Racing(world.index), world.book, world.model).refresh()
    standing = await world.store.find(key)
    assert standing
    assert await world.index.versions() == {key: standing.version}


class Unreadable(Wrapping):
    """A profile store of which one profile cannot be read."""

    def __init__(self, store: TemporaryProfiles, key: ProfileKey) -> None:
        """Wrap a store."""
        super().__init__(store)
        self.key: ProfileKey | None = key
        self.refused = 0

    async def find(self, key: ProfileKey) -> Any:
        """Refuse one profile and read the others."""
        if key == self.key:
            self.refused += 1
            raise StorageRefused("读不了")
        return await self.inner.find(key)


async def test_one_unreadable_file_holds_nobody_up(caplog: pytest.LogCaptureFixture) -> None:
    """An unreadable file is logged once, the others are indexed, and it is indexed when readable."""
    world = World()
    keys = [await world.portray(number) for number in range(4)]
    store = Unreadable(world.store, keys[1])
    indexer = ProfileIndexer(store, world.index, world.book, world.model, elapsed=world.clock.elapsed)
    indexer.loop.start()
    try:
        await until_not(lambda: world.index.database.read(indexer.has_lag))
        assert set(await world.index.versions()) == {keys[0], keys[2], keys[3]}
        assert latest(indexer.error_states) == "读不了"
        for tried in range(2, 4):
            world.clock.advance(seconds=READ_AGAIN)
            indexer.wake_now()
            await until(lambda tried=tried: store.refused >= tried)
            await asyncio.sleep(0.02)
        assert caplog.text.count("读不了") == 1
        store.key = None
        indexer.wake_now()
        await asyncio.sleep(0.02)
        assert len(await world.index.versions()) == 3, "it is tried again after a while, not at every look"
        world.clock.advance(seconds=READ_AGAIN)
        indexer.wake_now()
        await until(lambda: latest(indexer.error_states) == "")
        await until_not(lambda: world.index.database.read(indexer.has_lag))
        assert set(await world.index.versions()) == set(keys)
    finally:
        await indexer.loop.stop()


@pytest.mark.parametrize("error", [PermanentError("拒绝"), BadAnswer("坏")])
async def test_one_unusable_profile_holds_nobody_up(error: Exception) -> None:
    """A profile that the model refuses is skipped for an hour or until it changes; others get vectors."""
    world = World(refusing("怪", error))
    for number in range(5):
        await world.portray(number, "怪。" if number == 2 else "喜欢乌龙茶。")
    await world.catch_up()
    assert await world.waiting() == 1
    asked = len(world.model.asked)
    await world.catch_up()
    assert len(world.model.asked) == asked
    assert not await world.index.database.read(world.indexer.has_lag)
    world.clock.advance(hours=1, seconds=1)
    await world.catch_up()
    assert len(world.model.asked) > asked
    await world.portray(2, "好了。")
    await world.catch_up()
    assert await world.waiting() == 0


def test_a_profile_is_found_by_all_its_words() -> None:
    """Name, tags, headings and lines are embedded without Markdown marks."""
    summary = "阿棠是插画师。\n\n## 兴趣\n- **茶**\n- 猫"
    assert words_of(a_profile(summary, TANG, tags=("插画", "猫"))) == "阿棠\n插画 猫\n阿棠是插画师。\n兴趣\n茶\n猫"
    assert words_of(a_profile("", TANG_THERE, name="", tags=())) == ""
