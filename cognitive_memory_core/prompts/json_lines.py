"""Parses an answer in JSON Lines; a bad line does not affect the others."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import cast

from json_repair import repair_json

from .. import sentences
from ..errors import BadAnswer
from .answers import Proposal, Proposals, ProposedAction
from .lenient_values import LONGEST_ANSWER, MOST_ROWS, Row, filled_list, first_of, numbers_of, row_of, rows_of, text_of

LONGEST_LINE = 8_192  # characters of one line that is repaired
LONGEST_TEXT = 2_000  # characters read of a statement or a reason
MOST_TAGS, LONGEST_TAG = 4, 20
MOST_LINES = 60
NOTHING = "none"
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_LABEL = re.compile(r"\s*[-*•]?\s*\d{0,3}[.、)]?\s*(?=\{)")  # a bullet or a number before an object
_ACTIONS: Mapping[str, ProposedAction] = {
    "keep": "keep",
    "update": "update",
    "create": "create",
    "delete": "delete",
    "add": "create",
    "new": "create",
    "remove": "delete",
    "deprecate": "delete",
}
_STATEMENTS, _REASONS = ("statement", "new_statement"), ("change_reason", "reason", "change_summary")
_IDS = ("old_id", "id", "memory_id")


def proposals_in(text: str) -> Proposals:
    """Return the readable lines of an answer; raises BadAnswer if there are none and it does not say ``none``.

    Fences, comments and prose between the objects are skipped. Objects that a model spread over several lines, or put
    into one list, are read too. A line that is an object but not JSON is repaired; if that fails it is counted.
    """
    if len(text) > LONGEST_ANSWER:
        raise BadAnswer(sentences.models.ANSWER_TOO_LARGE.format(limit=LONGEST_ANSWER))
    said = _THOUGHTS.sub("", text.lstrip("\ufeff"))
    rows: list[Row] = []
    unreadable = 0
    for line in (_LABEL.sub("", line).strip() for line in said.splitlines()):
        if line.startswith(("{", "[{")):
            found = _unpacked(_decoded(line.rstrip(",;，； ")))
            rows += found
            unreadable += not found
    if not rows:
        rows, unreadable = _of_whole(said), 0
    rows = rows[:MOST_ROWS]
    read = [_proposal(row) for row in rows]
    kept = tuple(one for one in read if one is not None)
    idle = sum(text_of(row.get("action"), LONGEST_TAG).casefold() == NOTHING for row in rows)
    if not kept and not idle:
        raise BadAnswer(sentences.models.ANSWER_WITHOUT.format(member="action"))
    return Proposals(kept, unreadable + len(rows) - len(kept) - idle)


def _decoded(text: str) -> object:
    """Return the value of a line: strict JSON first, then repaired; None for a line that was cut off or is too long."""
    with suppress(ValueError, RecursionError):
        return cast("object", json.loads(text))
    if len(text) <= LONGEST_LINE and "}" in text:
        with suppress(ValueError, RecursionError):
            return cast("object", repair_json(text, return_objects=True, skip_json_loads=True))
    return None


def _of_whole(text: str) -> list[Row]:
    """Return the objects of an answer that is one JSON text, or several JSON texts that each take several lines."""
    rows: list[Row] = []
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0 and len(rows) < MOST_ROWS:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, at + 1
        rows += _unpacked(value)
        at = text.find("{", end)
    return rows


def _unpacked(value: object) -> list[Row]:
    """Return the proposals (objects with "action") that a value is or lists, else the objects in its lists."""
    rows: list[Row] = []
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    for row in map(row_of, items[:MOST_ROWS]):
        if "action" in row:
            rows.append(row)
        else:
            lists = (cast("object", member) for member in row.values() if isinstance(member, list))
            rows += [one for listed in lists for one in rows_of(listed) or ()]
    return rows


def _proposal(row: Row) -> Proposal | None:
    action = _ACTIONS.get(text_of(row.get("action"), LONGEST_TAG).casefold())
    if action is None:
        return None
    return Proposal(
        action,
        text_of(first_of(row, _IDS), LONGEST_TEXT),
        text_of(first_of(row, _STATEMENTS), LONGEST_TEXT),
        text_of(first_of(row, _REASONS), LONGEST_TEXT),
        numbers_of(row.get("lines"), MOST_LINES),
        numbers_of(row.get("agreed"), MOST_LINES),
        numbers_of(row.get("refused"), MOST_LINES),
        filled_list(row.get("tags"), MOST_TAGS, LONGEST_TAG),
    )
