"""Tests of bots that share a Chroma server: each uses only its own generations."""

from __future__ import annotations

import os
import shutil
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cognitive_memory_core import sentences
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports import Generation
from cognitive_memory_core.vectors.chroma.location import IndexLocation, Refusal
from tests.support.ledgers import MODEL, a_vector
from tests.support.vector_stores import chroma_server, chroma_store

if TYPE_CHECKING:  # it imports chromadb, which the collection need not
    from cognitive_memory_core.vectors.chroma.generations import Generations

Opening = Callable[[Path, str], "Generations"]
pytestmark = [
    pytest.mark.timeout(300),  # a server and a process, which import chromadb
    pytest.mark.filterwarnings("ignore:legacy embedding function config:DeprecationWarning"),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run one server for all, each of which has a database of its own; return its URL."""
    with chroma_server(tmp_path_factory.mktemp("server")) as url:
        yield url


@pytest.fixture
def bot(url: str) -> Iterator[Opening]:
    """Return what opens a bot's generations in a database: in this process, since another imports chromadb anew."""
    from cognitive_memory_core.vectors.chroma.generations import Generations

    opened: list[Any] = []

    def at(folder: Path, database: str) -> Generations:
        folder.mkdir(exist_ok=True)
        opened.append(Generations(IndexLocation(str(folder), url, database=database)))
        return opened[-1]

    yield at
    for one in opened:
        one._stored._client._server._session.close()


def filled(bot: Generations) -> Generation:
    """Create a generation with one row and put it in use."""
    generation = bot.begin(MODEL, 2)
    vector = b64encode(a_vector(1, 0).tobytes()).decode()
    bot.upsert(generation.build_id, ["甲"], ["甲"], [{"agent": "default"}], vector)
    bot.put_in_use(generation.build_id)
    return generation


async def test_a_second_bot_is_refused_and_harms_nobody(bot: Opening, url: str, tmp_path: Path) -> None:
    """A second bot on the same database is told which setting to change, and the first one continues."""
    early, first = (bot(tmp_path / name, "one") for name in ("early", "first"))
    generation = filled(first)
    with pytest.raises(Refusal, match="foreign"):
        early.begin(MODEL, 2)
    late = chroma_store(tmp_path / "late", url, "one")
    with pytest.raises(UnavailableError) as refused:
        await late.begin(MODEL, 2)
    await late.close()
    assert str(refused.value) == sentences.storage_errors.VECTOR_STORE_FOREIGN.format(database="one")
    assert first.listed(generation.build_id) == ["甲"]
    assert first.open() == generation


def test_a_deleted_folder_does_not_lock_a_bot_out(bot: Opening, tmp_path: Path) -> None:
    """After its folder was deleted, a bot recognises its old generation by the folder's path and removes it."""
    old = filled(bot(tmp_path / "bot", "left"))
    shutil.rmtree(tmp_path / "bot")
    again = bot(tmp_path / "bot", "left")
    new = filled(again)
    assert again.sweep()
    assert again.open() == new
    with pytest.raises(Refusal, match="gone"):
        again.listed(old.build_id)


def test_a_moved_folder_keeps_its_generation(bot: Opening, tmp_path: Path) -> None:
    """A moved folder keeps its generation, because the id in it decides."""
    generation = filled(bot(tmp_path / "here", "moved"))
    shutil.move(tmp_path / "here", tmp_path / "there")
    assert bot(tmp_path / "there", "moved").open() == generation


def test_an_id_is_made_once_and_for_us_alone(tmp_path: Path) -> None:
    """The id of a folder is permanent, private, unique, and not taken from collections of another home."""
    from cognitive_memory_core.vectors.chroma.generations import OWNER, owner_of

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
    from cognitive_memory_core.vectors.chroma.generations import OWNER, owner_of

    owner = owner_of(tmp_path, "home", [])
    (tmp_path / OWNER).write_bytes(left)
    assert owner_of(tmp_path, "home", [{}, {"owner": owner, "home": "home"}]) == owner
    assert owner_of(tmp_path, "home", []) == owner
