"""Bodies on the state of the memory."""

from __future__ import annotations

import cognitive_memory_core as core

from .body import Answer


class StatusBody(Answer):
    """The status in figures."""

    is_running: bool
    reason: str
    paused: bool
    last_error: str
    calls_today: int
    tokens_today: int

    @classmethod
    def of(cls, status: core.Status) -> StatusBody:
        """Describe a status."""
        return cls(
            is_running=status.is_running,
            reason=status.reason,
            paused=status.paused,
            last_error=status.last_error,
            calls_today=status.calls_today,
            tokens_today=status.tokens_today,
        )
