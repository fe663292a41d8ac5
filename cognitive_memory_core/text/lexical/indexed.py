"""The text under which a statement or a line of chat is indexed."""

from __future__ import annotations

from datetime import date, datetime


def indexed_text(speaker: str, at: date, said: str) -> str:
    """Combine the speaker, the day in both usual notations, and the text."""
    return f"{speaker}\n{_day(at).isoformat()}\n{at.month}月{at.day}日\n{said}"


def _day(at: date) -> date:
    return at.date() if isinstance(at, datetime) else at
