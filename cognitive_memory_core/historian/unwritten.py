"""Messages that are not in the log yet, grouped by place in a bounded buffer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest

from ..domain.message import Message, with_names
from ..domain.scope import Scene, Scope

CAPACITY = 20_000  # messages
PLACE_CAPACITY = 10_000  # messages of one place
_Numbered = tuple[int, Message]


class UnwrittenMessages:
    """A bounded buffer; when it is full, the oldest message of the fullest place is dropped and counted."""

    def __init__(self, capacity: int = CAPACITY, place_capacity: int = PLACE_CAPACITY) -> None:
        """Create empty, for up to ``capacity`` messages in all and ``place_capacity`` of one place."""
        self.dropped = 0  # since the start
        self.newest = 0  # number of the last message added
        self._capacity = capacity
        self._place_capacity = place_capacity
        self._places: dict[Scope, deque[_Numbered]] = {}  # in the order in which they are served; none is empty

    def __len__(self) -> int:
        """Return the number of messages."""
        return sum(map(len, self._places.values()))

    def __iter__(self) -> Iterator[Message]:
        """Return the messages of all places."""
        return (message for lines in self._places.values() for _, message in lines)

    def add(self, message: Message) -> bool:
        """Add a message; return False if an older one was dropped for it."""
        lines = self._places.setdefault(message.scene.scope, deque())
        self.newest += 1
        lines.append((self.newest, message))
        if len(lines) > self._place_capacity:
            crowded = lines
        elif len(self) > self._capacity:
            crowded = max(self._places.values(), key=len)
        else:
            return True
        scope = crowded.popleft()[1].scene.scope
        if not crowded:
            del self._places[scope]
        self.dropped += 1
        return False

    def of(self, scope: Scope) -> list[Message]:
        """Return the messages of a place, oldest first; if several have the same id, the first of them."""
        once: dict[str, Message] = {}
        for _, message in self._places.get(scope, ()):
            once.setdefault(message.id, message)
        return list(once.values())

    def holds_up_to(self, number: int) -> bool:
        """Return whether a message with this number or a lower one is still here; numbers grow in order of arrival."""
        return any(lines[0][0] <= number for lines in self._places.values())

    def piece(self, limit: int) -> list[Message]:
        """Return the next messages to write, round-robin over the places, oldest first."""
        turns = chain.from_iterable(zip_longest(*self._places.values()))
        return [message for _, message in islice(filter(None, turns), limit)]

    def remove(self, written: Sequence[Message]) -> None:
        """Remove messages that were written; their places come last in the next :meth:`piece`."""
        identities = {id(message) for message in written}
        for scope in {message.scene.scope: None for message in written}:
            lines = self._places.pop(scope, None)
            while lines and id(lines[0][1]) in identities:  # withdrawn ones are gone already
                lines.popleft()
            if lines:
                self._places[scope] = lines

    def keep(self, stays: Callable[[Message], bool]) -> None:
        """Keep only the messages for which ``stays`` returns True."""
        kept = {
            scope: deque((number, message) for number, message in lines if stays(message))
            for scope, lines in self._places.items()
        }
        self._places = {scope: lines for scope, lines in kept.items() if lines}

    def name(self, scene: Scene) -> None:
        """Put the names of a scene's person and group on their messages that have none."""
        lines = self._places.get(scene.scope, deque())
        for at, (number, message) in enumerate(lines):
            lines[at] = number, with_names(message, scene)

    def reword(self, changed: Callable[[str], str]) -> None:
        """Replace the text of every message."""
        for scope, lines in self._places.items():
            self._places[scope] = deque((no, replace(message, text=changed(message.text))) for no, message in lines)
