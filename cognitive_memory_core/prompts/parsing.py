"""Parses a model's JSON into typed answers: lenient about form, strict about missing content."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from .. import sentences
from ..domain.event import MEMORY_KINDS, EventKind
from ..domain.ids import ID_LENGTH
from ..errors import BadAnswer
from .answers import ProfileAnswer, ProfileLine, StatementAnswer, TriageAnswer
from .lenient_values import (
    Row,
    filled,
    filled_list,
    first_of,
    flag_of,
    loaded,
    number_of,
    numbers_of,
    parts_of,
    row_of,
    rows_of,
    share_of,
    text_of,
)

LONGEST_TEXT = 2_000  # characters of a statement; far above the gate's limit, so that the gate sees what is too long
LONGEST_DETAIL = 500
LONGEST_SUMMARY = 10_000  # far above every requested length
LONGEST_TAG, MOST_TAGS = 30, 12
MOST_PROFILE_LINES = 60
MOST_OBSERVATIONS = 20
MOST_SUBJECTS = 20
MOST_LINES = 50
UNSAID_CONFIDENCE = 0.6  # used if the model states none
_LISTS = ("statements", "observations", "items", "memories", "facts", "results")  # where models put their rows
_TEXTS = ("text", "statement", "content", "observation", "fact")
_LINES = ("lines", "line", "line_numbers", "source_lines", "source")
_KINDS: Mapping[str, EventKind] = {kind: kind for kind in MEMORY_KINDS}


@dataclass(frozen=True)
class AskContents:
    """What a prompt contained: task numbers, how many lines and neighbours, and the ids that an answer may name."""

    tasks: tuple[int, ...] = ()
    lines: int = 0
    neighbours: int = 0
    ids: Collection[str] = field(default=frozenset[str]())


def statements_in(text: str, given: AskContents) -> tuple[StatementAnswer, ...]:
    """Return at most one statement per task, in task order; raises BadAnswer if there is none."""
    rows = _rows(loaded(text))
    by_number: dict[int, StatementAnswer] = {}
    for number, row in _numbered(rows or [], given.tasks):
        by_number.setdefault(number, _said(row, number, given))
    if not by_number:
        raise BadAnswer(sentences.models.ANSWER_WITHOUT.format(member="statements"))
    return tuple(by_number[number] for number in given.tasks if number in by_number)


def triaged_in(text: str, given: AskContents) -> TriageAnswer:
    """Return the observations to remember, numbered from 1; raises BadAnswer if the model says yes and lists none."""
    loaded_answer = loaded(text)
    answer = row_of(loaded_answer)
    rows = [row for row in _rows(loaded_answer) or [] if filled(first_of(row, _TEXTS), LONGEST_TEXT)]
    should = flag_of(answer.get("should_remember"))
    if should is None and not rows:
        raise BadAnswer(sentences.models.ANSWER_WITHOUT.format(member="should_remember"))
    if should and not rows:
        raise BadAnswer(sentences.models.ANSWER_WITHOUT.format(member="observations"))
    kept = () if should is False else rows[:MOST_OBSERVATIONS]
    observations = tuple(_said(row, number, given) for number, row in enumerate(kept, 1))
    return TriageAnswer(bool(observations), text_of(answer.get("reason"), LONGEST_DETAIL), observations)


def drawn_in(text: str, *, is_group: bool = False) -> ProfileAnswer:
    """Return lines of a profile; raises BadAnswer without a list of lines. A line in an unknown section is a topic."""
    answer = row_of(loaded(text))
    rows, headings = rows_of(answer.get("lines")), sentences.stored_text.headings(is_group=is_group)
    if rows is None:
        raise BadAnswer(sentences.models.ANSWER_WITHOUT.format(member="lines"))
    lines: list[ProfileLine] = []
    for row in rows[:MOST_PROFILE_LINES]:
        section, said = text_of(row.get("section"), LONGEST_TAG).casefold(), filled(first_of(row, _TEXTS), LONGEST_TEXT)
        title = "" if section == "summary" else headings.get(section, headings["topics"])
        if said:
            lines.append(ProfileLine(title, said, numbers_of(row.get("facts"), MOST_LINES)))
    tags = filled_list(answer.get("tags"), MOST_TAGS, LONGEST_TAG)
    return ProfileAnswer(tuple(lines), tags, numbers_of(answer.get("outdated"), MOST_LINES))


def words_in(text: str, member: str) -> str:
    """Return a member, such as the summary of a dialogue, on one line; raises BadAnswer if it has no word."""
    words = filled(row_of(loaded(text)).get(member), LONGEST_SUMMARY)
    if not any(map(str.isalnum, words)):
        raise BadAnswer(sentences.models.ANSWER_WITHOUT.format(member=member))
    return words


def _rows(answer: object) -> list[Row] | None:
    """Return the rows under one of :data:`_LISTS`; also those of an answer that is itself a list or a single row."""
    row = row_of(answer)
    if not row or any(name in row for name in _TEXTS):
        return rows_of(answer)
    return rows_of(next((row[name] for name in _LISTS if row.get(name)), None))


def _numbered(rows: list[Row], wanted: tuple[int, ...]) -> list[tuple[int, Row]]:
    """Pair rows with task numbers; if no row has a number and their count matches, pair them by position."""
    if len(rows) == len(wanted) and not any("number" in row for row in rows):
        numbered = list(zip(wanted, rows, strict=True))
    else:
        numbered = [(number_of(row.get("number")), row) for row in rows]
    return [(at, row) for at, row in numbered if at in wanted and isinstance(first_of(row, _TEXTS), str | int | float)]


def _said(row: Row, number: int, given: AskContents) -> StatementAnswer:
    same_as, replaces = number_of(row.get("same_as")), number_of(row.get("replaces"))
    return StatementAnswer(
        number,
        text_of(first_of(row, _TEXTS), LONGEST_TEXT),
        kind=_KINDS.get(text_of(row.get("kind"), LONGEST_TAG).casefold(), "event"),
        subjects=_ids(row.get("subjects"), given.ids),
        speaker=next(iter(_ids(row.get("speaker"), given.ids)), ""),
        confidence=share_of(row.get("confidence"), UNSAID_CONFIDENCE),
        same_as=same_as if 0 < same_as <= given.neighbours else 0,
        replaces=replaces if 0 < replaces <= given.neighbours else 0,
        lines=tuple(line for line in numbers_of(first_of(row, _LINES), MOST_LINES) if line <= given.lines),
        pain=filled(row.get("pain"), LONGEST_DETAIL),
        solution=filled(row.get("solution"), LONGEST_DETAIL),
        outcome=filled(row.get("outcome"), LONGEST_DETAIL),
    )


def _ids(value: object, known: Collection[str]) -> tuple[str, ...]:
    parts = [value] if isinstance(value, str) and value in known else parts_of(value)
    named = (_id(filled(part, ID_LENGTH), known) for part in parts)
    return tuple(dict.fromkeys(one for one in named if one))[:MOST_SUBJECTS]


def _id(written: str, known: Collection[str]) -> str:
    """Return the id inside ``name(id)`` if it is known; otherwise the text unchanged."""
    inside = written.rpartition("(")[2].removesuffix(")")
    return inside if written not in known and inside in known else written
