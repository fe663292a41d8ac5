"""Small files of the plugin, each holding one JSON value."""

from __future__ import annotations

import json
import os
from pathlib import Path


def replace_json(path: Path, value: object) -> None:
    """Write a value as JSON, readable by its owner only; a reader finds the old or the new value. Raises OSError.

    Not synced: a power cut may leave the old value, or nothing that can be read. Blocking.
    """
    draft = path.with_suffix(".tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(value, file)
    draft.replace(path)
