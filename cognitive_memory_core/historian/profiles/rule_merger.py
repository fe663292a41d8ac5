"""Merges profiles without a model: each fact becomes a dated line, in the words in which it was said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ... import sentences
from ...domain.event import EventKind, Fact, nested
from ...ports.models import MergedLine, MergedLines, MergeInput
from ...text.names import one_line
from ...text.statements.lasting_facts import ended_states, lasting_clause, speaks_of_rank_or_debt

LINE_LENGTH = 120
_FIELDS: dict[EventKind, str] = {"preference": "interests", "knowledge": "role"}
_GROUP_FIELDS: dict[EventKind, str] = {"preference": "state", "knowledge": "state"}


@dataclass(frozen=True)
class RuleMerger:
    """Quotes of each fact the clause that says something lasting; of two that contradict each other both stay.

    A fact of which a historian says that it lasts is quoted whole. A clause that ends a state (不吃素了) replaces the
    lines that claim it.
    """

    async def merge(self, given: MergeInput, now: datetime) -> MergedLines:
        """Return a line for each fact that is a lasting one."""
        facts = sorted(given.new, key=lambda fact: fact.happened_at)
        outdated = [one for fact in facts for one in _ended_by(fact, given)]
        return MergedLines(
            tuple(line for fact in facts for line in _lines_of(fact, given, now)), outdated=tuple(outdated)
        )


def as_said(title: str, said: str, facts: Sequence[Fact], now: datetime) -> MergedLine:
    """Return the line that quotes facts, with the day of the last one."""
    day = min(max(fact.happened_at for fact in facts), now).astimezone(now.tzinfo).date().isoformat()
    return MergedLine(
        title, sentences.stored_text.noted_on(said, day).removeprefix("- "), tuple(fact.event_id for fact in facts)
    )


def quoted(facts: Sequence[Fact], given: MergeInput) -> str:
    """Return the words of facts in quotation marks; a group's have theirs already."""
    if given.is_group:
        return one_line(" ".join(fact.text for fact in facts), LINE_LENGTH)
    clauses = (one_line(nested(fact.text), LINE_LENGTH) for fact in facts)
    return "".join(sentences.stored_text.QUOTED_CLAUSE.format(clause=clause) for clause in clauses)


def _lines_of(fact: Fact, given: MergeInput, now: datetime) -> Iterator[MergedLine]:
    headings = sentences.stored_text.headings(is_group=given.is_group)
    if given.is_group:
        yield as_said(headings[_GROUP_FIELDS.get(fact.kind, "topics")], quoted([fact], given), [fact], now)
        return
    clause = lasting_clause(fact.text)
    said = sentences.stored_text.QUOTED_CLAUSE.format(clause=clause.text) if clause else ""
    if ended := ended_states(fact.text):
        said = said or sentences.stored_text.QUOTED_CLAUSE.format(clause=ended[0].clause)
    if not said and fact.kind in _FIELDS and not speaks_of_rank_or_debt(fact.text):
        said = quoted([fact], given)
    if said:
        field = clause.field if clause else _FIELDS.get(fact.kind, "topics")
        yield as_said(headings[field], said, [fact], now)


def _ended_by(fact: Fact, given: MergeInput) -> Iterator[str]:
    """Yield the events of earlier facts whose state has ended, as the person says in this fact."""
    earlier = [one for line in given.told for one in line] + [one for one in given.new if one != fact]
    for ended in () if given.is_group else ended_states(fact.text):
        yield from (one.event_id for one in earlier if one.happened_at < fact.happened_at and ended.ends(one.text))
