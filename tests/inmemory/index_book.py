"""Checkpoints of vector store generations, in memory."""

from __future__ import annotations

from cognitive_memory_core.ports.ledger import Checkpoint

from .state import InMemoryState


class InMemoryBook:
    """The checkpoints of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def checkpoint(self, build_id: str) -> Checkpoint | None:
        """Return the checkpoint of a generation; None if none was stored."""
        return self._state.index_marks.get(build_id)

    async def furthest(self) -> Checkpoint | None:
        """Return the latest checkpoint of all generations."""
        return max(self._state.index_marks.values(), default=None)

    async def note(self, build_id: str, mark: Checkpoint) -> None:
        """Store the checkpoint of a generation."""
        self._state.index_marks[build_id] = mark

    async def keep_only(self, build_id: str) -> None:
        """Delete the checkpoints of all other generations."""
        marks = self._state.index_marks
        self._state.index_marks = {known: mark for known, mark in marks.items() if known == build_id}
