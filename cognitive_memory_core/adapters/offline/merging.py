"""Merges profiles without a model: each fact becomes a dated line under the heading of its kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ... import sentences
from ...domain.event import EventKind, duplicate_key
from ...domain.fact import Fact
from ...domain.people import Person
from ...domain.profile import Profile
from ...ports.models import ProfileContent
from ...settings import Live, Settings
from ...text.identity.name_cleaning import NAME_LENGTH, one_line
from ...text.identity.persons import without_speaker
from ...text.statements.group_rules import lays_down_rule
from ...text.statements.lasting_facts import EndedState, ended_states, lasting_clause, speaks_of_rank_or_debt
from ...text.statements.markdown_sections import OutlineSection, headed, sections_of, written
from ...text.statements.withdrawn_claims import WithdrawnClaim, without

LINE_LENGTH = 120
_OF_PERSONS, _OF_GROUPS = sentences.stored_text.PROFILE_HEADINGS, sentences.stored_text.GROUP_HEADINGS
_RULE = re.compile(
    "不许|不准|不得|不能发|禁止|严禁|必须|群规|规矩|规定|每[周月天日晚年个]|every (?:week|month|day)|must|not allowed"
)
_MEMBER = re.compile("负责|担任|分工|值班|轮值|新人|入群|退群|in charge")
_FIELDS: dict[EventKind, str] = {
    "preference": "interests",
    "knowledge": "role",
    "experience": "topics",
    "event": "topics",
}
_SAID = re.compile("说[:：]|说道[:：]")
_NAMED = re.compile(r"([^：；（）()]+)\([0-9A-Za-z_-]{1,128}\)")
_PAUSES = frozenset("，。：；、,.:;!?！？「“\"'")


@dataclass(frozen=True)
class RuleMerger:
    """Writes each fact as a dated line of the profile, by rules; of two facts that contradict each other both stay.

    If the profile exceeds ``profile.max_chars`` characters, the oldest lines written by this class are removed, and a
    note in the profile states how many. Text written by a model or a person stays.

    The line of a withdrawn fact (its event was forgotten or corrected) is removed, and with it every sentence or tag by
    a model or a person that repeats more than half of the fact. Other tags are not changed.
    """

    settings: Live[Settings]

    async def merge(
        self, person: Person, profile: Profile | None, facts: Sequence[Fact], now: datetime
    ) -> ProfileContent:
        """Return the profile with the facts as lines, newest last; unchanged if no fact is a lasting one."""
        settings = self.settings.current
        is_group = any(fact.key.entity_type == "group" for fact in facts)
        page, tags = _parsed_page(profile, is_group=is_group), profile.tags if profile else ()
        for said, gone in _withdrawn(person, facts):
            page.remove_fact(said, gone)
            tags = tuple(tag for tag in tags if not gone.is_told_by(tag))
        for fact in sorted(facts, key=lambda fact: fact.happened_at):
            day = min(fact.happened_at, now).astimezone(settings.zone).date().isoformat()
            for ended in () if fact.is_withdrawn else _ended_by(person, fact):
                page.end(ended, day)
            if not fact.is_withdrawn and (line := _line_of(person, fact)):
                page.add(page.headings[line.field], line.said, day)
        page.shrink(settings.profile.max_chars)
        return ProfileContent(tags, page.text)


@dataclass(frozen=True)
class _ProfileLine:
    """The text of a fact in a profile, and the field of the profile under whose heading it belongs."""

    said: str
    field: str


class _Page:
    """The body of a profile while lines are added and removed."""

    def __init__(self, sections: Sequence[OutlineSection], headings: Mapping[str, str]) -> None:
        self.headings = headings
        self._order = tuple(headings.values())
        self._sections = [(one.heading, list(one.lines)) for one in sections]

    @property
    def text(self) -> str:
        """Return the sections as the Markdown text of a profile."""
        return written(OutlineSection(heading, tuple(lines)) for heading, lines in self._sections).strip()

    def add(self, title: str, said: str, day: str) -> None:
        """Append a line to a section in place of an equal line by rules; do nothing if others wrote an equal line."""
        key = duplicate_key(said)
        ours = {line for _, lines in self._sections for line in lines if _key_of_rule_line(line) == key}
        if any(_key(line) == key for _, lines in self._sections for line in lines if line not in ours):
            return
        for _, lines in self._sections:
            lines[:] = [line for line in lines if line not in ours]
        lines = self._lines_under(title)
        end = next((index for index in range(len(lines), 0, -1) if lines[index - 1].strip()), 0)
        lines.insert(end, sentences.stored_text.noted_on(said, day))
        self._drop_empty()

    def remove_fact(self, said: str, gone: WithdrawnClaim) -> None:
        """Remove the rules' line with exactly this text, and sentences by others that ``gone`` recognises."""
        key = duplicate_key(said)

        def left_of(line: str) -> str:
            if sentences.stored_text.noted(line) or sentences.stored_text.left_out_count(line) is not None:
                return "" if _key_of_rule_line(line) == key else line
            return without(line, gone.is_told_by)

        for _, lines in self._sections:
            left = [(line, left_of(line)) for line in lines]
            lines[:] = [new for line, new in left if new or not line]
        self._drop_empty()

    def end(self, ended: EndedState, day: str) -> None:
        """Replace the rules' lines that claim an ended state, dated ``day`` or earlier, by the clause that ends it."""
        title = ""
        for heading, lines in self._sections:
            found = ((line, sentences.stored_text.noted(line)) for line in lines)
            over = [line for line, noted in found if noted and noted[1] <= day and ended.ends(noted[0])]
            title = OutlineSection(heading).title if over else title
            lines[:] = [line for line in lines if line not in over]
        if title:
            self.add(title, sentences.stored_text.QUOTED_CLAUSE.format(clause=ended.clause), day)

    def shrink(self, limit: int) -> None:
        """Remove the oldest lines by rules until the page has at most ``limit`` characters.

        A note in the page states how many lines were ever removed.
        """
        count = self._pop_removed_count()
        while len(self.text) + (len(sentences.stored_text.left_out_lines(count)) + 2 if count else 0) > limit:
            oldest = min(self._rule_lines(), default=None)
            if oldest is None:
                break
            del self._sections[-oldest[1]][1][oldest[2]]
            count += 1
        self._drop_empty()
        if count:
            self._write_removed_note(count)

    def _write_removed_note(self, count: int) -> None:
        lead = self._sections[0][1]
        while lead and not lead[-1].strip():
            lead.pop()
        lead += (
            ["", sentences.stored_text.left_out_lines(count), ""]
            if lead
            else [sentences.stored_text.left_out_lines(count), ""]
        )

    def _pop_removed_count(self) -> int:
        """Remove the note on removed lines from the page; return how many lines it counts, 0 if there is no note."""
        found = 0
        for _, lines in self._sections:
            counts = [sentences.stored_text.left_out_count(line) for line in lines]
            found += sum(filter(None, counts))
            lines[:] = [line for line, count in zip(lines, counts, strict=True) if count is None]
        return found

    def _rule_lines(self) -> Iterator[tuple[str, int, int]]:
        """Yield the day, the negative section number and the index of each line written by rules."""
        for number, (_, lines) in enumerate(self._sections):
            for index, line in enumerate(lines):
                if noted := sentences.stored_text.noted(line):
                    yield noted[1], -number, index  # of one day, lines of the less durable sections go first

    def _lines_under(self, title: str) -> list[str]:
        for heading, lines in self._sections:
            if OutlineSection(heading).title == title:
                return lines
        return self._section_lines(title)

    def _section_lines(self, title: str) -> list[str]:
        """Insert a section where the order of the rules' sections puts it; return its lines, which may be changed."""
        earlier = frozenset(self._order[: self._order.index(title)])
        titles = [OutlineSection(heading).title for heading, _ in self._sections]
        at = max((index for index, one in enumerate(titles) if one in earlier), default=0) + 1
        before = self._sections[at - 1][1]
        if at == 1 and not any(line.strip() for line in before):
            before.clear()
        elif before[-1:] != [""]:
            before.append("")
        lines: list[str] = [""]
        self._sections.insert(at, (headed(title), lines))
        return lines

    def _drop_empty(self) -> None:
        """Remove those of the rules' sections that have no lines."""
        self._sections = [
            (heading, lines)
            for heading, lines in self._sections
            if OutlineSection(heading).title not in self._order or any(line.strip() for line in lines)
        ]


