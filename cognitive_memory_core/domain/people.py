"""Who is who: the fixed points that a historian may lean on."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from .event import Event
from .scope import Scope


@dataclass(frozen=True)
class Person:
    """A known person: the id counts, the name is what they are called here now, ``aliases`` what they were called."""

    id: str
    name: str = ""
    aliases: tuple[str, ...] = field(default=(), compare=False)

    @property
    def label(self) -> str:
        """``name(id)``, the only form in which a person enters a statement."""
        return f"{self.name}({self.id})" if self.name else f"QQ({self.id})"


@dataclass(frozen=True)
class Anchors:
    """What is known for sure around a job: when (with zone), where, who spoke, who was there.

    ``people`` are those who took part or are known in the place. ``neighbours`` are standing events of the same place
    that may say the same; nothing of another place is among the anchors. On its ``is_last_try`` a job whose model
    answers badly, or too late, is done without it.
    """

    when: datetime
    place: Scope
    place_name: str
    speaker: Person
    people: tuple[Person, ...] = ()
    neighbours: tuple[Event, ...] = ()
    job_id: str = ""
    is_last_try: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Every known name, of people and of the place."""
        named = (*(person.name for person in (self.speaker, *self.people)), self.place_name)
        return tuple(name for name in named if name)

    def named(self, user_id: str) -> Person:
        """Give the known person of an id, nameless if nobody knows the name."""
        return next((person for person in (self.speaker, *self.people) if person.id == user_id), Person(user_id))
