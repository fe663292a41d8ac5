"""What of a statement or a line of chat is looked for by words."""

from __future__ import annotations

from datetime import datetime


def indexed_text(speaker: str, at: datetime, said: str) -> str:
    """Put together who said it, its day in the two ways that people write it, and what was said."""
    return f"{speaker}\n{at.date().isoformat()}\n{at.month}月{at.day}日\n{said}"
