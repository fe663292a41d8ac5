"""F19 and F20: embedding models with bad answers, and a change of model while the index is rebuilt."""

from __future__ import annotations

import asyncio
import hashlib
import random
import subprocess
import tempfile
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import cognitive_memory_core as core
from cognitive_memory_core.errors import CognitiveMemoryError
from cognitive_memory_core.models.client import EMBEDDING_LIMIT, ModelClient
from cognitive_memory_core.models.embedding import OpenAIEmbedder
from cognitive_memory_core.ports import Calibration
from cognitive_memory_core.store.ledger import Ledger
from cognitive_memory_core.vectors.chroma.store import ChromaStore
from tests.support import model_server as served

from ..fault_row import Extent, Row, Seen
from .child import started

TEXTS = 5  # embedded at once
ALIKE = 0.9999
LENGTHS = {"one": 48, "other": 32}
ROWS = 400
EARLIEST, LATEST = 0.3, 6.0  # seconds that a bot lives
PATIENCE = 120.0
SCENE = core.Scene.group("100001", "200001", user_name="小雨")
Behaviour = served.Behaviour


class SeededModel:
    """A model with its own vector length: each text has a fixed random unit vector."""

    calibration = Calibration(0.0, 1.0)

    def __init__(self, name: str) -> None:
        """Take a name that is a key of LENGTHS."""
        self.fingerprint = f"{name}/{LENGTHS[name]}"
        self._length = LENGTHS[name]

    async def embed_documents(self, texts: Sequence[str]) -> list[array[float]]:
        """Return the texts' vectors."""
        return [self.vector(text) for text in texts]

    async def embed_query(self, text: str) -> array[float]:
        """Return the query's vector."""
        return self.vector(text)

    def vector(self, text: str) -> array[float]:
        """Return a text's vector."""
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        drawn = np.random.default_rng(seed).standard_normal(self._length)
        return array("f", (drawn / np.linalg.norm(drawn)).astype(np.float32).tobytes())


async def f19(extent: Extent) -> Row:
    """Send bad answers to hundreds of requests; count those accepted as vectors."""
    times, dice, seen = extent.of(600, 40), random.Random(extent.seed), Seen()
    async with served.ModelServer() as server:
        settings = core.EmbeddingSettings.model_validate({"api_url": server.url, "model_name": "m"})
        client = ModelClient(settings, "embedding", lambda *_: None, limit=EMBEDDING_LIMIT)
        embedder = OpenAIEmbedder(settings, client, seconds=5, query_seconds=5)
        embedder.length = served.DIMENSIONS
        for number in range(times):
            texts = [f"第 {number} 轮的第 {part} 句" for part in range(TEXTS)]
            server.embeddings = _some_trouble(dice)
            try:
                answer = await embedder.embed_documents(texts)
            except CognitiveMemoryError:
                seen["refused"] += 1
            else:
                seen["right though permuted or in base64" if _are_right(texts, answer) else "lost"] += 1
        server.embeddings = served.well
        works_again = _are_right(["好了"], await embedder.embed_documents(["好了"]))
        await client.close()
    return seen.row(times, failed=not works_again)


