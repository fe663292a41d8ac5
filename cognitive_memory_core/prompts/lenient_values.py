"""Reads text, numbers and booleans from model JSON: leniently, within bounds, without trust."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import cast

from .. import sentences
from ..errors import BadAnswer
from ..text.names import one_line

LONGEST_ANSWER = 100_000  # characters
MOST_ROWS = 200  # rows read of a list; fewer are kept
Row = Mapping[str, object]
_YES = frozenset(("true", "yes", "y", "1", "1.0", "是", "对", "真", "有"))
_NO = frozenset(("false", "no", "n", "0", "0.0", "否", "不", "假", "无", "没有"))
_NOTHING = frozenset(("无", "没有", "暂无", "未知", "不详", "空", "none", "null", "nil", "n/a", "na", "unknown", "-"))
_NUMBER = re.compile(r"[^\d.-]{0,4}(\d{1,6})(?:\.0{0,6})?[^\d.-]{0,4}")
_SPLIT = re.compile("[、，,;；|\n]")
_SPAN = re.compile("[^0-9-]{0,6}([0-9]{1,6})行?(?: ?[-~–—到至] ?| to )(?:第|L|E|#)?([0-9]{1,6})[^0-9]{0,3}")
_NUMBERED = re.compile(r"\s*(?:第|#)?([0-9]{1,3})\s?(?:条)?[.、)）:：]\s*(?![0-9])")
_BULLETS = "-*•·– "


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


def first_of(row: Row, names: tuple[str, ...]) -> object:
    """Return the value under the first of these names, by which models call it, that is not empty; None if none."""
    found = [row[name] for name in names if name in row]
    return next((value for value in found if value not in (None, "")), found[0] if found else None)


def rows_of(value: object) -> list[Row] | None:
    """Return the objects of a model's answer; None if it is neither an object, a list nor a text.

    * An object is one row, or, if all its keys are numbers and all its values texts, a row for each.
    * A text is read as JSON if it begins with a bracket; of another text each line is an item.
    * An item that is a text becomes ``{"number": ..., "text": ...}``, without ``number`` if it begins with none.
    """
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        value = loaded(value)
    if isinstance(value, str):
        value = value.splitlines()
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        if members and all(name.isdecimal() and isinstance(text, str) for name, text in members.items()):
            return [{"number": name, "text": text} for name, text in members.items()]
        return [members]
    if not isinstance(value, list):
        return None
    return [row for item in cast("list[object]", value)[:MOST_ROWS] if (row := _row(item)) is not None]


def _row(item: object) -> Row | None:
    if isinstance(item, dict):
        return cast("Row", item)
    if not isinstance(item, str) or not item.strip():
        return None
    numbered = _NUMBERED.match(item)
    return {"number": numbered[1], "text": item[numbered.end() :]} if numbered else {"text": item}


def text_of(value: object, limit: int) -> str:
    """Return a text on one line, cut to ``limit``; a number is written out; "" for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    written = int(value) if isinstance(value, float) and value.is_integer() else value
    return one_line(str(written)[: limit * 2], limit)


def filled(value: object, limit: int) -> str:
    """Return a text as :func:`text_of` does, but "" for a word that means "none", such as null or 无."""
    text = text_of(value, limit)
    return "" if text.casefold().strip("。.") in _NOTHING else text


def filled_list(value: object, count: int, limit: int) -> tuple[str, ...]:
    """Return up to ``count`` distinct texts of a list, or of one text that lists several; each cut to ``limit``."""
    parts = (text_of(part, limit).lstrip(_BULLETS) for part in parts_of(value))
    return tuple(dict.fromkeys(part for part in parts if filled(part, limit)))[:count]


def number_of(value: object) -> int:
    """Return a whole number, also from "2", "E2" or 2.0; 0 for anything else."""
    if isinstance(value, str):
        found = _NUMBER.fullmatch(value[:16].strip())
        return int(found[1]) if found else 0
    is_whole = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
    return int(cast("float", value)) if is_whole and abs(cast("float", value)) < LONGEST_ANSWER else 0


def numbers_of(value: object, count: int) -> tuple[int, ...]:
    """Return up to ``count`` distinct whole numbers above 0, in the given order."""
    numbers = (number for part in parts_of(value) for number in _counted(part, count))
    return tuple(dict.fromkeys(number for number in numbers if number > 0))[:count]


def _counted(part: object, count: int) -> Iterable[int]:
    """Return the number in ``part``, or up to ``count`` numbers of a range such as "4-6"."""
    span = _SPAN.fullmatch(part.strip()) if isinstance(part, str) else None
    if span is None:
        return (number_of(part),)
    first, last = int(span[1]), int(span[2])
    return range(first, min(last, first + count - 1) + 1)


def share_of(value: object, default: float) -> float:
    """Return a number clamped to [0, 1], 0 for NaN, ``default`` if there is no number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return default
    try:
        number = float(value[:32] if isinstance(value, str) else value)
    except ValueError:
        return default
    except OverflowError:  # an integer too large for a float
        return float(cast("int", value) > 0)
    return 0.0 if math.isnan(number) else min(max(number, 0.0), 1.0)


def flag_of(value: object) -> bool | None:
    """Return True or False, also from words; None if the value is neither."""
    word = str(value)[:16].strip().casefold() if isinstance(value, str | int | float) else ""
    return True if word in _YES else False if word in _NO else None


def parts_of(value: object) -> Iterable[object]:
    """Return the members of a list, or the parts of a text that lists several things."""
    if isinstance(value, str):
        return _SPLIT.split(value[:LONGEST_ANSWER])[:MOST_ROWS]
    if isinstance(value, list):
        return cast("list[object]", value)[:MOST_ROWS]
    return () if value is None else (value,)
