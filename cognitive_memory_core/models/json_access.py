"""Access to JSON of unknown structure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from .. import sentences
from ..errors import BadAnswer


def member(value: object, key: str) -> object:
    """Return a member of a JSON object; None if there is none or the value is not an object."""
    return cast("Mapping[str, object]", value).get(key) if isinstance(value, dict) else None


def rows(value: object) -> list[object]:
    """Return a list's items; raises BadAnswer for anything else."""
    if not isinstance(value, list):
        raise BadAnswer(sentences.models.ANSWER_MALFORMED)
    return cast("list[object]", value)


def place(row: object, count: int, taken: Mapping[int, object]) -> int:
    """Return the ``index`` of a row of ``count``; raises BadAnswer if it is missing, out of range or in ``taken``."""
    index = member(row, "index")
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count or index in taken:
        raise BadAnswer(sentences.models.ANSWER_MALFORMED)
    return index
