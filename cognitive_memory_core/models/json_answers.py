"""Finds the JSON object in a model's answer, and repairs what can be repaired without guessing."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import takewhile
from typing import cast

from json_repair import repair_json

from .. import sentences
from ..errors import BadAnswer

LONGEST = 65_536  # characters
REPAIRABLE = 8_192  # characters; repairing 600 kB of quotation marks takes 18 s, this much at most 0.1 s
DEEPEST = 32
_THOUGHTS = re.compile(  # of some models only the end of the thoughts is marked
    r"(?:\s*<think(?:ing)?>)?[^{\[]{0,8192}?</think(?:ing)?>|\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL
)
_FENCE = "```"
_OPENS = re.compile(rf"{_FENCE}[a-zA-Z]*\s*$")  # within one line: across lines it would be tried from every newline
_STEPS: Mapping[str, int] = {"{": 1, "[": 1, "}": -1, "]": -1}
_HARMFUL = re.compile("[\0\ud800-\udfff]")
_BRACKET = re.compile(r"[\[\]{}]")


def object_in(text: str, *, is_strict: bool = False) -> str:
    """Return the object as plain JSON text; raises BadAnswer if there is none, several, or a harmful one.

    A bare list of texts or objects is returned, too. With ``is_strict`` it is not, and nothing is repaired: such an
    answer replaces something stored.
    """
    if len(text) > LONGEST:
        raise BadAnswer(sentences.models.ANSWER_TOO_LARGE.format(limit=LONGEST))
    thoughts = _THOUGHTS.match(text.lstrip("\ufeff"))
    core = text.lstrip("\ufeff")[thoughts.end() if thoughts else 0 :].strip()
    if not core.startswith(("{", "[")):
        core = _fenced(core).strip()
    is_listed = core.startswith("[") and not is_strict
    start = 0 if is_listed else core.find("{")
    if start < 0 or (core.startswith(("[", '"')) and not is_listed):
        raise BadAnswer(sentences.models.ANSWER_NOT_JSON)
    value = _parsed(core, start, is_strict=is_strict)
    rows = cast("list[object]", value) if is_listed and isinstance(value, list) else [value]
    if not (rows and all(isinstance(row, str | dict if is_listed else dict) for row in rows)):
        raise BadAnswer(sentences.models.ANSWER_NOT_JSON)
    _check(cast("object", value))
    return json.dumps(value, ensure_ascii=False)


def _fenced(answer: str) -> str:
    """Return the lines inside the first code fence (```); the whole text if there is no fence or it is not closed."""
    lines = answer.split("\n")
    opening = next((at for at, line in enumerate(lines) if _OPENS.search(line)), len(lines))
    inside = list(takewhile(lambda line: not line.lstrip().startswith(_FENCE), lines[opening + 1 :]))
    return "\n".join(inside) if opening + 1 + len(inside) < len(lines) else answer


def _parsed(core: str, start: int, *, is_strict: bool) -> object:
    try:
        value, end = _DECODER.raw_decode(core, start)
    except (ValueError, RecursionError):
        piece = core[start : core.rfind("]" if core[start] == "[" else "}") + 1]
        if not is_strict and len(piece) <= REPAIRABLE and _is_closed(piece):
            with suppress(ValueError, RecursionError):
                return cast("object", repair_json(piece, return_objects=True, skip_json_loads=True))
        raise BadAnswer(sentences.models.ANSWER_NOT_JSON) from None
    if "{" in core[end:] or (is_strict and _BRACKET.search(core, end)):
        raise BadAnswer(sentences.models.ANSWER_AMBIGUOUS)
    return value


def _is_closed(piece: str) -> bool:
    """Return whether all brackets are closed, the last one at the very end; brackets inside strings count, too."""
    depth = 0
    for bracket in _BRACKET.finditer(piece):
        depth += _STEPS[bracket[0]]
        if depth > DEEPEST or (depth <= 0 and bracket.end() < len(piece)):
            return False
    return depth == 0 and bool(piece)


def _check(value: object, depth: int = 1) -> None:
    """Raise BadAnswer for excessive depth, NaN or infinity, and characters that no store or file accepts."""
    is_harmful = isinstance(value, str) and _HARMFUL.search(value)
    if depth > DEEPEST or is_harmful or (isinstance(value, float) and not math.isfinite(value)):
        raise BadAnswer(sentences.models.ANSWER_MALFORMED)
    if isinstance(value, dict):
        for pair in cast("dict[object, object]", value).items():
            _check(pair[0], depth + 1)
            _check(pair[1], depth + 1)
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            _check(part, depth + 1)


def _unambiguous_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise BadAnswer(sentences.models.ANSWER_AMBIGUOUS)
    return members


_DECODER = json.JSONDecoder(object_pairs_hook=_unambiguous_members)
