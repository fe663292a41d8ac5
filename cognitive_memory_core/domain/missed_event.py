"""A query that should have found a stored event but did not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .scope import Scope


@dataclass(frozen=True)
class MissedEvent:
    """A failed recall that an operator noted: what a person said in a place, and the event that it should have found.

    ``text`` was said by ``user_id``. ``wanted`` is the text of the event; it is set when a case is read from the ledger
    and "" when it is stored.
    """

    id: str
    scope: Scope
    user_id: str
    text: str
    event_id: str
    noted_at: datetime
    wanted: str = ""
