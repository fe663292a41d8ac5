"""The block that is put before the model: quotations in a fixed order, inside a fence that nothing stored can close."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from .. import sentences
from ..domain.event import Event
from ..domain.note import Memo, Pin
from ..domain.people import Person
from ..text.fences import defused
from ..text.names import clean_name, one_line

OPENED, CLOSED = "<cognitive_memory>", "</cognitive_memory>"


@dataclass(frozen=True)
class Section:
    """One titled part of the block; ``lines`` are shown as they stand."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Context:
    """What a model should know this turn.

    ``text`` is the block to inject, "" when there is nothing; ``degraded`` names what was missing: "embedding",
    "vectors", "lexical", "rerank", "profiles", "ledger", "disabled".
    """

    text: str
    sections: tuple[Section, ...]
    tokens: int
    degraded: tuple[str, ...]


def block(sections: Iterable[Section]) -> str:
    """Put the sections into the fence; "" when no section has a line."""
    lines = [line for section in sections if section.lines for line in (heading(section), *section.lines)]
    return fenced(lines) if lines else ""


def fenced(lines: Iterable[str]) -> str:
    """Put lines into the fence, after the notice."""
    return "\n".join((OPENED, sentences.memory_notice(), *lines, CLOSED))


def heading(section: Section) -> str:
    """Give the line that opens a section."""
    return f"【{section.title}】"


def pin_lines(pins: Sequence[Pin]) -> tuple[str, ...]:
    """Show pins."""
    return tuple(f"- {quoted(pin.text)}" for pin in pins)


def memo_lines(memos: Sequence[Memo], zone: tzinfo) -> tuple[str, ...]:
    """Show memos with their time."""
    return tuple(f"- [{minute(memo.written_at, zone)}] {quoted(memo.text)}" for memo in memos)


def event_lines(events: Iterable[Event], zone: tzinfo) -> tuple[str, ...]:
    """Show events with their time; what nobody made absolute goes with whose words it is."""
    return tuple(f"- [{minute(event.happened_at, zone)}] {_attribution(event)}{quoted(event.text)}" for event in events)


def quoted(text: str) -> str:
    """Give a stored text on one line, so that it closes no fence and plays no role."""
    return defused(one_line(text))


def minute(instant: datetime, zone: tzinfo) -> str:
    """Write an instant as people of the zone would, to the minute."""
    try:
        local = instant.astimezone(zone)
    except OverflowError:  # the first and last day that a datetime can hold have no neighbour in another zone
        local = instant
    return local.replace(tzinfo=None).isoformat(" ", "minutes")


def _attribution(event: Event) -> str:
    if event.is_absolute or not event.sender_id:
        return ""
    speaker = Person(event.sender_id, clean_name(event.sender_name))
    return defused(sentences.own_words(speaker.label))
