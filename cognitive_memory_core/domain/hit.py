"""What is asked of the stores, and what a search answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from .event import Event
from .interval import Interval
from .message import Passage
from .scope import Scene


@dataclass(frozen=True)
class Reading:
    """What a scene asks to read. The scene bounds it; everything else only narrows.

    ``user_id`` keeps what that person said, was there for, or is spoken of in; ``without`` names people whose words
    and mentions are left out (they opted out).
    """

    scene: Scene
    user_id: str = ""
    group_id: str = ""
    kinds: tuple[str, ...] = ()
    window: Interval | None = None
    without: frozenset[str] = field(default=frozenset())

    def admits(self, event: Event) -> bool:
        """Tell whether an event may be shown: the choke point that every row passes, whatever store it came from."""
        return (
            event.scope.readable_by(self.scene, sender_id=event.sender_id)
            and event.retired_at is None
            and self._narrows_to(event)
            and not self.without.intersection((event.sender_id, *event.subjects))
        )

    def _narrows_to(self, event: Event) -> bool:
        return (
            (not self.user_id or self.user_id in (event.sender_id, event.user_id, *event.subjects))
            and (not self.group_id or self.group_id == event.group_id)
            and (not self.kinds or event.kind in self.kinds)
            and (self.window is None or event.happened_at in self.window)
        )


@dataclass(frozen=True)
class Hit:
    """One event that a search found.

    ``score`` orders the list. ``similarity`` and ``lexical`` are the two legs' own scores and ``relevance`` their
    fusion before decay; each in [0, 1]. A line of the log comes with the lines round it, as far as they may be read:
    ``neighbours``, oldest first.
    """

    event: Event
    score: float
    similarity: float = 0.0
    lexical: float = 0.0
    relevance: float = 0.0
    neighbours: Passage = ()
