"""People and the job context: the verified context that a historian works with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from .event import Event
from .message import Message
from .scope import Scope

WEEK = 7 * 86_400.0


@dataclass(frozen=True)
class Person:
    """A known person: ``name`` is the current name in this place, ``aliases`` are earlier ones; equality is by id.

    ``usual`` is the name used longest in recent time, "" if unknown. ``since`` is the Unix
    time at which the person was first seen in the place, 0 if unknown.
    """

    id: str
    name: str = ""
    aliases: tuple[str, ...] = field(default=(), compare=False)
    usual: str = field(default="", compare=False)
    since: float = field(default=0.0, compare=False)

    @property
    def label(self) -> str:
        """``name(id)``, the form in which statements name a person; ``QQ(id)`` if the name is unknown."""
        return f"{self.name}({self.id})" if self.name else f"QQ({self.id})"

    def as_usual(self) -> Person:
        """Return the person with ``usual`` as the name and the current name as an alias; unchanged if there is none."""
        if not self.usual or self.usual == self.name:
            return self
        others = dict.fromkeys((self.name, *self.aliases))
        return replace(self, name=self.usual, aliases=tuple(name for name in others if name != self.usual))

    def is_settled(self, at: datetime) -> bool:
        """Return whether the person was seen in the place a week before ``at``, so that their word counts for it."""
        return 0.0 < self.since <= at.timestamp() - WEEK


@dataclass(frozen=True)
class JobContext:
    """The verified context of a job: time (with zone), place, speaker and participants.

    ``people`` took part or are known in the place. ``neighbours`` are active events of the place to which new
    statements may refer, or which they may repeat or replace. Nothing is from other places. ``earlier`` are the lines
    just before a dialogue; ``answered`` are logged lines outside the dialogue to which one of its lines replies. Both
    only help to understand the dialogue, and no new statement may rest on them alone. If ``is_last_try`` and the model
    answers badly or too late, the job is completed without the model.
    """

    when: datetime
    place: Scope
    place_name: str
    speaker: Person
    people: tuple[Person, ...] = ()
    neighbours: tuple[Event, ...] = ()
    job_id: str = ""
    is_last_try: bool = False
    earlier: tuple[Message, ...] = ()
    answered: tuple[Message, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every known name, of people and of the place."""
        named = (*(person.name for person in (self.speaker, *self.people)), self.place_name)
        return tuple(name for name in named if name)

    @cached_property
    def all_names(self) -> tuple[str, ...]:
        """Every known name once, former ones included."""
        names_and_aliases = (name for person in (self.speaker, *self.people) for name in (person.name, *person.aliases))
        return tuple(dict.fromkeys(name for name in (*names_and_aliases, self.place_name) if name))

    def named(self, user_id: str) -> Person:
        """Return the known person with this id, or a Person without a name if the id is unknown."""
        return next((person for person in (self.speaker, *self.people) if person.id == user_id), Person(user_id))
