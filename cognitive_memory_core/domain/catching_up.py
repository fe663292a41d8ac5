"""What was said in a place while somebody was away, talk by talk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from .event import Event
from .message import Message
from .people import Person

PAUSE = timedelta(minutes=30)  # between two talks


@dataclass(frozen=True)
class Talk:
    """Lines of a place without a long pause: how many each person said, and the events made of them, oldest first."""

    begun_at: datetime
    ended_at: datetime
    lines: int
    speakers: tuple[tuple[Person, int], ...]
    events: tuple[Event, ...]


@dataclass(frozen=True)
class CatchUp:
    """The talks of a place after ``since``, oldest first; ``is_cut``: there were more lines than are counted."""

    since: datetime
    talks: tuple[Talk, ...] = ()
    is_cut: bool = False

    @property
    def lines(self) -> int:
        """How many lines were said."""
        return sum(talk.lines for talk in self.talks)


def talks_of(lines: Sequence[Message], events: Sequence[Event]) -> tuple[Talk, ...]:
    """Divide lines, oldest first, into talks; an event belongs to the talk of the first line that it is made of."""
    parts: list[list[Message]] = []
    for line in lines:
        if not parts or line.sent_at - parts[-1][-1].sent_at > PAUSE:
            parts.append([])
        parts[-1].append(line)
    return tuple(_talk(part, events) for part in parts)


def _talk(lines: Sequence[Message], events: Sequence[Event]) -> Talk:
    ids = {line.id for line in lines}
    people = Counter(Person(line.sender_id, line.scene.user_name) for line in lines if not line.is_bot)
    made = [event for event in events if event.message_ids and event.message_ids[0] in ids]
    made.sort(key=lambda event: event.happened_at)
    return Talk(lines[0].sent_at, lines[-1].sent_at, len(lines), tuple(people.most_common()), tuple(made))
