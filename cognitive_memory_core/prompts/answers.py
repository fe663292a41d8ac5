"""Answers of models: their schemas, whose descriptions are part of the prompt, and how they are read."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from json_repair import repair_json

from .. import sentences
from ..domain.event import MEMORY_KINDS, EventKind
from ..domain.scope import ID_LENGTH
from ..errors import BadAnswer
from ..sentences.context import GROUP_HEADINGS, PROFILE_HEADINGS
from ..text.cleaning import one_line

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


Form = Mapping[str, Any]


def _text(says: str) -> Form:
    return {"type": "string", "description": says}


def _listed(says: str, of: str = "string") -> Form:
    return {"type": "array", "items": {"type": of}, "description": says}


def _object(fields: Mapping[str, Form], required: tuple[str, ...]) -> Form:
    return {"type": "object", "properties": dict(fields), "required": list(required)}


_TEXT: Form = {"type": "string"}
_KIND: Form = {
    "type": "string",
    "enum": list(MEMORY_KINDS),
    "description": "event 经过、约定；preference 喜好、习惯；knowledge 身份、知识；"
    "experience 解决了的问题，另填 pain 问题、solution 办法、outcome 结果",
}
_ABOUT: Mapping[str, Form] = {
    "kind": _KIND,
    "subjects": _listed("说的是谁的 id；说整个群填群的 id"),
    "speaker": _text("谁的话，id，须是 lines 里某一行的人；几个人合起来才成的填最后定下的人，看不出填空"),
    "confidence": {"type": "number", "description": "0.9 本人明说；0.6 转述或推断；0.2 玩笑、猜测、指代不清"},
    "same_as": {"type": "integer", "description": "同 E 几；没有填 0"},
    "replaces": {"type": "integer", "description": "同一人改了口，或管理改了规矩，E 几不再成立；没有填 0"},
    "pain": _TEXT,
    "solution": _TEXT,
    "outcome": _TEXT,
}
_LINES = _listed("依据的聊天行号，只算人说的行；没有就空着", "integer")
_SAID: Mapping[str, Form] = {"text": _TEXT, "lines": _LINES, **_ABOUT}
_REQUIRED = ("text", "lines", "kind", "subjects", "speaker", "confidence")
_STATEMENT = _object({"number": {"type": "integer"}, **_SAID}, ("number", *_REQUIRED))
REWRITE: Form = _object({"statements": {"type": "array", "items": _STATEMENT}}, ("statements",))
TRIAGE: Form = _object(
    {
        "should_remember": {"type": "boolean", "description": "有没有值得长期记住的事"},
        "reason": _text("一句话理由"),
        "observations": {"type": "array", "items": _object(_SAID, _REQUIRED), "description": "不值得记就是空数组"},
    },
    ("should_remember", "reason", "observations"),
)
COMPRESS: Form = _object({"summary": _text("摘要全文，一段")}, ("summary",))
_PERSONAL_SECTIONS = (
    "summary 一两句概括；role 身份、职业、住处、家人、分工；interests 喜好、忌口、过敏；style 习惯；"
    "topics 近期的事；tools 常用的工具、技术；pain_points 伤病、反复遇到的困难"
)
_GROUP_SECTIONS = (
    "summary 一句概括；rules 规矩、固定的安排；state 定位、进展、定下的事；topics 近期的事；members 谁负责什么"
)


def _profile(sections: str, names: Iterable[str]) -> Form:
    line = _object(
        {
            "section": {"type": "string", "enum": ["summary", *names], "description": sections},
            "text": _TEXT,
            "facts": _listed("依据的事实号", "integer"),
        },
        ("section", "text", "facts"),
    )
    fields: Mapping[str, Form] = {
        "lines": {"type": "array", "items": line, "description": "新写或重写的行；没有值得写的就是空数组"},
        "tags": _listed("最多 12 个短标签，照抄事实里的词"),
        "outdated": _listed("不再成立的事实号", "integer"),
    }
    return _object(fields, tuple(fields))


MERGE: Form = _profile(_PERSONAL_SECTIONS, PROFILE_HEADINGS)
MERGE_GROUP: Form = _profile(_GROUP_SECTIONS, GROUP_HEADINGS)


LONGEST_ANSWER = 100_000  # characters
MOST_ROWS = 200  # rows read of a list; fewer are kept
Row = Mapping[str, object]
_FLAGS = {"true": True, "1": True, "是": True, "false": False, "0": False, "否": False}
_NOTHING = frozenset(("无", "没有", "暂无", "未知", "不详", "空", "none", "null", "nil", "n/a", "na", "unknown", "-"))
_NUMBER = re.compile(r"[^\d.-]{0,4}(\d{1,6})(?:\.0{0,6})?[^\d.-]{0,4}")
_SPLIT = re.compile("[、，,;；|\n]")
_SPAN = re.compile("[^0-9-]{0,6}([0-9]{1,6})行?(?: ?[-~–—到至] ?| to )(?:第|L|E|#)?([0-9]{1,6})[^0-9]{0,3}")
_NUMBERED = re.compile(r"\s*(?:第|#)?([0-9]{1,3})\s?(?:条)?[.、)）:：]\s*(?![0-9])")


def loaded(text: str) -> object:
    """Parse JSON; raises BadAnswer if the text is too long, too deeply nested, or not JSON."""
    if len(text) > LONGEST_ANSWER:
        raise BadAnswer(sentences.models.ANSWER_TOO_LARGE.format(limit=LONGEST_ANSWER))
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):
        raise BadAnswer(sentences.models.ANSWER_NOT_JSON) from None


def row_of(value: object) -> Row:
    """Return the value if it is an object, else an empty one."""
    return cast("Row", value) if isinstance(value, dict) else {}


def rows_of(value: object) -> list[Row] | None:
    """Return the objects of a model's answer, one or a list, perhaps written as a text; None if it is none of these.

    An item that is a text becomes ``{"number": ..., "text": ...}``, without ``number`` if it begins with none.
    """
    if isinstance(value, str):
        value = loaded(value) if value.lstrip().startswith(("[", "{")) else None
    if isinstance(value, dict):
        return [cast("Row", value)]
    if not isinstance(value, list):
        return None
    rows: list[Row] = []
    for item in cast("list[object]", value)[:MOST_ROWS]:
        if isinstance(item, dict):
            rows.append(cast("Row", item))
        elif isinstance(item, str) and item.strip():
            numbered = _NUMBERED.match(item)
            rows.append({"number": numbered[1], "text": item[numbered.end() :]} if numbered else {"text": item})
    return rows


def text_of(value: object, limit: int) -> str:
    """Return a text on one line, cut to ``limit``; a number is written out.

    "" for anything else, and for a word that means "none", such as null or 无.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    written = int(value) if isinstance(value, float) and value.is_integer() else value
    text = one_line(str(written)[: limit * 2], limit)
    return "" if text.casefold().strip("。.") in _NOTHING else text


