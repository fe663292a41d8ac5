"""Formats values inside messages: shortened or hidden."""

from __future__ import annotations

SHOWN = 60  # number of characters shown of a refused value


def shown(value: object) -> str:
    """Return a refused value as text of limited length."""
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
