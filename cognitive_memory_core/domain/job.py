"""Jobs of the queue, and the verified context that a historian works with."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from .. import sentences
from .event import Event
from .message import Message
from .notes import Memo
from .people import Person
from .scope import Scope
from .turn import Dialogue, Turn


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

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every known name once, former ones included."""
        names_and_aliases = (name for person in (self.speaker, *self.people) for name in (person.name, *person.aliases))
        return tuple(dict.fromkeys(name for name in (*names_and_aliases, self.place_name) if name))

    def named(self, user_id: str) -> Person:
        """Return the known person with this id, or a Person without a name if the id is unknown."""
        return next((person for person in (self.speaker, *self.people) if person.id == user_id), Person(user_id))


@dataclass(frozen=True)
class Job:
    """One piece of accepted work."""

    id: str
    work: Turn | Dialogue
    accepted_at: datetime

    @property
    def scope(self) -> Scope:
        """The scope that the results are written to; jobs of one scope run in order."""
        return self.work.scene.scope

    @property
    def happened_at(self) -> datetime:
        """When the turn or dialogue took place: as given, else the last message's time, else the time of acceptance."""
        if isinstance(self.work, Turn):
            return self.work.happened_at or self.accepted_at
        return self.work.messages[-1].sent_at if self.work.messages else self.accepted_at

    @property
    def memo(self) -> Memo | None:
        """The memo of a turn, under the job's id; None for a turn without memo and for a dialogue."""
        if not isinstance(self.work, Turn) or not self.work.memo:
            return None
        return Memo(self.id, self.scope, self.work.memo, self.happened_at, self.work.scene.user_id)


@dataclass(frozen=True)
class FailedJob:
    """A failed job: its last error in one line, the number of attempts, and when it was buried."""

    id: str
    error: str
    attempts: int
    failed_at: datetime
    job: Job | None = None

    @property
    def advice(self) -> str:
        """What an operator can do about the failure, as one sentence."""
        return sentences.report.advice(self.error, is_readable=self.job is not None)


@dataclass(frozen=True)
class QueueCounts:
    """The number of jobs in each state, and the size of the pending ones in bytes.

    ``removed`` counts failed jobs deleted since the start because they were too old or too many.
    """

    pending: int = 0
    processing: int = 0
    failed: int = 0
    pending_bytes: int = 0
    removed: int = field(default=0, compare=False)
