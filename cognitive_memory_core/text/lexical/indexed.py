"""The text under which a statement or a line of chat is indexed."""

from __future__ import annotations

from datetime import date, datetime


def indexed_text(speaker: str, at: date, said: str) -> str:
    """Join speaker, day (in ISO and in Chinese notation) and text by line breaks; the index stores this form."""
    return f"{speaker}\n{_day(at).isoformat()}\n{at.month}月{at.day}日\n{said}"


def _day(at: date) -> date:
    return at.date() if isinstance(at, datetime) else at
