"""Bodies on events."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

import cognitive_memory_core as core

from ... import replies
from ...replies import http_guide as guide
from .body import Answer, Instant, Refusal, RequestBody, example

LONGEST = 4_000  # characters of a corrected text
EVENT_ID = "e5a60718293a4b5c6d7e8f0000000001"


class QuoteBody(BaseModel):
    """A line that an event rests on, verbatim; ``message_id`` is "" if it is no line of the log."""

    model_config = ConfigDict(from_attributes=True)
    message_id: str
    sender_id: str
    sender_name: str
    text: str
    sent_at: Instant | None


class EventBody(BaseModel):
    """An event, its one voice as ``said_by`` and its lines as ``quotes``.

    ``score`` is set in search results; ``pain``, ``solution`` and ``outcome`` are set for experiences; ``retired_at``
    is set for one that was forgotten or corrected.
    """

    model_config = ConfigDict(from_attributes=True)
    id: str
    text: str
    kind: str
    user_id: str
    group_id: str
    sender_id: str
    sender_name: str
    said_by: str = Field(validation_alias="sender_id", default="")
    quotes: tuple[QuoteBody, ...]
    subjects: tuple[str, ...]
    message_ids: tuple[str, ...]
    happened_at: Instant
    is_absolute: bool
    count: int
    pain: str
    solution: str
    outcome: str
    score: float | None = None
    retired_at: Instant | None = None


_EVENT = {
    "id": EVENT_ID,
    "text": guide.LIKES_TEA,
    "kind": "preference",
    "user_id": "2000001",
    "group_id": "10001",
    "sender_id": "2000001",
    "sender_name": guide.NAME,
    "said_by": "2000001",
    "quotes": [
        {
            "message_id": "m1",
            "sender_id": "2000001",
            "sender_name": guide.NAME,
            "text": guide.TEA_LINE,
            "sent_at": "2026-03-06T12:30:00Z",
        }
    ],
    "subjects": ["2000001"],
    "message_ids": ["m1"],
    "happened_at": "2026-03-06T12:30:00Z",
    "is_absolute": True,
    "count": 1,
    "pain": "",
    "solution": "",
    "outcome": "",
}


class EventList(Answer):
    """Events: the hits of a search, best first, or a list, newest first."""

    model_config = example(success=True, events=[{**_EVENT, "score": 0.91}])
    events: tuple[EventBody, ...]

    @classmethod
    def listed(cls, events: list[core.Event]) -> EventList:
        """Build the body from a list of events."""
        return cls(events=tuple(map(EventBody.model_validate, events)))

    @classmethod
    def found(cls, hits: list[core.Hit]) -> EventList:
        """Build the body from the hits of a search."""
        described = ((EventBody.model_validate(hit.event), hit.score) for hit in hits)
        return cls(events=tuple(event.model_copy(update={"score": score}) for event, score in described))


class OneEvent(Answer):
    """An event."""

    model_config = example(success=True, event=_EVENT)
    event: EventBody


class EventText(RequestBody):
    """The corrected text of an event."""

    model_config = example(text=guide.LIKES_TEA)
    text: str = Field(min_length=1, max_length=LONGEST)


class ChangedEvent(Refusal):
    """The answer to a change of an event that was changed meanwhile, with the event that stands for it now."""

    model_config = example(success=False, error=replies.http.CHANGED, event=_EVENT)
    event: EventBody


class Forgotten(Answer):
    """The id of the forgotten event or removed pin."""

    model_config = example(success=True, id=EVENT_ID)
    id: str
