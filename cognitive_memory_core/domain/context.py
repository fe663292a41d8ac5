"""The block of text that is put before the model for one turn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """One titled part of a context's text; ``lines`` are shown unchanged."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Context:
    """What a model should know this turn.

    ``text`` is the block to inject, "" if there is nothing; it contains neither < nor >. ``degraded`` names what was
    unavailable: "embedding", "vectors", "lexical", "rerank", "profiles", "ledger", "disabled".
    """

    text: str
    sections: tuple[Section, ...]
    tokens: int
    degraded: tuple[str, ...]


NOTHING = Context("", (), 0, ("disabled",))