def _some_trouble(dice: random.Random) -> Behaviour:
    """Return a random kind of bad answer, or one that only looks bad."""
    number = dice.choice([float("nan"), float("inf"), float("-inf"), 1e39, "1", None, [], {}, True])
    error_states: list[Callable[[], Behaviour]] = [
        lambda: served.with_vector([number, *[0.1] * (served.DIMENSIONS - 1)]),
        lambda: served.with_vector([0.0] * served.DIMENSIONS),
        lambda: served.with_vector([0.1] * dice.choice([0, 1, served.DIMENSIONS - 1, served.DIMENSIONS + 1, 1536])),
        lambda: served.with_vector(dice.choice(["", "AAAA", "?", None, 7])),
        lambda: served.embeddings(dimensions=dice.choice([1, 16, 64])),
        lambda: served.embeddings(lambda rows: rows[: dice.randrange(len(rows))]),
        lambda: served.embeddings(lambda rows: [*rows, rows[0]]),
        lambda: served.embeddings(lambda rows: [{**row, "index": dice.choice([0, -1, 99, "x", None])} for row in rows]),
        lambda: served.embeddings(lambda rows: dice.sample(rows, len(rows))),
        lambda: served.embeddings(served.in_base64),
        lambda: served.status(dice.choice([400, 401, 404, 408, 413, 429, 500, 502, 503])),
        lambda: dice.choice([served.page, served.cut, served.cut_within]),
        lambda: served.raw(dice.randbytes(dice.randrange(200))),
        lambda: served.as_json(dice.choice([None, [], {}, {"data": None}, {"data": [1]}, {"error": "x"}])),
    ]
    return dice.choice(error_states)()


def _are_right(texts: Sequence[str], vectors: Sequence[array[float]]) -> bool:
    wanted = np.array([served.vector_of(text) for text in texts])
    given = [np.array(vector) for vector in vectors]
    if len(given) != len(texts) or any(vector.shape != wanted[0].shape for vector in given):
        return False
    cosines = np.einsum("ij,ij->i", wanted, np.array(given))
    return bool(np.isfinite(cosines).all() and (cosines > ALIKE).all())


def f20(extent: Extent) -> Row:
    """Change the model repeatedly and kill the bot while it embeds and builds; in the end no vectors may be mixed."""
    kills, dice = extent.of(50, 3), random.Random(extent.seed)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        data = Path(folder) / "data"
        asyncio.run(_remembered(data))
        for number in range(kills):
            with started(work, data, ("other", "one")[number % 2]) as bot, suppress(subprocess.TimeoutExpired):
                bot.wait(dice.uniform(EARLIEST, LATEST))
        return asyncio.run(_examined(data, ("other", "one")[kills % 2])).row(kills)


async def _remembered(data: Path) -> None:
    async with core.CognitiveMemory.open(core.Settings(), data, embedder=SeededModel("one")) as memory:
        for number in range(0, ROWS, 10):
            texts = [f"小雨说了第 {one} 件事" for one in range(number, number + 10)]
            await memory.remember(core.Turn(SCENE, observations=texts))
        assert await memory.drain(PATIENCE)


async def _examined(data: Path, name: str) -> Seen:
    """Let the bot finish with a model, then examine ledger and store from outside; mixed rows count as twice."""
    model, seen = SeededModel(name), Seen()
    with seen.timed():
        async with core.CognitiveMemory.open(core.Settings(), data, embedder=model) as memory:
            seen["lost"] += 0 if await memory.drain(PATIENCE) else ROWS
            seen["generation"] = (await memory.status()).index.generation
    ledger = await Ledger.open(data / "ledger.db", read_only=True)
    store = ChromaStore(data / "chromadb", core.VectorStoreSettings())
    try:
        rows: list[Any] = [row async for page in ledger.archive.pages() for row in page if hasattr(row, "vector")]
        opened = await store.open()
        assert opened is not None
        listed = await store.listed(opened)
    finally:
        await store.close()
        await ledger.close()
    for fingerprint in (opened.fingerprint, *(row.fingerprint for row in rows)):
        seen["twice"] += fingerprint != model.fingerprint
    seen["twice"] += sum(list(row.vector) != list(model.vector(row.event.text)) for row in rows)
    seen.update(rows=len(rows), lost=ROWS - len(rows) + len({row.event.id for row in rows} ^ listed))
    return seen


async def work(data: str, name: str) -> None:
    """Open the memory with a model, and work until everything is embedded and indexed."""
    settings = core.Settings(historian=core.HistorianSettings(shutdown_seconds=5))
    async with core.CognitiveMemory.open(settings, Path(data), embedder=SeededModel(name)) as memory:
        await memory.drain(PATIENCE)
