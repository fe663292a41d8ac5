"""Cases of failed recall that an operator noted; see the package for the guarantees of all its ports."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from ...domain.missed_event import MissedEvent


class MissedBook(Protocol):
    """Recall failures that an operator noted, as cases, and how often each event was shown.

    A case is erased with its event, the person who asked, or its place.
    """

    async def note(self, case: MissedEvent) -> None:
        """Store a case; does nothing if its id is known or its event is not stored."""
        ...

    async def cases(
        self, agent: str | None, limit: int, offset: int = 0, *, without: Collection[str] = ()
    ) -> list[MissedEvent]:
        """Return the cases of an agent, or of all, the latest first, each with its event's text.

        A case is left out if its event is forgotten, or if one of the people ``without`` asked the question, said the
        event, or is a subject of the event.
        """
        ...

    async def drop(self, case_id: str) -> None:
        """Delete a case; does nothing if there is none."""
        ...

    async def recalled(self, event_id: str) -> tuple[int, datetime | None]:
        """Return how often an event was shown, and when last; 0 and None if it never was."""
        ...
