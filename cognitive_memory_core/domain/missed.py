"""A question for which a stored event should have been found."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .scope import Scope


@dataclass(frozen=True)
class MissedEvent:
    """A case that an operator noted: the ``text`` that ``user_id`` said in a place, and the event to be found for it.

    ``wanted`` is the text of that event where a case is read.
    """

    id: str
    scope: Scope
    user_id: str
    text: str
    event_id: str
    noted_at: datetime
    wanted: str = ""
