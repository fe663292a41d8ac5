"""The read filter: which rows a read may return. It keeps what was said in one place from being read in another."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from .event import Event
from .interval import Interval
from .message import Message
from .scope import Scene

NARROWED = 40  # candidates of each filter of :meth:`ReadFilter.narrowed`, beside the others
NAMED = 3  # named times, and people, that get a filter of their own


@dataclass(frozen=True)
class ReadFilter:
    """Which rows a read may return. The scene sets the access bounds; all other fields only narrow it.

    ``user_id`` keeps events whose sender, scene person or subject is that person; ``without`` holds the ids of people
    (opted out) whose statements and mentions are excluded.
    """

    scene: Scene
    user_id: str = ""
    group_id: str = ""
    kinds: tuple[str, ...] = ()
    window: Interval | None = None
    without: frozenset[str] = field(default=frozenset())

    def admits(self, event: Event) -> bool:
        """Return whether an event may be shown. Every row is checked, whichever store returned it."""
        return (
            event.scope.readable_by(self.scene, sender_id=event.own_voice if self.scene.kind == "private" else "")
            and event.retired_at is None
            and (not self.user_id or self.user_id in (event.sender_id, event.user_id, *event.subjects))
            and (not self.group_id or self.group_id == event.group_id)
            and (not self.kinds or event.kind in self.kinds)
            and (self.window is None or event.happened_at in self.window)
            and not (self.without and self.without.intersection((event.sender_id, *event.subjects)))
        )

    def admits_line(self, line: Message) -> bool:
        """Return whether a line may be shown, as :meth:`admits` decides for :meth:`Message.as_event`, but faster."""
        scene, sender_id = line.scene, line.sender_id
        return (
            scene.scope.readable_by(self.scene, sender_id=sender_id)
            and (not self.user_id or self.user_id == scene.user_id)
            and (not self.group_id or self.group_id == scene.group_id)
            and (not self.kinds or "message" in self.kinds)
            and (self.window is None or line.sent_at in self.window)
            and not (
                self.without and self.without.intersection((sender_id, scene.user_id if line.is_bot else sender_id))
            )
        )

    def narrowed(self, windows: Sequence[Interval], people: Collection[str]) -> Iterator[ReadFilter]:
        """Yield a filter for each time, and for each person, that a query names, unless this one has one already.

        A search with it finds rows that the other rows of a large place would crowd out.
        """
        for window in windows[:NAMED] if self.window is None else ():
            yield replace(self, window=window)
        for person in sorted(people)[:NAMED] if not self.user_id else ():
            yield replace(self, user_id=person)
