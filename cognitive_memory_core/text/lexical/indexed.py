"""The text under which a statement or a line of chat is indexed."""

from __future__ import annotations

from datetime import datetime


def indexed_text(speaker: str, at: datetime, said: str) -> str:
    """Combine the speaker, the day in both usual notations, and the text."""
    return f"{speaker}\n{at.date().isoformat()}\n{at.month}月{at.day}日\n{said}"
