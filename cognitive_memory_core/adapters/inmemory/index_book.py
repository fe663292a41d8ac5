"""How far each generation of a vector store has come."""

from __future__ import annotations

from ...ports.ledger import Checkpoint
from .state import InMemoryState


class InMemoryBook:
    """The marks of a state."""

    def __init__(self, state: InMemoryState) -> None:
        """Share a state with the other ports."""
        self._state = state

    async def mark(self, birth: str) -> Checkpoint | None:
        """Return the mark of a generation; None for one that was never noted."""
        return self._state.index_marks.get(birth)

    async def furthest(self) -> Checkpoint | None:
        """Return the furthest mark of all generations."""
        return max(self._state.index_marks.values(), default=None)

    async def note(self, birth: str, mark: Checkpoint) -> None:
        """Remember a generation's mark."""
        self._state.index_marks[birth] = mark

    async def keep_only(self, birth: str) -> None:
        """Forget the marks of all generations but one."""
        marks = self._state.index_marks
        self._state.index_marks = {known: mark for known, mark in marks.items() if known == birth}
