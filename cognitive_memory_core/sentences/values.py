"""How values stand inside sentences: shortened, or hidden."""

from __future__ import annotations

SHOWN = 60  # characters of a refused value


def shown(value: object) -> str:
    """Show a refused value without letting it flood a log."""
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