def _parsed_page(profile: Profile | None, *, is_group: bool) -> _Page:
    """Parse a profile into a page; an empty page if there is no profile.

    In the profile of a group, sections to which an earlier version gave a person's headings are renamed.
    """
    sections = sections_of(profile.summary if profile else "")
    if not is_group:
        return _Page(sections, _OF_PERSONS)
    found: dict[str, list[str]] = {}
    for one in sections:
        title = sentences.stored_text.EARLIER_GROUP_HEADINGS.get(one.title)
        lines = found.setdefault(headed(title) if title else one.heading, [])
        while lines and not lines[-1].strip():
            lines.pop()
        lines += one.lines
    return _Page([OutlineSection(heading, tuple(lines)) for heading, lines in found.items()], _OF_GROUPS)


def _withdrawn(person: Person, facts: Sequence[Fact]) -> Iterator[tuple[str, WithdrawnClaim]]:
    """Yield, for each withdrawn fact, its text in the profile, and a recogniser of other text that retells it.

    The recogniser ignores the words of new facts and the names and ids of the person and the group.
    """
    new = tuple(fact.text for fact in facts if not fact.is_withdrawn)
    for fact in facts:
        if fact.is_withdrawn:
            but = (*new, person.name, person.id, fact.key.group_id, fact.key.user_id)
            line = _line_of(person, fact)
            yield (line.said if line else ""), WithdrawnClaim(fact.text, but)


