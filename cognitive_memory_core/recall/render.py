"""Renders the text of a context: lines in a fixed order, in a fence that no stored text can close."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Literal

from .. import sentences
from ..domain.belief import Belief
from ..domain.event import Event, label_of, shortened
from ..domain.message import Message, Section
from ..domain.profile import Profile, said_in
from ..domain.turn import Memo, Person, Pin
from ..store.search.lines import FoundLine
from ..text.characters import cleared_on_erasure
from ..text.names import clean_name, clean_text, full_width, one_line
from ..text.people import callname, name_and_id, spoken
from ..text.terms import sentences_of, token_count
from .query import Names

OPENED, CLOSED = sentences.context.MEMORY_OPENED, sentences.context.MEMORY_CLOSED
PROFILE_LENGTH = 4_000  # characters rendered of a profile; people may write more into the file
PROFILE_TAGS = 32
QUOTED_LENGTH = 240  # characters of a line of the log, as in the chat's own window
REPLIED_LENGTH = 40
NEXT_LENGTH = 80
SHORT_PROFILE = 120  # characters of the profile of somebody whom the question names
SHORT_TAGS = 6
SHORT_ALIASES = 3
_CORNERS = str.maketrans("「」", "『』")
HEADING_LENGTH = 40
_ITEM = re.compile(r"\A[-*+•·][ \t]+")
_ID = re.compile(r"\(([0-9A-Za-z_-]{1,128})\)")
_HEADING = re.compile(r"#{2,6}|#[ \t]")


def block(sections: Iterable[Section]) -> str:
    """Render the sections as the text of a context, between its tags; "" if no section has a line."""
    lines = [line for section in sections if section.lines for line in (heading(section), *section.lines)]
    return fenced(lines) if lines else ""


def fenced(lines: Iterable[str]) -> str:
    """Put lines between the tags of a context, below the notice on how to read them."""
    return "\n".join((OPENED, sentences.context.MEMORY_NOTICE, *lines, CLOSED))


def heading(section: Section) -> str:
    """Return the title line of a section."""
    return f"【{section.title}】"


def pin_lines(pins: Sequence[Pin]) -> tuple[str, ...]:
    """Render pins, one line each."""
    return tuple(f"- {quoted(pin.text)}" for pin in pins)


def memo_lines(memos: Sequence[Memo], zone: tzinfo) -> tuple[str, ...]:
    """Render memos with their time, one line each."""
    return tuple(f"- [{minute(memo.written_at, zone)}] {quoted(memo.text)}" for memo in memos)


def profile_lines(profile: Profile, name: str = "", *, is_admin: bool = False) -> tuple[str, ...]:
    """Render a profile: ``name(id)`` with the tags, then its lines, each prefixed with its heading.

    ``name`` is used if the profile has none, ``is_admin`` is what the platform says of its person. Lines that rest on
    no event are marked. An empty profile gives no lines.
    """
    body = _body_lines(profile)
    tags = [tag for tag in map(one_line, profile.tags[:PROFILE_TAGS]) if tag]
    if not body and not tags:
        return ()
    key = profile.key
    label = Person(key.user_id or key.group_id, clean_name(profile.name) or clean_name(name)).label
    first = sentences.context.profile_heading(label, tags, is_person=bool(key.user_id), is_admin=is_admin)
    return tuple(f"- {quoted(line)}" for line in (first, *body))


def belief_lines(
    beliefs: Iterable[Belief], zone: tzinfo, newer: Iterable[Event], people: Mapping[str, Person]
) -> tuple[str, ...]:
    """Render beliefs, each with who said it and the day of its last confirmation.

    ``people`` gives the present names by id.

    Behind a belief stands the latest event in ``newer`` that replaces, perhaps over others, one on which it rests,
    unless that event is older than the belief.
    """
    lines: list[str] = []
    later = sorted(newer, key=lambda event: event.happened_at)
    for one in beliefs:
        day = minute(one.updated_at, zone).split(" ")[0]
        first = next(iter(one.supporters), "")
        who = quoted(name_and_id(first, people[first].name if first in people else "")) if first else ""
        whose = sentences.context.ACCORDING_TO.format(who=who) if who else ""
        line = f"- {quoted(one.statement)}{sentences.context.CONFIRMED.format(whose=whose, day=day)}"
        gone, last = set(one.event_ids), None
        for event in later:
            if event.replaces in gone and event.happened_at >= one.updated_at:
                gone.add(event.id)
                last = event
        if last:
            day, said = minute(last.happened_at, zone).split(" ")[0], quoted(spoken(last, zone=zone))
            line += sentences.context.NEWER.format(day=day, said=said)
        lines.append(line)
    return tuple(lines)


def event_lines(events: Iterable[Event], zone: tzinfo, replaced: Collection[str] = ()) -> tuple[str, ...]:
    """Render events as the lines they rest on, with weekday and time; those in ``replaced`` as no longer valid."""
    marked = ((event, sentences.context.REPLACED if event.id in replaced else "") for event in events)
    return tuple(
        f"- [{minute(event.happened_at, zone, with_weekday=True)}] {mark}{quoted(spoken(event, zone=zone))}"
        for event, mark in marked
    )


def quotation_lines(quotations: Iterable[FoundLine], people: Mapping[str, Person], zone: tzinfo) -> tuple[str, ...]:
    """Render lines of the log with weekday and time, speaker, the line that each replies to, and the lines after it.

    ``people`` gives the present names by id. No words contain a corner bracket, so that no text can pass for another
    line's speaker, for what it replies to or for what was said next.
    """
    lines: list[str] = []
    for one in quotations:
        speaker, after = _label(one.line, people, then=True), ""
        if one.replied is not None:
            earlier = one_line(one.replied.text, REPLIED_LENGTH).translate(_CORNERS)
            speaker += sentences.context.REPLIED_TO.format(speaker=_label(one.replied, people), text=earlier)
        for line in one.after:
            later = one_line(line.text, NEXT_LENGTH).translate(_CORNERS)
            after += sentences.context.FOLLOWED_BY.format(speaker=_label(line, people), text=later)
        text = one_line(one.line.text, QUOTED_LENGTH).translate(_CORNERS)
        said = quoted(sentences.context.SPOKEN.format(speaker=speaker, text=text) + after)
        lines.append(f"- [{minute(one.line.sent_at, zone, with_weekday=True)}] {said}")
    return tuple(lines)


def with_ids_once(sections: Iterable[Section], names: Names) -> tuple[Section, ...]:
    """Leave out the id of each later ``name(id)``, except for names that several people of the place bear."""
    alone: dict[str, str] = {}  # "" for a name that several bear
    written: set[str] = set()
    kept = list(sections)
    shown = [list(section.lines) for section in kept]
    for lines in shown:
        for at, line in enumerate(lines):
            pieces, begin = list[str](), 0
            for found in _ID.finditer(line):
                if (one := found[1]) not in names.people:
                    continue
                if (name := alone.get(one)) is None:
                    name = clean_name(names.people[one].name)
                    is_alone = len(names.ids_by_name.get(callname(name), ())) == 1
                    name = alone[one] = name if is_alone else ""
                if name and line.endswith(name, 0, found.start()):
                    pieces.append(line[begin : found.start() if one in written else found.end()])
                    begin = found.end()
                    written.add(one)
            lines[at] = "".join((*pieces, line[begin:]))
    return tuple(replace(section, lines=tuple(lines)) for section, lines in zip(kept, shown, strict=True))


def named_lines(person: Person, profile: Profile | None, *, is_admin: bool = False) -> tuple[str, ...]:
    """Render a person briefly: names, rank and tags, then the first lines of the profile; () if nothing is known.

    Every line begins with the person's name, because lines about others follow.
    """
    name = clean_name(person.name)
    aliases = [alias for alias in map(clean_name, person.aliases) if alias and alias != name][:SHORT_ALIASES]
    tags = [tag for tag in map(one_line, profile.tags) if tag][:SHORT_TAGS] if profile else []
    body, left = list[str](), SHORT_PROFILE  # the first lines up to so many characters; of a longer one its beginning
    for line in _body_lines(profile) if profile else ():
        if len(line) > left:
            body = body or [shortened(line, SHORT_PROFILE)]
            break
        body.append(line)
        left -= len(line)
    if not (aliases or tags or body):
        return ()
    label, has_profile = Person(person.id, name).label, bool(tags or body)
    first = sentences.context.profile_heading(label, tags, aliases, is_person=has_profile, is_admin=is_admin)
    return tuple(
        f"- {quoted(line)}" for line in (first, *(sentences.context.under_heading(name, line) for line in body))
    )


@cleared_on_erasure
@lru_cache(maxsize=4_096)  # profiles, pins, memos and the same events are shown again and again
def quoted(text: str) -> str:
    """Return a stored text on one line, with the signs of fences, headings, tags and roles made full-width."""
    return full_width(text)


def minute(instant: datetime, zone: tzinfo, *, with_weekday: bool = False) -> str:
    """Return an instant as local time of the zone, to the minute.

    The words of a line (周五, 明天) can be dated from the weekday.
    """
    try:
        local = instant.astimezone(zone)
    except OverflowError:  # the first and last day of datetime's range cannot be converted to another zone
        local = instant
    text = local.replace(tzinfo=None).isoformat(" ", "minutes")
    return f"{text[:10]} {sentences.context.WEEKDAYS[local.weekday()]} {text[11:]}" if with_weekday else text


def _body_lines(profile: Profile) -> list[str]:
    """Return the lines of a profile that contain words, each prefixed with the heading above it."""
    lines: list[str] = []
    heading_above = ""
    for line in clean_text(profile.summary[:PROFILE_LENGTH]).split("\n"):
        said = line.strip()
        if _HEADING.match(said):
            heading_above = one_line(said.lstrip("#"), HEADING_LENGTH)
        elif any(map(str.isalnum, said)):
            mark = "" if said_in(said) in profile.sources else sentences.context.WITHOUT_QUOTE
            lines.append(sentences.context.under_heading(heading_above, _ITEM.sub("", said, count=1)) + mark)
    return lines


def _label(line: Message, people: Mapping[str, Person], *, then: bool = False) -> str:
    """Return the speaker's current label, ``then`` with the name at that time if it differs."""
    if not line.sender_id:
        return sentences.context.THE_BOT
    shown_name = clean_name(line.scene.user_name)
    known = people.get(line.sender_id)
    name = clean_name(known.name) if known else ""
    label = label_of(line.sender_id, name or shown_name)
    is_renamed = then and name and shown_name and shown_name != name
    return sentences.context.NOW_CALLED.format(label=label, then=shown_name) if is_renamed else label


