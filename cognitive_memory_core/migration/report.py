"""Counts what a migration finds, and keeps the first messages on what it cannot read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from pydantic import ValidationError

from .. import sentences
from ..errors import CognitiveMemoryError
from ..text.names import one_line

MOST_SAID = 100
LONGEST_SENTENCE = 300


class MigrationReport:
    """Counts of rows by kind and of unreadable pieces; ``on_row`` is called for each row."""

    def __init__(self, on_row: Callable[[], None]) -> None:
        """Start with all counts at zero."""
        self.counts: Counter[str] = Counter()
        self.said: list[str] = []
        self.left_out = 0
        self._on_row = on_row

    def count(self, kind: str) -> None:
        """Count a row."""
        self.counts[kind] += 1
        self._on_row()

    def leave_out(self, where: str, reason: Exception | str) -> None:
        """Count a piece that cannot be read; the messages of the first such pieces are kept."""
        self.left_out += 1
        if len(self.said) < MOST_SAID:
            known = isinstance(reason, str | CognitiveMemoryError) and not isinstance(reason, ValidationError)
            shown = str(reason) if known else sentences.migration.NOT_UNDERSTOOD
            said = sentences.migration.LEFT_OUT.format(where=where, reason=shown)
            self.said.append(one_line(said, LONGEST_SENTENCE))