def texts_of(value: object, count: int, limit: int) -> tuple[str, ...]:
    """Return up to ``count`` distinct texts of a list, or of one text that lists several; each cut to ``limit``."""
    return tuple(dict.fromkeys(text for part in parts_of(value) if (text := text_of(part, limit))))[:count]


def number_of(value: object) -> int:
    """Return a whole number, also from "2", "E2" or 2.0; 0 for anything else."""
    found = _NUMBER.fullmatch(str(value)[:16].strip()) if isinstance(value, str | int | float) else None
    return int(found[1]) if found else 0


def numbers_of(value: object, count: int) -> tuple[int, ...]:
    """Return up to ``count`` distinct whole numbers above 0, in the given order."""
    numbers: dict[int, None] = {}
    for part in parts_of(value):
        span = _SPAN.fullmatch(part.strip()) if isinstance(part, str) else None  # a range such as "4-6"
        first, last = (int(span[1]), int(span[2])) if span else (number_of(part),) * 2
        numbers |= dict.fromkeys(range(max(first, 1), min(last, first + count - 1) + 1))
    return tuple(numbers)[:count]


def share_of(value: object, default: float) -> float:
    """Return a number clamped to [0, 1], 0 for NaN, ``default`` if there is no number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return float(min(max(value, 0), 1))
    try:
        number = float(value[:32]) if isinstance(value, str) else value if isinstance(value, float) else default
    except ValueError:
        return default
    return 0.0 if math.isnan(number) else min(max(number, 0.0), 1.0)


def parts_of(value: object) -> Iterable[object]:
    """Return the members of a list, or the parts of a text that lists several things."""
    if isinstance(value, str):
        return _SPLIT.split(value[:LONGEST_ANSWER])[:MOST_ROWS]
    if isinstance(value, list):
        return cast("list[object]", value)[:MOST_ROWS]
    return () if value is None else (value,)


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
    should = _FLAGS.get(word)
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
