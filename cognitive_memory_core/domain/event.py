"""Events, the quotes they rest on, the facts drawn from them, and those that could not be made."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from functools import cached_property
from typing import Literal

from .. import sentences
from .ids import derived_id
from .people import label_of
from .profile import ProfileKey
from .scope import Scene, Scope

_NESTED = {"“": "「", "”": "」", "„": "「", "‟": "「", "〝": "「", "〞": "」", "·": "・"}
_ENDING = re.compile(f"[{''.join(_NESTED)}]")
_SIGN = re.compile(r"[\W_]")  # what may be none of a letter, number, accent or symbol
ELLIPSIS = "…"
Label = Callable[[str, str], str]


@dataclass(frozen=True)
class Quote:
    """One line, whole and as it was said. A line of the bot has ``sender_id`` "".

    ``message_id`` is "" if the words are no line of the log: what a person entered by hand, or what the bot noted.
    ``sender_name`` is the sender's name at that time, ``sent_at`` the instant of the line, if they are known.
    """

    message_id: str
    sender_id: str
    text: str
    sender_name: str = ""
    sent_at: datetime | None = None


def shortened(text: str, limit: int | None) -> str:
    """Cut a text to at most ``limit`` characters; a cut text ends in "…"."""
    return text if limit is None or len(text) <= limit else text[: max(limit - 1, 0)] + ELLIPSIS


def nested(text: str) -> str:
    """Return a text on one line as it stands inside quotation marks, which no sign of it can close."""
    return " ".join(_replaced(text).split())


def _replaced(text: str) -> str:
    return _ENDING.sub(lambda mark: _NESTED[mark[0]], text)


def exchange(
    quotes: Sequence[Quote], label: Label = label_of, zone: tzinfo | None = None, *, longest: int | None = None
) -> str:
    """Return quotes in order as ``name(id)：“line”``, on one line; no line can pass for two or for another's.

    What a person entered by hand, later than the date of its event, has no quotation marks: ``name(id) 说：words``.
    With a ``zone``, lines of another day than the last one have their day in front. Lines are cut to ``longest``.
    """
    days = [one.sent_at.astimezone(zone).date() if one.sent_at and zone else None for one in quotes]
    shown: list[str] = []
    for one, day in zip(quotes, days, strict=True):
        said = shortened(nested(one.text), longest)
        when = f"{day:%m-%d} " if day and day != days[-1] else ""
        if one.sender_id:
            speaker = label(one.sender_id, _replaced(one.sender_name))
        else:
            speaker = sentences.context.THE_BOT if one.message_id else sentences.context.BOT_NOTED
        is_written = one.sender_id and not one.message_id
        line = sentences.context.SAID_BY.format(speaker=speaker) + said if is_written else f"{speaker}：“{said}”"
        shown.append(when + line)
    return " ".join(shown)


EventKind = Literal["event", "preference", "knowledge", "experience", "message"]


@dataclass(frozen=True)
class Fact:
    """One statement to be merged into one profile; code chooses the profile from the place and the speaker.

    If ``is_withdrawn``, the profile already contains it and the merge must remove it, because its event was retired or
    its speaker said something else instead.
    """

    key: ProfileKey
    event_id: str
    text: str
    kind: EventKind
    happened_at: datetime
    is_withdrawn: bool = False

    @property
    def id(self) -> str:
        """An id derived from the event and the profile, hence stable."""
        key = self.key
        return derived_id("fact", self.event_id, key.agent, key.entity_type, key.group_id, key.user_id)


LineKey = tuple[Scope, str]  # a message id is unique in its scope only
MEMORY_KINDS: tuple[EventKind, ...] = ("event", "preference", "knowledge", "experience")


@dataclass(frozen=True)
class Event:
    """A stored statement: something that happened or that holds, with the lines that it rests on.

    ``text`` is what is searched and listed; what models read are the ``quotes``. They are () for events stored before
    there were quotes. ``user_id`` is the person of the scene, ``sender_id`` the one voice of the event, ``subjects``
    the ids of the people it is about; ``group_id`` is "" in private. An event stored before there were quotes may
    have several voices: its ``sender_id`` is "". ``pain``, ``solution`` and ``outcome``
    are set for kind "experience" only. ``replaces`` is the id of an earlier event of the same voice that no longer
    holds since this one, or "". A hit on the raw log carries an Event of kind "message" with the message's id.
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
    replaces: str = ""
    quotes: tuple[Quote, ...] = ()

    @property
    def person(self) -> str:
        """Whose event it is: its voice; of what the bot noted, the person of the turn. "" if it has several voices."""
        return self.sender_id or (self.user_id if self.quotes else "")

    @property
    def is_own_words(self) -> bool:
        """Whether all quotes are of the event's sender, who may then be reminded of it in private, too."""
        return all(quote.sender_id == self.sender_id for quote in self.quotes)

    def readable_by(self, scene: Scene) -> bool:
        """Return whether a scene may read the event: by its scope, and from a group in private only own words."""
        return self.scope.readable_by(scene, sender_id=self.own_voice)

    @cached_property  # this and what follows is asked for several times a candidate
    def own_voice(self) -> str:
        """The voice that may read the event in private; "" if it rests on somebody else's words, too."""
        return self.sender_id if self.is_own_words else ""

    @cached_property
    def scope(self) -> Scope:
        """The place where the event was learned."""
        if self.request_type == "group":
            return Scope(self.agent, "group", self.group_id)
        return Scope(self.agent, "private", self.user_id)

    @cached_property
    def sources(self) -> tuple[LineKey, ...]:
        """The lines that it was made of, by scope and id; its own key for a line of the log."""
        return tuple((self.scope, message_id) for message_id in self.message_ids)

    @cached_property
    def wording(self) -> tuple[str, ...]:
        """The texts in which it is searched: its speaker's name, its text, and the fields of an experience."""
        return self.sender_name, self.text, self.pain, self.solution, self.outcome


