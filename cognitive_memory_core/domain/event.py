"""What the memory holds: absolute statements, and how a job's answer becomes them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from .fact import EventKind, Fact
from .scope import Scope

MEMORY_KINDS: tuple[EventKind, ...] = ("event", "preference", "knowledge", "experience")


@dataclass(frozen=True)
class Event:
    """A statement that happened or holds.

    ``user_id`` is the person of the scene, ``sender_id`` who said it, ``subjects`` of whom it speaks; ``group_id`` is
    "" in private. ``pain``, ``solution`` and ``outcome`` are an experience's. A hit on the raw log carries an Event of
    kind "message" whose id is the message's.
    """

    id: str
    text: str
    kind: EventKind = "event"
    user_id: str = ""
    group_id: str = ""
    sender_id: str = ""
    subjects: tuple[str, ...] = ()
    message_ids: tuple[str, ...] = ()
    request_type: Literal["group", "private"] = "group"
    perspective: str | None = None
    happened_at: datetime = field(kw_only=True)
    is_absolute: bool = True
    count: int = 1
    last_seen_at: datetime | None = None
    agent: str = "default"
    confidence: float = 1.0
    pain: str = ""
    solution: str = ""
    outcome: str = ""
    sender_name: str = ""
    retired_at: datetime | None = None

    @property
    def scope(self) -> Scope:
        """Where it was learned."""
        if self.request_type == "group":
            return Scope(self.agent, "group", self.group_id)
        return Scope(self.agent, "private", self.user_id)


@dataclass(frozen=True)
class Statement:
    """One thing that a historian says is so; not yet an event. ``speaker`` is an id out of the anchors, or "".

    ``is_own`` says that code, and no model, knows the speaker to have said it: only such words reach a person's
    profile. ``is_of_place`` says that it speaks of the group as a whole. ``repeats`` is the id of a neighbour in the
    anchors that says the same; ``heard_as`` is the observation that it was made of, "" where it was none.
    """

    text: str
    kind: EventKind = "event"
    subjects: tuple[str, ...] = ()
    speaker: str = ""
    confidence: float = 1.0
    is_absolute: bool = True
    is_own: bool = False
    is_of_place: bool = False
    repeats: str = ""
    heard_as: str = ""
    message_ids: tuple[str, ...] = ()
    happened_at: datetime | None = None
    pain: str = ""
    solution: str = ""
    outcome: str = ""


@dataclass(frozen=True)
class Draft:
    """Everything a job will write but its memo, unwritten. Writing it twice is writing it once.

    ``facts`` wait for profiles together with the events they come from. ``repeats`` names, by a new event's id, the
    standing event that says the same; ``heard`` the observation that it was made of.
    """

    job_id: str
    events: tuple[Event, ...] = ()
    facts: tuple[Fact, ...] = ()
    repeats: Mapping[str, str] = field(default_factory=dict[str, str])
    heard: Mapping[str, str] = field(default_factory=dict[str, str])


def lifted(standing: Event, again: Event) -> Event:
    """Give what stands in the words of one that says the same, where that one alone is absolute."""
    if standing.is_absolute or not again.is_absolute:
        return standing
    return replace(
        standing,
        text=again.text,
        kind=again.kind,
        subjects=again.subjects,
        is_absolute=True,
        confidence=again.confidence,
        pain=again.pain,
        solution=again.solution,
        outcome=again.outcome,
    )


def duplicate_key(text: str) -> str:
    """Reduce a text to what makes it the same statement: NFKC, no case, no spaces, no punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(char for char in folded if unicodedata.category(char)[0] in "LNMS")
    return kept or folded
