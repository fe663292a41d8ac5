"""A meter that records its calls."""

from __future__ import annotations


class ListedMeter:
    """Records each call with its tokens."""

    def __init__(self) -> None:
        """Start empty."""
        self.calls: list[tuple[str, int]] = []

    def __call__(self, purpose: str, tokens: int, answered: int = 0) -> None:
        """Record one call."""
        self.calls.append((purpose, tokens))
