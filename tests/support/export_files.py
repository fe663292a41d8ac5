"""Writes files that a memory can import."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import orjson


def written(rows: Iterable[object], path: Path) -> Path:
    """Write rows as an export file."""
    options = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE
    with path.open("wb") as file:
        for row in ({"format": "cognitive-memory", "version": 1}, *rows):
            file.write(orjson.dumps(row, option=options))
    return path
