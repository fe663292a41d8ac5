"""Renders a context: each item found becomes a line, in a fixed order, in a fence that no stored text can close."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from .. import sentences
from ..domain.answer import Context, Section
from ..domain.belief import Belief
from ..domain.event import ELLIPSIS, Event, Quote, duplicate_key, nested, shortened
from ..domain.message import Message
from ..domain.notes import Memo
from ..domain.people import Person, label_of
from ..domain.profile import Profile, said_in
from ..store.search.lines import FoundLine
from ..text.callnames import callname
from ..text.characters import cleared_on_erasure
from ..text.cleaning import clean_text, one_line
from ..text.fences import full_width
from ..text.names import clean_name
from ..text.speakers import name_and_id, spoken
from ..text.tokens import sentences_of, token_count
from .beliefs_and_profiles import tags_by_hand, words_of_lines
from .names import Names, with_present_names
from .one_pass import ContextPass

OPENED, CLOSED = sentences.context.MEMORY_OPENED, sentences.context.MEMORY_CLOSED
PROFILE_LENGTH = 4_000  # characters rendered of a profile; people may write more into the file
PROFILE_TAGS = 32
QUOTED_LENGTH = 240  # characters of a line of the log, as in the chat's own window
REPLIED_LENGTH = 40
BASIS_LENGTH = 120
NEXT_LENGTH = 80
SHORT_PROFILE = 120  # characters of the profile of somebody whom the question names
SHORT_TAGS = 6
SHORT_ALIASES = 3
HEADING_LENGTH = 40
People = Mapping[str, Person]
NOBODY: People = MappingProxyType({})
Original = Mapping[str, str]  # the rendered words on which a line of a profile rests, by line
NO_WORDS: Original = MappingProxyType({})
_CORNERS = str.maketrans("「」", "『』")
_ITEM = re.compile(r"\A[-*+•·][ \t]+")
_ID = re.compile(r"\(([0-9A-Za-z_-]{1,128})\)")
_HEADING = re.compile(r"#{2,6}|#[ \t]")


def rendered(found: ContextPass, budget: int | None) -> Context:
    """Render what a pass found, checked again."""
    profiles, titles, names, settings = found.profiles, sentences.context, found.names, found.settings
    scene, consent, zone = found.read_filter.scene, found.sources.consent, settings.zone
    hidden, readable = consent.opted_out, consent.present_filter(scene)
    here = found.people.get(scene.scope, NOBODY) if scene.has_place else NOBODY
    # an operator may see more pins than their own, and a person who opted out sees their own in the list of pins only
    own = [one for one in found.pins if one.owner_id in ("", scene.user_id) and one.owner_id not in hidden]
    memos = newest((*found.memos, *found.waiting), settings.query.recent_end_summaries_inject_k)
    memos = [memo for memo in memos if consent.admits(scene, memo)]
    facts, persons = {event.id: event for event in found.facts if readable.admits(event)}, list[str]()

    def original(profile: Profile) -> Original:
        words = words_of_lines(profile, facts, hidden).items()
        return {said: words_beside(said, quote, zone, here, is_own=bool(profile.key.user_id)) for said, quote in words}

    for one in found.named:
        profile = consent.profile(scene, profiles.named.get(one.id))
        words = original(profile) if profile else NO_WORDS
        persons += named_lines(one, profile, words, is_admin=one.id in profiles.admins)
    if person := consent.profile(scene, profiles.person):
        persons += profile_lines(person, scene.user_name, original(person), is_admin=scene.is_admin)
    if group := consent.profile(scene, profiles.group):  # what its shown beliefs say is not said twice
        group = group.without_events({source for one in found.beliefs for source in one.event_ids}, wholly=True)
    events = [
        event_line(event, zone, found.people.get(event.scope, NOBODY), is_replaced=event.id in found.replaced)
        for event in found.events
        if readable.admits(event)
    ]
    basis, told = [*filter(readable.admits_line, found.basis)], [*filter(readable.admits, found.told)]
    newer = [*filter(readable.admits, found.newer)]
    beliefs = [belief_line(one.quoting(basis, told), zone, newer, here) for one in found.beliefs]
    quotes = [
        quotation_line(one, names.people, zone, [*filter(readable.admits_line, one.after)])
        for one in found.quotes
        if readable.admits_line(one.line) and (one.replied is None or readable.admits_line(one.replied))
    ]
    parts = [
        Part("rest", titles.TITLE_PINS, [f"- {quoted(pin.text)}" for pin in own if consent.admits(scene, pin)], True),
        Part("profiles", titles.TITLE_PERSON, persons),
        Part("profiles", titles.TITLE_GROUP, profile_lines(group, scene.group_name, original(group)) if group else ()),
        Part("rest", titles.TITLE_BELIEFS, beliefs),
        Part("events", titles.TITLE_EVENTS, events),
        Part("events", titles.TITLE_QUOTATIONS, quotes),
        Part("memos", titles.TITLE_MEMOS, [memo_line(memo, zone) for memo in memos], True),
    ]
    if hidden:
        parts = [replace(part, lines=[*map(consent.hidden, part.lines)]) for part in parts]
    most = settings.query.context_token_budget if budget is None else budget
    sections = tuple(part.section for part in parts if part.lines)
    text = block(sections, names)
    if (tokens := token_count(text)) > most:
        sections = fitted(parts, most)
        text = block(sections, names)
        tokens = token_count(text)
    sources = *(event.id for event in found.events), *(one.line.id for one in found.quotes)
    return Context(text, sections, tokens, found.degraded, sources)


def newest(memos: Iterable[Memo], limit: int) -> list[Memo]:
    """Return the ``limit`` newest memos without duplicates, newest last."""
    once = {memo.id: memo for memo in memos}
    return sorted(once.values(), key=lambda memo: memo.written_at)[-limit:] if limit > 0 else []


# one line for each item


def memo_line(memo: Memo, zone: tzinfo) -> str:
    """Render a memo with its time."""
    return f"- [{minute(memo.written_at, zone)}] {quoted(memo.text)}"


def event_line(event: Event, zone: tzinfo, people: People = NOBODY, *, is_replaced: bool = False) -> str:
    """Render an event as the lines it rests on, with weekday and time; a replaced one as no longer valid."""
    mark = sentences.context.REPLACED if is_replaced else ""
    return f"- [{minute(event.happened_at, zone, with_weekday=True)}] {mark}{_said(event, zone, people)}"


def belief_line(belief: Belief, zone: tzinfo, newer: Iterable[Event], people: People = NOBODY) -> str:
    """Render a belief with who said it, in which words, and the day of its last confirmation.

    Behind it stands the latest event in ``newer`` that replaces, perhaps over others, one on which it rests, unless
    that event is older than the belief. ``people`` are those of the place.
    """
    texts, first = sentences.context, next(iter(belief.supporters), "")
    who = quoted(name_and_id(first, people[first].name if first in people else "")) if first else ""
    whose, day = texts.ACCORDING_TO.format(who=who) if who else "", minute(belief.updated_at, zone).split(" ")[0]
    if words := words_of_belief(belief, zone, people):
        whose = texts.ACCORDING_TO_WORDS.format(words=words)
    line = f"- {quoted(with_present_names(belief, people).statement)}{texts.CONFIRMED.format(whose=whose, day=day)}"
    gone, last = set(belief.event_ids), None
    for event in sorted(newer, key=lambda event: event.happened_at):
        if event.replaces in gone and event.happened_at >= belief.updated_at:
            gone.add(event.id)
            last = event
    if last is not None:
        line += texts.NEWER.format(day=minute(last.happened_at, zone).split(" ")[0], said=_said(last, zone, people))
    return line


def words_of_belief(belief: Belief, zone: tzinfo, people: People = NOBODY) -> str:
    """Render the first quote of a belief as :func:`words_beside` does."""
    return words_beside(belief.statement, belief.quotes[0], zone, people) if belief.quotes else ""


def quotation_line(quotation: FoundLine, people: People, zone: tzinfo, after: Iterable[Message] = ()) -> str:
    """Render a line of the log with weekday and time, speaker, the line that it replies to, and lines after it.

    ``people`` gives the present names by id. No words or names contain a corner bracket: none can pass for another
    line's speaker, for what it replies to or for what was said next.
    """
    texts, line = sentences.context, quotation.line
    speaker, said = _spoken(line, people, QUOTED_LENGTH, then=True)
    if (earlier := quotation.replied) is not None:
        of_whom, text = _spoken(earlier, people, REPLIED_LENGTH)
        speaker += texts.REPLIED_TO.format(speaker=of_whom, text=text)
    shown = texts.SPOKEN.format(speaker=speaker, text=said)
    for line_after in after:
        by_whom, text = _spoken(line_after, people, NEXT_LENGTH)
        shown += texts.FOLLOWED_BY.format(speaker=by_whom, text=text)
    return f"- [{minute(line.sent_at, zone, with_weekday=True)}] {quoted(shown)}"


def words_beside(said: str, quote: Quote, zone: tzinfo, people: People = NOBODY, *, is_own: bool = False) -> str:
    """Render the first words on which a sentence rests, with who said them and when; "" if it says the same.

    A model worded the sentence, and may have twisted what was said. Beside somebody's own portrait ``is_own`` leaves
    out who said them.
    """
    if duplicate_key(quote.text) == duplicate_key(said) or quote.sent_at is None:
        return ""
    known, day = people.get(quote.sender_id), minute(quote.sent_at, zone).split(" ")[0]
    who = "" if is_own else name_and_id(quote.sender_id, known.name if known else quote.sender_name)
    words = shortened(" ".join(quote.text.split()), BASIS_LENGTH).translate(_CORNERS)
    return quoted(sentences.context.WORDS.format(who=who.translate(_CORNERS), day=day, text=words).strip())


def profile_lines(
    profile: Profile, name: str = "", words: Original = NO_WORDS, *, is_admin: bool = False
) -> tuple[str, ...]:
    """Render a profile: ``name(id)`` with the tags, then its lines, each with its heading and the ``words`` it is from.

    ``name`` is used if the profile has none, ``is_admin`` is what the platform says of its person. Lines that rest on
    no event are marked. An empty profile gives no lines.
    """
    body, tags, key = _body_lines(profile, words), _tags(profile, PROFILE_TAGS), profile.key
    if not body and not tags:
        return ()
    label = label_of(key.user_id or key.group_id, clean_name(profile.name) or clean_name(name))
    first = sentences.context.profile_heading(label, tags, is_person=bool(key.user_id), is_admin=is_admin)
    return tuple(f"- {quoted(line)}{mark}" for line, mark in ((first, ""), *body))


def named_lines(
    person: Person, profile: Profile | None, words: Original = NO_WORDS, *, is_admin: bool = False
) -> tuple[str, ...]:
    """Render a person briefly: names, rank and tags, then the first lines of the profile; () if nothing is known.

    Every line begins with the person's name, because lines about others follow.
    """
    name = clean_name(person.name)
    aliases = [alias for alias in map(clean_name, person.aliases) if alias and alias != name][:SHORT_ALIASES]
    tags, body, left = _tags(profile, SHORT_TAGS) if profile else [], list[tuple[str, str]](), SHORT_PROFILE
    for line, mark in _body_lines(profile, words) if profile else ():  # the first ones; of a long one its beginning
        if len(line) > left:
            body = body or [(shortened(line, SHORT_PROFILE), mark)]
            break
        body.append((line, mark))
        left -= len(line)
    if not (aliases or tags or body):
        return ()
    label, has_profile = label_of(person.id, name), bool(tags or body)
    first = sentences.context.profile_heading(label, tags, aliases, is_person=has_profile, is_admin=is_admin)
    under = ((sentences.context.under_heading(name, line), mark) for line, mark in body)
    return tuple(f"- {quoted(line)}{mark}" for line, mark in ((first, ""), *under))


@cleared_on_erasure
@lru_cache(maxsize=4_096)  # the same events, memos and lines are shown again and again
def minute(instant: datetime, zone: tzinfo, *, with_weekday: bool = False) -> str:
    """Return an instant as local time of the zone, to the minute.

    With the weekday a model can date what a line says (周五, 明天).
    """
    try:
        local = instant.astimezone(zone)
    except OverflowError:  # the first and last day of datetime's range cannot be converted to another zone
        local = instant
    text = local.isoformat(" ", "minutes")[:16]  # without the offset
    return f"{text[:10]} {sentences.context.WEEKDAYS[local.weekday()]} {text[11:]}" if with_weekday else text


# a stored text on one line, with the signs of fences, headings, tags and roles made full-width; kept, because the same
# profiles, pins, memos and events are shown again and again
quoted = cleared_on_erasure(lru_cache(maxsize=4_096)(full_width))


def _said(event: Event, zone: tzinfo, people: People) -> str:
    """Return an event as its quotes, with present names."""

    def label(user_id: str, name: str) -> str:
        known = people.get(user_id)
        return label_of(user_id, clean_name(nested(known.name) if known else name))

    return quoted(spoken(event if event.quotes else with_present_names(event, people), label, zone))


def _tags(profile: Profile, most: int) -> list[str]:
    return [tag for tag in map(one_line, tags_by_hand(profile)[:PROFILE_TAGS]) if tag][:most]


def _body_lines(profile: Profile, words: Original) -> list[tuple[str, str]]:
    """Return the lines of a profile that contain words, prefixed with the heading above, and what stands behind each.

    That is a mark, or the words on which it rests.
    """
    lines: list[tuple[str, str]] = []
    heading_above = ""
    for line in clean_text(profile.summary[:PROFILE_LENGTH]).split("\n"):
        said = line.strip()
        if _HEADING.match(said):
            heading_above = one_line(said.lstrip("#"), HEADING_LENGTH)
        elif any(map(str.isalnum, said)):
            mark = "" if said_in(said) in profile.sources else sentences.context.WITHOUT_QUOTE
            if original := words.get(said_in(said)):
                mark = sentences.context.IN_WORDS.format(words=original)
            lines.append((sentences.context.under_heading(heading_above, _ITEM.sub("", said, count=1)), mark))
    return lines


def _spoken(line: Message, people: People, longest: int, *, then: bool = False) -> tuple[str, str]:
    """Return the speaker's current label, ``then`` with the name at that time if it differs, and the words."""
    words = " ".join(line.text.split())
    words = (words if len(words) <= longest else words[: longest - 1] + ELLIPSIS).translate(_CORNERS)
    if not line.sender_id:
        return sentences.context.THE_BOT, words
    known, name_then = people.get(line.sender_id), clean_name(line.scene.user_name)
    name = clean_name(known.name) if known else ""
    label = label_of(line.sender_id, name or name_then)
    if then and name and name_then and name != name_then:
        label = sentences.context.NOW_CALLED.format(label=label, then=name_then)
    return label.translate(_CORNERS), words


