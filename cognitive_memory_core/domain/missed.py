"""A query that should have found a stored event but did not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .scope import Scope


@dataclass(frozen=True)
class MissedEvent:
    """A failed recall that an operator noted: the ``text`` that ``user_id`` said in a place, and the event wanted.

    ``wanted`` is the text of that event; it is set when a case is read from the ledger, "" when it is stored.
    """

    id: str
    scope: Scope
    user_id: str
    text: str
    event_id: str
    noted_at: datetime
    wanted: str = ""
