"""bm25s over words cut by jieba: lexical search alone; one index per group, or one for all with a mask.

A bm25s index is built once over all its texts and cannot be extended: the time to add is that of building it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .peers_questions import Matrix, Question
from .peers_systems import K, LoggedLine, Opening

WHOLE = "whole"


class Bm25sIndex:
    """Indexes by name: a group's id, or the one for all."""

    def __init__(self, folder: Path, *, masked: bool) -> None:
        """Load the indexes in the folder."""
        self._library: Any = import_module("bm25s")
        self._cut: Any = _jieba().lcut
        self._folder = folder
        self._masked = masked
        kept = folder / "texts.json"
        self._texts: defaultdict[str, list[str]] = defaultdict(list)
        self._texts.update(json.loads(kept.read_text("utf-8")) if kept.exists() else {})
        self._groups: list[str] = self._texts.pop("groups", [])
        load = self._library.BM25.load
        self._indexes = {name: load(folder / name, show_progress=False) for name in self._texts}
        of = np.array(self._groups)
        self._masks = {group: (of == group).astype(np.float32) for group in set(self._groups)}

    async def add(self, rows: Sequence[LoggedLine], vectors: Matrix) -> None:
        """Collect the texts for the index."""
        for row in rows:
            self._texts[WHOLE if self._masked else row.group_id or "private"].append(row.text)
        if self._masked:
            self._groups += [row.group_id for row in rows]

    async def search(self, question: Question) -> Sequence[str]:
        """Score the query's words; texts without any of them are not found."""
        name = WHOLE if self._masked else question.group_id
        texts = self._texts[name]
        found, scores = self._indexes[name].retrieve(
            [self._cut(question.text)],
            k=min(K, len(texts)),
            show_progress=False,
            weight_mask=self._masks[question.group_id] if self._masked else None,
        )
        return [texts[at] for at, score in zip(found[0], scores[0], strict=True) if score > 0]

    def finish(self) -> None:
        """Build the indexes and write them."""
        for name, texts in self._texts.items():
            index = self._library.BM25()
            index.index([self._cut(text) for text in texts], show_progress=False)
            index.save(self._folder / name, show_progress=False)
        kept = {**self._texts, "groups": self._groups} if self._masked else self._texts
        (self._folder / "texts.json").write_text(json.dumps(kept, ensure_ascii=False), "utf-8")


@asynccontextmanager
async def opened(opening: Opening) -> AsyncIterator[Bm25sIndex]:
    """Open the indexes in a folder."""
    worded = Bm25sIndex(opening.folder, masked=opening.name.endswith("masked"))
    yield worded
    if opening.asked is None:
        worded.finish()


def _jieba() -> Any:
    jieba: Any = import_module("jieba")
    jieba.setLogLevel("ERROR")
    jieba.initialize()
    return jieba