def _line_of(person: Person, fact: Fact) -> _ProfileLine | None:
    """Return what a fact says of the person, without their label, and its section; None if it is nothing lasting.

    A quotation counts only if its speaker is the person and says something lasting of themselves.
    """
    text = fact.text.strip()
    if quotation := sentences.stored_text.quoted_words(text, person.id):
        return _quoted(*quotation)
    if speaks_of_rank_or_debt(without_speaker(text).removeprefix(person.label)):
        return None
    said = _said_of(person, fact)
    return _ProfileLine(said, _field_of(fact)) if said else None


def _field_of(fact: Fact) -> str:
    if fact.key.entity_type != "group":
        return _FIELDS.get(fact.kind, "topics")
    if _RULE.search(fact.text) or lays_down_rule(fact.text):
        return "rules"
    if _MEMBER.search(fact.text):
        return "members"
    return "state" if fact.kind in ("knowledge", "preference") else "topics"


def _ended_by(person: Person, fact: Fact) -> list[EndedState]:
    """Return the states that have ended for the person, as the person says in a quotation."""
    quotation = sentences.stored_text.quoted_words(fact.text.strip(), person.id)
    return ended_states(quotation[0]) if quotation else []


def _quoted(said: str, notes: str) -> _ProfileLine | None:
    clause = lasting_clause(said, _NAMED.findall(notes))
    return (
        _ProfileLine(sentences.stored_text.QUOTED_CLAUSE.format(clause=clause.text), clause.field) if clause else None
    )


def _said_of(person: Person, fact: Fact) -> str:
    """Return what a fact says about the person, without the label; "" if it only reports the person's words."""
    text = fact.text.strip()
    at = text.find(f"({person.id})")
    name = text[:at]
    if 0 <= at <= NAME_LENGTH and not set(name) & _PAUSES:
        rest = text[at + len(person.id) + 2 :].lstrip(" ")
        if rest.startswith(("的", "'", "’")):
            return one_line(text, LINE_LENGTH) if name in ("", "QQ") else one_line(name + rest, LINE_LENGTH)
        text = rest
        if _SAID.match(text) and fact.kind == "event":
            return ""
    return one_line(text.lstrip("：:，, "), LINE_LENGTH)


def _key(line: str) -> str:
    noted = sentences.stored_text.noted(line)
    return duplicate_key(noted[0] if noted else line.lstrip("-* "))


def _key_of_rule_line(line: str) -> str | None:
    return _key(line) if sentences.stored_text.noted(line) else None
