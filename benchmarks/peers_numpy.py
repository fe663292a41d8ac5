"""Exact search by numpy over one group's vectors in memory: close to the fastest that any index can be."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np

from .peers_questions import Matrix, Question, Row
from .peers_systems import K, LoggedLine, Opening


class Exact:
    """One matrix per group."""

    def __init__(self, folder: Path, known: Mapping[str, Row]) -> None:
        """Load the matrices in the folder."""
        self._folder = folder
        self._known = known
        kept = folder / "texts.json"
        self._texts: defaultdict[str, list[str]] = defaultdict(list)
        self._texts.update(json.loads(kept.read_text("utf-8")) if kept.exists() else {})
        self._held = {group: np.load(folder / f"{group or 'private'}.npy") for group in self._texts}
        self._parts: defaultdict[str, list[Row]] = defaultdict(list)

    async def add(self, rows: Sequence[LoggedLine], vectors: Matrix) -> None:
        """Sort a batch by group."""
        for row, vector in zip(rows, vectors, strict=True):
            self._texts[row.group_id].append(row.text)
            self._parts[row.group_id].append(vector)

    async def search(self, question: Question) -> Sequence[str]:
        """Compare with every vector of the group."""
        scores = self._held[question.group_id] @ self._known[question.text]
        best = np.argpartition(-scores, min(K, len(scores) - 1))[:K]
        texts = self._texts[question.group_id]
        return [texts[at] for at in best[np.argsort(-scores[best])]]

    def finish(self) -> None:
        """Write what was added."""
        for group, parts in self._parts.items():
            np.save(self._folder / f"{group or 'private'}.npy", np.stack(parts))
        (self._folder / "texts.json").write_text(json.dumps(self._texts, ensure_ascii=False), "utf-8")


@asynccontextmanager
async def opened(opening: Opening) -> AsyncIterator[Exact]:
    """Open the matrices in a folder."""
    exact = Exact(opening.folder, opening.known)
    yield exact
    if opening.asked is None:
        exact.finish()
