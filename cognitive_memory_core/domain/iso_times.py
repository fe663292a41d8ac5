"""Parsing of ISO 8601 texts on every Python: the parser of 3.10 accepts little beyond its own output format."""

from __future__ import annotations

import re
from datetime import datetime

_WRITTEN = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?:(:\d\d)(?:[.,](\d+))?)? ?(?:([Zz])|([+-]\d\d)(?::?(\d\d))?)?", re.ASCII
)


def datetime_of(text: str) -> datetime:
    """Parse a date, with or without a time; naive if it names no zone. Raises ValueError for any other text."""
    found = _WRITTEN.fullmatch(text.strip())
    if found is None:
        return datetime.fromisoformat(text.strip())
    day, minute, second, fraction, utc, hours, minutes = found.groups()
    fraction = f".{fraction[:6]:0<6}" if fraction else ""
    zone = "+00:00" if utc else f"{hours}:{minutes or '00'}" if hours else ""
    return datetime.fromisoformat(f"{day}T{minute}{second or ':00'}{fraction}{zone}")
