"""A meter that keeps what it counted."""

from __future__ import annotations


class ListedMeter:
    """Lists each call with its tokens."""

    def __init__(self) -> None:
        """Begin with none."""
        self.calls: list[tuple[str, int]] = []

    def count(self, purpose: str, tokens: int) -> None:
        """Note one call."""
        self.calls.append((purpose, tokens))
