"""Reads the rows and values of an answer, in the shapes that models give them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import cast

from .. import sentences
from ..errors import BadAnswer
from ..text.cleaning import one_line

LONGEST_ANSWER = 100_000  # characters
MOST_ROWS = 200  # rows read of a list; fewer are kept
Row = Mapping[str, object]
FLAGS = {"true": True, "1": True, "是": True, "false": False, "0": False, "否": False}
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
