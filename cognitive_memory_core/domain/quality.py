"""The quality report: what is stored, how good it is, what it costs, and what may be wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from .event import Quote
from .figures import Spending
from .job import QueueCounts
from .scope import Scope

Flaw = Literal["pronoun", "time", "place", "unsure", "unworded"]
FLAWS: tuple[Flaw, ...] = ("pronoun", "time", "place", "unsure", "unworded")
HALF = 0.5  # share of a place's events from which one person is named


@dataclass(frozen=True)
class PlaceQuality:
    """Counts of what is stored of one place: lines of people in its log, and active events in all and by kind.

    ``absolute`` events stand on their own, ``recalled`` ones were shown at least once since counting began.
    """

    scope: Scope
    lines: int = 0
    events: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict[str, int])
    absolute: int = 0
    recalled: int = 0


@dataclass(frozen=True)
class TeacherShare:
    """How much one person taught a group: events with them as only speaker, and the share of all events of the group.

    ``lines_share`` is their share of the group's lines; it is suspicious if ``share`` is far above it.
    """

    scope: Scope
    user_id: str
    name: str
    events: int
    share: float
    lines_share: float


@dataclass(frozen=True)
class QuotedEvent:
    """The beginning of an event's text, for an example, and of its quotes: a model worded the text."""

    id: str
    text: str
    happened_at: datetime
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True)
class EventPair:
    """Two events of one place, of which the newer one says that it replaces the older one."""

    scope: Scope
    older: QuotedEvent
    newer: QuotedEvent


@dataclass(frozen=True)
class FlawCount:
    """How many events do not stand on their own because of one flaw, with examples."""

    flaw: Flaw
    count: int
    examples: tuple[QuotedEvent, ...] = ()


@dataclass(frozen=True)
class Examination:
    """Result of reading the texts of active events: the latest ``examined`` ones, if there are more.

    ``contradictions`` counts the events that replace an older one; the latest of these pairs are examples.
    """

    examined: int = 0
    flaws: tuple[FlawCount, ...] = ()
    contradictions: int = 0
    contradicting_pairs: tuple[EventPair, ...] = ()


@dataclass(frozen=True)
class PurposeCost(Spending):
    """Calls and tokens of one purpose during the report's days; ``price`` is None if no price is configured."""

    model: str = ""
    price: float | None = None


@dataclass(frozen=True)
class Backlog:
    """Waiting work: jobs, events without a vector, and facts to be merged, with the instant of the oldest fact."""

    jobs: QueueCounts = field(default_factory=QueueCounts)
    vectors: int = 0
    facts: int = 0
    facts_since: datetime | None = None


@dataclass(frozen=True)
class MissedRecall:
    """A question for which a stored event should have been found, as an operator noted it."""

    question: str
    wanted: str
    noted_at: datetime


@dataclass(frozen=True)
class QualityReport:
    """The quality of the memory at one instant; costs and refusals are of the last ``days``.

    ``counted_since`` is the first day with counts; None before any. ``refusals`` counts what the gate rejected by
    reason, ``retries`` the further calls this caused. ``teachers`` are the people who taught most in each group.
    ``examination`` is None if texts were not read.
    """

    at: datetime
    days: int
    counted_since: date | None = None
    places: tuple[PlaceQuality, ...] = ()
    examination: Examination | None = None
    teachers: tuple[TeacherShare, ...] = ()
    refusals: Mapping[str, int] = field(default_factory=dict[str, int])
    retries: int = 0
    backlog: Backlog = field(default_factory=Backlog)
    costs: tuple[PurposeCost, ...] = ()
    missed: tuple[MissedRecall, ...] = ()

    @property
    def events(self) -> int:
        """The number of active events."""
        return sum(place.events for place in self.places)

    @property
    def vague(self) -> int:
        """The number of active events that do not stand on their own."""
        return sum(place.events - place.absolute for place in self.places)

    @property
    def never_recalled(self) -> int:
        """The number of active events that were never shown since counting began."""
        return sum(place.events - place.recalled for place in self.places)

    @property
    def dominant(self) -> tuple[TeacherShare, ...]:
        """The people who alone said more than half of the events of their group."""
        return tuple(one for one in self.teachers if one.share > HALF)

    @property
    def price(self) -> float | None:
        """The sum of the known prices; None if no price is configured."""
        known = [cost.price for cost in self.costs if cost.price is not None]
        return sum(known) if known else None