@dataclass(frozen=True)
class Statement:
    """One statement returned by a historian, before it becomes an event. Ids and texts are "" where there is none.

    * ``quotes`` are the lines that it rests on, ``speaker`` is its one voice: the sender of one of them, or "" for what
      the bot noted. ``message_ids`` are the messages that it covers.
    * ``is_of_place``: it is about the group as a whole.
    * ``repeats`` is the id of a neighbour in the job context that says the same, ``replaces`` the id of a neighbour
      that no longer holds. ``observation`` is the text by which an equal one is recognised later without a model.
    """

    text: str
    kind: EventKind = "event"
    subjects: tuple[str, ...] = ()
    speaker: str = ""
    confidence: float = 1.0
    is_absolute: bool = True
    is_of_place: bool = False
    repeats: str = ""
    replaces: str = ""
    observation: str = ""
    quotes: tuple[Quote, ...] = ()
    message_ids: tuple[str, ...] = ()
    happened_at: datetime | None = None
    pain: str = ""
    solution: str = ""
    outcome: str = ""


@dataclass(frozen=True)
class Draft:
    """Everything that a job writes except its memo. Committing it is idempotent.

    ``facts`` wait to be merged into profiles. ``repeats`` maps the id of a new event to that of the active event with
    the same content, ``observations`` maps it to the text that the event was made from. ``corrects`` is the id of the
    event that the draft's events replace, or "".
    """

    job_id: str
    events: tuple[Event, ...] = ()
    facts: tuple[Fact, ...] = ()
    repeats: Mapping[str, str] = field(default_factory=dict[str, str])
    observations: Mapping[str, str] = field(default_factory=dict[str, str])
    corrects: str = ""


def with_absolute_text(stored: Event, again: Event) -> Event:
    """Return the stored event; with the content of ``again``, its repetition, if only ``again`` is absolute."""
    if stored.is_absolute or not again.is_absolute:
        return stored
    return replace(
        stored,
        text=again.text,
        quotes=again.quotes,
        kind=again.kind,
        subjects=again.subjects,
        is_absolute=True,
        confidence=again.confidence,
        pain=again.pain,
        solution=again.solution,
        outcome=again.outcome,
    )


def corrected_id(event_id: str, text: str) -> str:
    """Return the id of the event that replaces another one when its text is corrected."""
    return derived_id("event", derived_id("correction", event_id, text), 0)


def without_quotes(event: Event, is_gone: Callable[[Quote], bool]) -> Event | None:
    """Return an event without the quotes that are gone, its text their exchange; None without any of its voice.

    The event itself is returned if no quote of it is gone, or if it never had any.
    """
    left = tuple(quote for quote in event.quotes if not is_gone(quote))
    if left == event.quotes:
        return event
    if not any(quote.sender_id == event.sender_id for quote in left):
        return None
    return replace(event, text=exchange(left), quotes=left, is_absolute=False, pain="", solution="", outcome="")


def duplicate_key(text: str) -> str:
    """Return the key that equal statements share: the text in NFKC, case-folded, without spaces and punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _SIGN.sub(lambda sign: sign[0] if unicodedata.category(sign[0])[0] in "LNMS" else "", folded) or folded


@dataclass(frozen=True)
class MissedEvent:
    """A failed recall that an operator noted: what a person said in a place, and the event that it should have found.

    ``text`` was said by ``user_id``. ``wanted`` is the text of the event; it is set when a case is read from the ledger
    and "" when it is stored.
    """

    id: str
    scope: Scope
    user_id: str
    text: str
    event_id: str
    noted_at: datetime
    wanted: str = ""
