"""The memory itself as one of the compared systems, with its default settings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

import cognitive_memory_core as core

from .peers_questions import Matrix, Question
from .peers_systems import K, LoggedLine, Opening
from .topics import TopicVectors, whole, write_part
from .workload import Line, Noon


class Remembering:
    """The memory, filled by export files; results are a list of events, or a context's text."""

    def __init__(self, memory: core.CognitiveMemory, folder: Path, *, as_context: bool) -> None:
        """Query an open memory."""
        self._memory = memory
        self._folder = folder
        self._as_context = as_context
        self._added = 0

    async def add(self, rows: Sequence[LoggedLine], vectors: Matrix) -> None:
        """Import a part of the workload."""
        path = self._folder / "part.jsonl"
        write_part([_line(row) for row in rows], vectors, path)
        self._added += await self._memory.import_(path)
        path.unlink()

    async def search(self, question: Question) -> Sequence[str]:
        """Search events, or build a context."""
        scene = core.Scene.group(question.group_id, "2000001")
        if self._as_context:
            return [(await self._memory.context(scene, question.text)).text]
        return [hit.event.text for hit in await self._memory.search_events(scene, question.text, top_k=K)]

    async def finish(self) -> None:
        """Wait until everything added is indexed."""
        if self._added:
            await whole(self._memory, self._added)


@asynccontextmanager
async def opened(opening: Opening) -> AsyncIterator[Remembering]:
    """Open the memory in a folder."""
    embedder = TopicVectors(opening.known)
    async with core.CognitiveMemory.open(
        core.Settings(), opening.folder / "data", clock=Noon(), embedder=embedder
    ) as memory:
        remembering = Remembering(memory, opening.folder, as_context=opening.name.endswith("context"))
        await whole(memory, 0)
        yield remembering
        await remembering.finish()


def _line(row: LoggedLine) -> Line:
    return Line(row.id, row.text, row.group_id, row.user_id, datetime.fromisoformat(row.happened_at))
