"""Small files of the plugin, each holding one JSON value."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

MOST_BYTES = 16 * 1024 * 1024
T = TypeVar("T", bound=dict[Any, Any] | list[Any])


def read_json(path: Path, kind: type[T]) -> T:
    """Return the value of a file if it is of this kind; else, or if the file is missing or damaged, an empty one.

    Blocking.
    """
    with suppress(OSError, ValueError, RecursionError):
        if path.stat().st_size <= MOST_BYTES:
            value = json.loads(path.read_text("utf-8"))
            return value if isinstance(value, kind) else kind()
    return kind()


def replace_json(path: Path, value: object) -> None:
    """Write a value as JSON, readable by its owner only; a reader finds the old or the new value. Raises OSError.

    Not synced: a power cut may leave the old value, or nothing that can be read. Blocking.
    """
    draft = path.with_suffix(".tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(json.dumps(value))  # several times as quick as json.dump
    draft.replace(path)
