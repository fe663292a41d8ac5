"""Tests of bots that share a Chroma server: each uses only its own generations."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from cognitive_memory_core import sentences
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports import Generation
from cognitive_memory_core.vectors.chroma.generations import OWNER, owner_of
from cognitive_memory_core.vectors.chroma.store import ChromaStore
from tests.support.builders import an_event
from tests.support.ledgers import MODEL, a_vector
from tests.support.vector_stores import chroma_server, chroma_store, rows

pytestmark = pytest.mark.timeout(300)  # several processes, each of which imports chromadb


class Bots:
    """Stores on one server, which are closed at the end."""

    def __init__(self, url: str, stack: AsyncExitStack) -> None:
        """Start without a store."""
        self._url = url
        self._stack = stack

    def store(self, folder: Path, database: str) -> ChromaStore:
        """Open a bot's store in a database."""
        store = chroma_store(folder, self._url, database)
        self._stack.push_async_callback(store.close)
        return store


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run one server for all, each of which has a database of its own; return its URL."""
    with chroma_server(tmp_path_factory.mktemp("server")) as url:
        yield url


@pytest.fixture
async def bots(url: str) -> AsyncIterator[Bots]:
    """Return the stores and close them at the end."""
    async with AsyncExitStack() as stack:
        yield Bots(url, stack)


async def filled(store: ChromaStore) -> Generation:
    """Create a generation with one row and put it in use."""
    generation = await store.begin(MODEL, 2)
    await store.upsert(generation, rows([(an_event("甲"), a_vector(1, 0))]))
    await store.put_in_use(generation)
    return generation


async def test_a_second_bot_is_refused_and_harms_nobody(bots: Bots, tmp_path: Path) -> None:
    """A second bot on the same database is told which setting to change, and the first one continues."""
    early = bots.store(tmp_path / "early" / "chromadb", "one")
    assert await early.open() is None
    first = bots.store(tmp_path / "first" / "chromadb", "one")
    generation = await filled(first)
    for other in (early, bots.store(tmp_path / "late" / "chromadb", "one")):
        with pytest.raises(UnavailableError) as refused:
            await other.begin(MODEL, 2)
        assert str(refused.value) == sentences.storage_errors.VECTOR_STORE_FOREIGN.format(database="one")
    assert len(await first.listed(generation)) == 1
    assert await first.open() == generation


async def test_a_deleted_folder_does_not_lock_a_bot_out(bots: Bots, tmp_path: Path) -> None:
    """After its folder was deleted, a bot recognises its old generation by the folder's path and removes it."""
    folder = tmp_path / "bot" / "chromadb"
    store = bots.store(folder, "left")
    old = await filled(store)
    await store.close()
    shutil.rmtree(folder)
    again = bots.store(folder, "left")
    assert await again.open() is None
    new = await filled(again)
    assert new.number > old.number or new.build_id != old.build_id
    assert await again.open() == new
    with pytest.raises(UnavailableError):
        await again.listed(old)


async def test_a_moved_folder_keeps_its_generation(bots: Bots, tmp_path: Path) -> None:
    """A moved folder keeps its generation, because the id in it decides."""
    store = bots.store(tmp_path / "here" / "chromadb", "moved")
    generation = await filled(store)
    await store.close()
    shutil.move(tmp_path / "here", tmp_path / "there")
    assert await bots.store(tmp_path / "there" / "chromadb", "moved").open() == generation


def test_an_id_is_made_once_and_for_us_alone(tmp_path: Path) -> None:
    """The id of a folder is permanent, private, unique, and not taken from collections of another home."""
    owner = owner_of(tmp_path, "home", [])
    assert owner_of(tmp_path, "home", []) == owner
    assert owner_of(tmp_path, "elsewhere", [{"owner": "0" * 32, "home": "elsewhere"}]) == owner
    if os.name != "nt":
        assert (tmp_path / OWNER).stat().st_mode & 0o777 == 0o600
    (tmp_path / "other").mkdir()
    assert owner_of(tmp_path / "other", "another home", [{"owner": owner, "home": "home"}]) != owner


@pytest.mark.parametrize("left", [b"", b"\xff" * 99, b"not an id\n"])
def test_a_lost_id_is_found_in_what_was_made_from_here(tmp_path: Path, left: bytes) -> None:
    """A broken id file is restored from a collection that was made from the same place."""
    owner = owner_of(tmp_path, "home", [])
    (tmp_path / OWNER).write_bytes(left)
    assert owner_of(tmp_path, "home", [{}, {"owner": owner, "home": "home"}]) == owner
    assert owner_of(tmp_path, "home", []) == owner
