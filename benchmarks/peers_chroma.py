"""Bare Chroma, filtered by group: the simplest way to separate many groups."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

import numpy as np

from .peers_questions import Matrix, Question, Row
from .peers_systems import K, LoggedLine, Opening


class Filtered:
    """One collection for all groups."""

    def __init__(self, collection: Any, known: Mapping[str, Row]) -> None:
        """Query a collection; ``known`` holds the vectors of the queries."""
        self._collection = collection
        self._known = known

    async def add(self, rows: Sequence[LoggedLine], vectors: Matrix) -> None:
        """Upsert a batch."""
        metadatas = [{"group_id": row.group_id, "user_id": row.user_id, "at": row.happened_at} for row in rows]
        self._collection.upsert([row.id for row in rows], vectors, metadatas, [row.text for row in rows])

    async def search(self, question: Question) -> Sequence[str]:
        """Query with a filter."""
        vector, where = self._known[question.text][np.newaxis], {"group_id": question.group_id}
        return self._collection.query(vector, n_results=K, where=where)["documents"][0]


@asynccontextmanager
async def opened(opening: Opening) -> AsyncIterator[Filtered]:
    """Open the collection in a folder, with Chroma's defaults except the space."""
    chromadb = import_module("chromadb")
    settings = import_module("chromadb.config").Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(opening.folder), settings)
    made = client.get_or_create_collection("year", embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
    yield Filtered(made, opening.known)
