"""The gate: only what stands on its own counts as absolute."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..domain.event import Statement
from ..text.lexicon import offences


def judged(statement: Statement, names: Collection[str]) -> Statement:
    """Mark a statement that still leans on its moment; known names are never offences."""
    if statement.is_absolute and offences(statement.text, names=names):
        return replace(statement, is_absolute=False)
    return statement
