"""What models answer, as typed values within their bounds."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from json_repair import repair_json

from .. import sentences
from ..domain.event import MEMORY_KINDS, EventKind
from ..domain.ids import ID_LENGTH
from ..errors import BadAnswer
from .answer_rows import (
    FLAGS,
    LONGEST_ANSWER,
    MOST_ROWS,
    Row,
    loaded,
    number_of,
    numbers_of,
    parts_of,
    row_of,
    rows_of,
    share_of,
    text_of,
    texts_of,
)

ProposedAction = Literal["keep", "update", "create", "delete"]
ACTIONS: tuple[ProposedAction, ...] = ("keep", "update", "create", "delete")


@dataclass(frozen=True)
class StatementAnswer:
    """One statement of a model; ``number`` is that of its task.

    ``same_as`` is the number of a neighbour that says the same, ``replaces`` that of one that no longer holds; 0 for
    none. ``subjects`` and ``speaker`` are as the model wrote them; the caller checks that their ids were given.
    ``lines`` are the numbers of the lines that support the statement (triage only).
    """

    number: int
    text: str
    kind: EventKind = "event"
    subjects: tuple[str, ...] = ()
    speaker: str = ""
    confidence: float = 1.0
    same_as: int = 0
    replaces: int = 0
    lines: tuple[int, ...] = ()
    pain: str = ""
    solution: str = ""
    outcome: str = ""


@dataclass(frozen=True)
class ProfileLine:
    """One line below a heading ("" for the beginning of the profile), and the numbers of the facts it rests on."""

    title: str
    text: str
    facts: tuple[int, ...] = ()


@dataclass(frozen=True)
class ProfileAnswer:
    """Lines of a profile as a model wrote them, its tags, and the numbers of facts that no longer hold."""

    lines: tuple[ProfileLine, ...] = ()
    tags: tuple[str, ...] = ()
    outdated: tuple[int, ...] = ()


@dataclass(frozen=True)
class Proposal:
    """One line of an evolution's answer; ``old_id`` is a label (B1) or an id, as the model wrote it.

    ``lines`` are the numbers of the lines that say it, ``agreed`` and ``refused`` of those that answer them.
    """

    action: ProposedAction
    old_id: str = ""
    statement: str = ""
    reason: str = ""
    lines: tuple[int, ...] = ()
    agreed: tuple[int, ...] = ()
    refused: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()


LONGEST_TEXT = 2_000  # characters of a statement; far above the gate's limit, so that the gate sees what is too long
LONGEST_DETAIL = 500
LONGEST_SUMMARY = 10_000  # far above every requested length
LONGEST_TAG, MOST_TAGS = 30, 12
MOST_PROFILE_LINES = 60
MOST_OBSERVATIONS = 20
MOST_SUBJECTS = 20
MOST_LINES = 50
UNSAID_CONFIDENCE = 0.6  # used if the model states none
_KINDS: Mapping[str, EventKind] = {kind: kind for kind in MEMORY_KINDS}


@dataclass(frozen=True)
class AskContents:
    """What a prompt contained: task numbers, how many lines and neighbours, and the ids that an answer may name."""

    tasks: tuple[int, ...] = ()
    lines: int = 0
    neighbours: int = 0
    ids: Collection[str] = field(default=frozenset[str]())


def statements_in(text: str, given: AskContents) -> tuple[StatementAnswer, ...]:
    """Return at most one statement per task, in task order; raises BadAnswer if there is none.

    If no row has a number, and there are as many as tasks, they are paired in order.
    """
    rows = _rows(loaded(text)) or []
    is_in_order = len(rows) == len(given.tasks) and not any("number" in row for row in rows)
    by_number: dict[int, StatementAnswer] = {}
    for at, row in enumerate(rows):
        number = given.tasks[at] if is_in_order else number_of(row.get("number"))
        if number in given.tasks and isinstance(row.get("text"), str | int | float):
            by_number.setdefault(number, _said(row, number, given))
    if not by_number:
        raise BadAnswer(sentences.models.ANSWER_WITHOUT.format(member="statements"))
    return tuple(by_number[number] for number in given.tasks if number in by_number)


def triaged_in(text: str, given: AskContents) -> tuple[StatementAnswer, ...]:
    """Return the observations to remember, numbered from 1; raises BadAnswer if the model says yes and lists none."""
    loaded_answer = loaded(text)
    answer = row_of(loaded_answer)
    rows = [row for row in _rows(loaded_answer) or [] if text_of(row.get("text"), LONGEST_TEXT)]
    flag = answer.get("should_remember")
    word = str(flag)[:16].strip().casefold() if isinstance(flag, str | int | float) else ""
    should = FLAGS.get(word)
    if should is None and not rows:
        raise BadAnswer(sentences.models.ANSWER_WITHOUT.format(member="should_remember"))
    if should and not rows:
        raise BadAnswer(sentences.models.ANSWER_WITHOUT.format(member="observations"))
    kept = () if should is False else rows[:MOST_OBSERVATIONS]
    return tuple(_said(row, number, given) for number, row in enumerate(kept, 1))


def drawn_in(text: str, *, is_group: bool = False) -> ProfileAnswer:
    """Return lines of a profile; raises BadAnswer without a list of lines. A line in an unknown section is a topic."""
    answer = row_of(loaded(text))
    rows, headings = rows_of(answer.get("lines")), sentences.context.headings(is_group=is_group)
    if rows is None:
        raise BadAnswer(sentences.models.ANSWER_WITHOUT.format(member="lines"))
    lines: list[ProfileLine] = []
    for row in rows[:MOST_PROFILE_LINES]:
        section, said = text_of(row.get("section"), LONGEST_TAG).casefold(), text_of(row.get("text"), LONGEST_TEXT)
        title = "" if section == "summary" else headings.get(section, headings["topics"])
        if said:
            lines.append(ProfileLine(title, said, numbers_of(row.get("facts"), MOST_LINES)))
    tags = texts_of(answer.get("tags"), MOST_TAGS, LONGEST_TAG)
    return ProfileAnswer(tuple(lines), tags, numbers_of(answer.get("outdated"), MOST_LINES))


def words_in(text: str, member: str) -> str:
    """Return a member, such as the summary of a dialogue, on one line; raises BadAnswer if it has no word."""
    words = text_of(row_of(loaded(text)).get(member), LONGEST_SUMMARY)
    if not any(map(str.isalnum, words)):
        raise BadAnswer(sentences.models.ANSWER_WITHOUT.format(member=member))
    return words


def _rows(answer: object) -> list[Row] | None:
    """Return the statements or observations of an answer, which may itself be a list of them or a single one."""
    row = row_of(answer)
    return rows_of(row.get("statements") or row.get("observations") if row and "text" not in row else answer)


def _said(row: Row, number: int, given: AskContents) -> StatementAnswer:
    same_as, replaces = number_of(row.get("same_as")), number_of(row.get("replaces"))
    return StatementAnswer(
        number,
        text_of(row.get("text"), LONGEST_TEXT),
        kind=_KINDS.get(text_of(row.get("kind"), LONGEST_TAG).casefold(), "event"),
        subjects=_ids(row.get("subjects"), given.ids),
        speaker=next(iter(_ids(row.get("speaker"), given.ids)), ""),
        confidence=share_of(row.get("confidence"), UNSAID_CONFIDENCE),
        same_as=same_as if 0 < same_as <= given.neighbours else 0,
        replaces=replaces if 0 < replaces <= given.neighbours else 0,
        lines=tuple(line for line in numbers_of(row.get("lines"), MOST_LINES) if line <= given.lines),
        pain=text_of(row.get("pain"), LONGEST_DETAIL),
        solution=text_of(row.get("solution"), LONGEST_DETAIL),
        outcome=text_of(row.get("outcome"), LONGEST_DETAIL),
    )


def _ids(value: object, known: Collection[str]) -> tuple[str, ...]:
    """Return the ids or names that a model listed; of ``name(id)`` the id, if it is known."""
    parts = [value] if isinstance(value, str) and value in known else parts_of(value)
    found: dict[str, None] = {}
    for written in (text_of(part, ID_LENGTH) for part in parts):
        inside = written.rpartition("(")[2].removesuffix(")")
        found[inside if written not in known and inside in known else written] = None
    return tuple(one for one in found if one)[:MOST_SUBJECTS]


LONGEST_LINE = 8_192  # characters of one line that is repaired
MOST_BELIEF_TAGS, LONGEST_BELIEF_TAG = 4, 20
MOST_CITED = 60
NOTHING = "none"
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)


def proposals_in(text: str) -> tuple[list[Proposal], int]:
    """Return the readable lines of an answer, and how many are not; raises BadAnswer if it proposes nothing.

    Each line is read by itself, and repaired if it is not JSON. Fences, comments and prose are skipped; a line that
    begins an object and has none with an action is unreadable. An answer may also say ``none``.
    """
    if len(text) > LONGEST_ANSWER:
        raise BadAnswer(sentences.models.ANSWER_TOO_LARGE.format(limit=LONGEST_ANSWER))
    kept, unreadable, is_idle = list[Proposal](), 0, False
    for line in _THOUGHTS.sub("", text).splitlines():
        begun = line[line.find("{") :].rstrip(",;，； ") if "{" in line else ""
        if not begun or len(kept) + unreadable >= MOST_ROWS:
            continue
        rows: list[Row] = []
        if len(begun) <= LONGEST_LINE and "}" in begun:  # else it was cut off, or is too long to be repaired
            with suppress(ValueError, RecursionError):
                rows = [row for row in rows_of(repair_json(begun, return_objects=True)) or () if "action" in row]
        unreadable += not rows
        for row in rows:
            action = str(row["action"])[:LONGEST_BELIEF_TAG].strip().casefold()
            if action in ACTIONS:
                proposal = Proposal(
                    action,
                    text_of(row.get("old_id") or row.get("memory_id") or row.get("id"), LONGEST_TEXT),
                    text_of(row.get("statement"), LONGEST_TEXT),
                    text_of(row.get("change_reason"), LONGEST_TEXT),
                    numbers_of(row.get("lines"), MOST_CITED),
                    numbers_of(row.get("agreed"), MOST_CITED),
                    numbers_of(row.get("refused"), MOST_CITED),
                    texts_of(row.get("tags"), MOST_BELIEF_TAGS, LONGEST_BELIEF_TAG),
                )
                kept.append(proposal)
            else:
                is_idle |= action == NOTHING
                unreadable += action != NOTHING
    if not kept and not is_idle:
        raise BadAnswer(sentences.models.ANSWER_WITHOUT.format(member="action"))
    return kept, unreadable
