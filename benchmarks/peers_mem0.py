"""mem0 with its Chroma store and the deterministic embedder, without a language model: texts are stored unchanged.

A group is a ``run_id``, the only filter of a search. The embedder subclasses mem0's own ``EmbeddingBase`` and replaces
the configured one, since mem0's factory accepts vendor names only. A workload of more than ``BULK`` rows is inserted
through mem0's vector store class, in batches, without the history that ``add`` writes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from .peers_questions import Matrix, Question, Row
from .peers_systems import K, LoggedLine, Opening

BULK = 10_000


class Mem0:
    """mem0's synchronous memory."""

    def __init__(self, memory: Any, known: Mapping[str, Row], *, in_bulk: bool) -> None:
        """Query a memory; ``known`` holds the vectors of the queries."""
        self._memory = memory
        self._in_bulk = in_bulk
        self._memory.embedding_model = self._embedder = _embedder(known)

    async def add(self, rows: Sequence[LoggedLine], vectors: Matrix) -> None:
        """Add each text, or insert the batch if there are too many."""
        if self._in_bulk:
            self._insert(rows, vectors)
            return
        self._embedder.known = {row.text: vector for row, vector in zip(rows, vectors, strict=True)}
        for row in rows:
            self._memory.add(row.text, infer=False, metadata={"at": row.happened_at}, **_identity(row))

    async def search(self, question: Question) -> Sequence[str]:
        """Search one group."""
        found = self._memory.search(question.text, filters={"run_id": question.group_id}, top_k=K)
        return [item["memory"] for item in found["results"]]

    def _insert(self, rows: Sequence[LoggedLine], vectors: Matrix) -> None:
        payloads = [
            {"data": row.text, "text_lemmatized": row.text, "hash": row.id, "role": "user", "at": row.happened_at,
             "created_at": row.happened_at, "updated_at": row.happened_at, **_identity(row)} for row in rows
        ]  # fmt: skip
        self._memory.vector_store.insert(vectors.tolist(), payloads, [row.id for row in rows])


@asynccontextmanager
async def opened(opening: Opening) -> AsyncIterator[Mem0]:
    """Open mem0 in a folder; the API key is never used, since no model is called."""
    unused = {"provider": "openai", "config": {"api_key": "none"}}
    settings = {
        "vector_store": {
            "provider": "chroma",
            "config": {"collection_name": "year", "path": str(opening.folder / "chroma")},
        },
        "llm": unused,
        "embedder": unused,
        "history_db_path": str(opening.folder / "history.db"),
    }
    memory = import_module("mem0").Memory.from_config(settings)
    yield Mem0(memory, opening.known, in_bulk=opening.events > BULK)
    memory.close()


def _embedder(known: Mapping[str, Row]) -> Any:
    base: Any = import_module("mem0.embeddings.base").EmbeddingBase

    class Known(base):
        """An embedder with precomputed vectors."""

        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            return self.known[text].tolist()

    made = Known()
    made.known = known
    return made


def _identity(row: LoggedLine) -> dict[str, str]:
    return {"run_id": row.group_id} if row.group_id else {"user_id": row.user_id}
