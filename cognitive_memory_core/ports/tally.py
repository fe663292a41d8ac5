"""Counters for the quality report."""

from __future__ import annotations

from collections.abc import Iterable

REFUSED, RETRIED = "gate:", "retry"  # names of counts: rejected by the gate, with the reason; asked again for that


class Tally:
    """Counters for the quality report; these count nothing.

    Those that count never raise or block; the latest counts may be lost when the process dies.
    """

    def count(self, name: str, times: int = 1) -> None:
        """Add ``times`` to the counter of this name."""

    def recalled(self, event_ids: Iterable[str]) -> None:
        """Count events that were shown, in a context or by a search."""

    def took(self, read: str, seconds: float) -> None:
        """Count one read of the kind ``read`` by its duration."""