# the block


def block(sections: Iterable[Section], names: Names | None = None) -> str:
    """Render the sections as the text of a context, between its tags; "" if no section has a line.

    With ``names``, the id of each later ``name(id)`` is left out.
    """
    lines = [line for one in sections if one.lines for line in (heading(one), *one.lines)]
    return fenced(_with_ids_once(lines, names) if names and names.are_known else lines) if lines else ""


def fenced(lines: Iterable[str]) -> str:
    """Put lines between the tags of a context, below the notice on how to read them."""
    return "\n".join((OPENED, sentences.context.MEMORY_NOTICE, *lines, CLOSED))


def heading(section: Section) -> str:
    """Return the title line of a section."""
    return f"【{section.title}】"


def _with_ids_once(lines: Iterable[str], names: Names) -> list[str]:
    """Leave out the id of each later ``name(id)``, except for names that several people of the place bear."""
    alone: dict[str, str] = {}  # "" for a name that several bear
    written, kept = set[str](), list[str]()
    for line in lines:
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
        kept.append("".join((*pieces, line[begin:])))
    return kept


Kind = Literal["profiles", "events", "memos", "rest"]
SHARES: Mapping[Kind, float] = MappingProxyType({"profiles": 0.35, "events": 0.35, "memos": 0.15, "rest": 0.15})


@dataclass(frozen=True)
class Part:
    """A section to be fitted, the kind that sets its share of the budget, and whether its newest lines come last."""

    kind: Kind
    title: str
    lines: Sequence[str]
    newest_last: bool = False

    @property
    def section(self) -> Section:
        """The section with all its lines."""
        return Section(self.title, tuple(self.lines))


def fitted(parts: Sequence[Part], budget: int) -> tuple[Section, ...]:
    """Return the non-empty sections, in order, cut so that their block has at most ``budget`` tokens.

    Each kind has a share of the budget. Tokens that one part does not use are passed to the parts that were cut, in the
    order of the parts. Whole sentences are cut from the least relevant end: the last lines first, or the first lines if
    the newest come last. Token counts are added up line by line, each rounded up, so the block never exceeds the
    budget.
    """
    room = budget - token_count(fenced(()))
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
    for line in reversed(part.lines) if part.newest_last else part.lines:
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
    return Section(part.title, tuple(reversed(kept) if part.newest_last else kept))


def section_tokens(section: Section) -> int:
    """Return how many tokens a section takes with its title; 0 without lines."""
    return sum(map(_line_cost, (heading(section), *section.lines))) if section.lines else 0


def _line_cost(line: str) -> int:
    return token_count(line + "\n")
