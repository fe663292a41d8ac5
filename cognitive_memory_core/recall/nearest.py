"""Which of two indexes a question goes to: exact search over one place, or the store over what is wider."""

from __future__ import annotations

import contextlib
from typing import Protocol

from ..domain.hit import Reading
from ..errors import BadArgument, UnavailableError
from ..ports.models import Vector
from ..ports.vectors import VectorIndex


class ExactIndex(VectorIndex, Protocol):
    """A VectorIndex that compares with every vector, and says where that is a lot of work."""

    async def is_wide(self, reading: Reading) -> bool:
        """Tell whether what would be compared does not fit into memory."""
        ...


class NearestVectors:
    """A VectorIndex over both; the store being away makes an answer slower and never smaller."""

    def __init__(self, exact: ExactIndex, wide: VectorIndex) -> None:
        """Ask the exact index, and the wide one for what is too much for it."""
        self._exact = exact
        self._wide = wide

    async def nearest(self, vector: Vector, reading: Reading, limit: int) -> list[tuple[str, float]]:
        """Give event ids with their cosine, best first.

        A graph of neighbours may pass over rows that hide behind many equal ones: what comes back short is asked again.
        """
        if await self._exact.is_wide(reading):
            with contextlib.suppress(UnavailableError, BadArgument):
                found = await self._wide.nearest(vector, reading, limit)
                if len(found) >= limit:
                    return found
        return await self._exact.nearest(vector, reading, limit)