Kind = Literal["profiles", "events", "memos", "rest"]
SHARES: Mapping[Kind, float] = MappingProxyType({"profiles": 0.35, "events": 0.35, "memos": 0.15, "rest": 0.15})


@dataclass(frozen=True)
class Part:
    """A section to be fitted, the kind that sets its share of the budget, and whether its newest lines come last."""

    kind: Kind
    section: Section
    newest_last: bool = False


def fitted(parts: Sequence[Part], budget: int) -> tuple[Section, ...]:
    """Return the non-empty sections, in order, cut so that their block has at most ``budget`` tokens.

    Each kind has a share of the budget. Tokens that one part does not use are passed to the parts that were cut, in the
    order of the parts. Whole sentences are cut from the least relevant end: the last lines first, or the first lines if
    the newest come last. Token counts are added up line by line, each rounded up, so the block never exceeds the
    budget.
    """
    room = budget - _fence_cost()
    if sum(section_tokens(part.section) for part in parts) <= room:  # as in most turns
        return tuple(part.section for part in parts if part.section.lines)
    left = {kind: int(room * share) for kind, share in SHARES.items()}
    kept: list[Section] = []
    for part in parts:
        kept.append(_cut(part, left[part.kind]))
        left[part.kind] -= section_tokens(kept[-1])
    spare = room - sum(map(section_tokens, kept))
    for at, (part, section) in enumerate(zip(parts, kept, strict=True)):
        if section != part.section:
            kept[at] = _cut(part, section_tokens(section) + spare)
            spare -= section_tokens(kept[at]) - section_tokens(section)
    return tuple(section for section in kept if section.lines)


def _cut(part: Part, limit: int) -> Section:
    left = limit - _line_cost(heading(part.section))
    kept: list[str] = []
    for line in reversed(part.section.lines) if part.newest_last else part.section.lines:
        if (cost := _line_cost(line)) > left:  # its leading whole sentences, as far as they fit
            left, fitting = left - _line_cost(""), ""
            for sentence in sentences_of(line):
                if (left := left - token_count(sentence)) < 0:
                    break
                fitting += sentence
            kept += [fitting] if fitting else []
            break
        kept.append(line)
        left -= cost
    return replace(part.section, lines=tuple(reversed(kept) if part.newest_last else kept))


def section_tokens(section: Section) -> int:
    """Return how many tokens a section takes with its title; 0 without lines."""
    return sum(map(_line_cost, (heading(section), *section.lines))) if section.lines else 0


@cache
def _fence_cost() -> int:
    return token_count(fenced(()))


@cleared_on_erasure
@lru_cache(maxsize=4_096)  # many lines are the same in every turn
def _line_cost(line: str) -> int:
    return token_count(line + "\n")
