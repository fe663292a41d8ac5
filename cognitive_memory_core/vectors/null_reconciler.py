"""The reconciler of a memory without a vector store (null object): only exact search over the ledger is used."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.figures import IndexState
from ..store.search.vectors import VectorLedger
from ..tasks import BackgroundLoop


class NullReconciler:
    """Implements a reconciler by doing nothing; the vectors exist in the ledger only."""

    loops: tuple[BackgroundLoop, ...] = ()

    def __init__(self, ledger: VectorLedger, fingerprint: str) -> None:
        """Create for a ledger and the model of this fingerprint, whose vectors are counted."""
        self._ledger = ledger
        self._fingerprint = fingerprint

    def nudge(self) -> None:
        """Do nothing."""

    def wake_now(self) -> None:
        """Do nothing."""

    async def lag(self) -> int:
        """Return 0, because no store has to follow the ledger."""
        return 0

    async def state(self) -> IndexState:
        """Return the state of an index that does not exist."""
        return IndexState()

    async def rebuild(self, *, afresh: bool = False) -> int:  # noqa: ARG002  # what the real one takes
        """Return the number of vectors in the ledger; there is nothing to build."""
        return len(await self._ledger.embedded_ids(self._fingerprint))

    async def remove_from_index(self, event_ids: Sequence[str]) -> None:
        """Do nothing, because the ledger has erased the vectors already."""
