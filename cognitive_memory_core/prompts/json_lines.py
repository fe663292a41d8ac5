"""Parses an answer in JSON Lines; a bad line does not affect the others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import cast

from json_repair import repair_json

from .. import sentences
from ..errors import BadAnswer
from .answers import Proposal, Proposals, ProposedAction
from .lenient_values import LONGEST_ANSWER, MOST_ROWS, Row, filled_list, numbers_of, row_of, rows_of, text_of

LONGEST_LINE = 8_192  # characters of one line that is repaired
LONGEST_TEXT = 2_000  # characters read of a statement or a reason
MOST_TAGS, LONGEST_TAG = 4, 20
MOST_LINES = 60
NOTHING = "none"
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_LABEL = re.compile(r"\s*[-*•]?\s*\d{0,3}[.、)]?\s*(?=\{)")  # a bullet or a number before an object
_COMMENTS = ("```", "#", "//")
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
    rows, unreadable = _by_line(said)
    if not rows:
        rows, unreadable = list(islice(_of_whole(said), MOST_ROWS)), 0
    read = [_proposal(row) for row in rows]
    kept = tuple(one for one in read if one is not None)
    idle = sum(text_of(row.get("action"), LONGEST_TAG).casefold() == NOTHING for row in rows)
    if not kept and not idle:
        raise BadAnswer(sentences.models.ANSWER_WITHOUT.format(member="action"))
    return Proposals(kept, unreadable + len(rows) - len(kept) - idle)


def _by_line(text: str) -> tuple[list[Row], int]:
    """Return the objects written on one line each, and how many lines begin like an object but are not one."""
    rows: list[Row] = []
    unreadable = 0
    lines = (_LABEL.sub("", line).strip() for line in text.splitlines())
    for line in (one for one in lines if one and not one.startswith(_COMMENTS)):
        if not line.startswith(("{", "[{")):
            continue
        found = list(_objects(line))
        rows += found
        unreadable += not found
    return rows[:MOST_ROWS], unreadable


def _objects(line: str) -> Iterator[Row]:
    """Yield the objects of a line: strict JSON first, then repaired."""
    value = _decoded(line.rstrip(",;，； "))
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    for item in islice(items, MOST_ROWS):
        yield from _unpacked(row_of(item))


def _decoded(text: str) -> object:
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):
        return _repaired(text)


def _repaired(text: str) -> object:
    if len(text) > LONGEST_LINE or "}" not in text:
        return None  # a line that was cut off is not completed
    try:
        return cast("object", repair_json(text, return_objects=True, skip_json_loads=True))
    except (ValueError, RecursionError):
        return None


def _of_whole(text: str) -> Iterator[Row]:
    """Yield the objects of an answer that is one JSON text, or several JSON texts that each take several lines."""
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            value, end = None, at + 1
        yield from _unpacked(row_of(value))
        at = text.find("{", end)


def _unpacked(row: Row) -> Iterator[Row]:
    """Yield an object if it is a proposal ("action"), else the objects in its lists."""
    if "action" in row:
        yield row
    else:
        listed = (cast("object", items) for items in row.values() if isinstance(items, list))
        yield from (one for items in listed for one in rows_of(items) or ())


def _proposal(row: Row) -> Proposal | None:
    action = _ACTIONS.get(text_of(row.get("action"), LONGEST_TAG).casefold())
    if action is None:
        return None
    return Proposal(
        action,
        _first(row, _IDS),
        _first(row, _STATEMENTS),
        _first(row, _REASONS),
        numbers_of(row.get("lines"), MOST_LINES),
        numbers_of(row.get("agreed"), MOST_LINES),
        numbers_of(row.get("refused"), MOST_LINES),
        filled_list(row.get("tags"), MOST_TAGS, LONGEST_TAG),
    )


def _first(row: Row, names: tuple[str, ...]) -> str:
    return next((said for name in names if (said := text_of(row.get(name), LONGEST_TEXT))), "")
