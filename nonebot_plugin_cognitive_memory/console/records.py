"""Our own records of the last hours: what this plugin and its core logged, never what NoneBot or others did."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pydantic import BaseModel, SecretStr

import cognitive_memory_core as core

from ..lifecycle import FIELDS
from ..replies.log import KEYWORD

MOST = 500
TONES = {"WARNING": "busy", "ERROR": "bad", "CRITICAL": "bad"}
PLUGIN = __name__.partition(".")[0]
QUOTED = re.compile(r"([“「])([^”」]{9,})([”」])")  # longer than a command or a name


@dataclass(frozen=True)
class Record:
    """One record: ``fields`` are ids, such as those of a job and a place; ``tone`` says how bad it is."""

    at: datetime
    tone: str
    text: str
    fields: Mapping[str, str]


class Records:
    """Keeps the newest records; words between quotation marks are replaced by their length."""

    def __init__(self) -> None:
        """Start without a record."""
        self._kept: deque[Record] = deque(maxlen=MOST)

    def take(self, message: Any) -> None:
        """Keep a record of loguru's; called for each line that :func:`is_own` admits."""
        record = message.record
        text = QUOTED.sub(lambda found: f"{found[1]}…{len(found[2])}{found[3]}", record["message"])
        given = {
            key.removeprefix(FIELDS): str(value)[:64]
            for key, value in record["extra"].items()
            if key.startswith(FIELDS)
        }
        self._kept.append(
            Record(record["time"], TONES.get(record["level"].name, "good"), text.removeprefix(KEYWORD).strip(), given)
        )

    def newest(self, settings: core.Settings) -> Sequence[Record]:
        """Return the records, the newest first, without any secret of the settings."""
        secrets, kept = [one for one in _secrets(settings) if one], list(self._kept)[::-1]
        for secret in secrets:
            kept = [replace(one, text=one.text.replace(secret, "…")) for one in kept]
        return kept


def is_own(record: Mapping[str, Any]) -> bool:
    """Return whether this plugin or its core wrote a record of loguru's."""
    room = (record["name"] or "").partition(".")[0]
    return room in (PLUGIN, core.__name__) and record["message"].startswith(KEYWORD)


def _secrets(group: BaseModel) -> Iterator[str]:
    """Yield every secret in a group of settings."""
    for name in type(group).model_fields:
        value = getattr(group, name)
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, SecretStr):
                yield one.get_secret_value()
            elif isinstance(one, BaseModel):
                yield from _secrets(one)
