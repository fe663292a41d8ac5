"""People and anchors: the verified context that a historian works with."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from .event import Event
from .scope import Scope


@dataclass(frozen=True)
class Person:
    """A known person: ``name`` is the current name in this place, ``aliases`` are earlier ones; equality is by id."""

    id: str
    name: str = ""
    aliases: tuple[str, ...] = field(default=(), compare=False)

    @property
    def label(self) -> str:
        """``name(id)``, the only form in which a person enters a statement."""
        return f"{self.name}({self.id})" if self.name else f"QQ({self.id})"


@dataclass(frozen=True)
class Anchors:
    """The verified context of a job: time (with zone), place, speaker and participants.

    ``people`` took part or are known in the place. ``neighbours`` are standing events of the same place that may have
    the same content; anchors hold nothing from other places. If ``is_last_try`` and the model answers badly or too
    late, the job is completed without the model.
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
        """Return the known person with this id, or one without a name."""
        return next((person for person in (self.speaker, *self.people) if person.id == user_id), Person(user_id))
