"""Errors described in one bounded line."""

from __future__ import annotations

from ..errors import CognitiveMemoryError
from .names import one_line

ERROR_LENGTH = 300


def described(error: BaseException) -> str:
    """Return an error as one bounded line; errors of other libraries are prefixed with their class."""
    description = (
        str(error) if isinstance(error, CognitiveMemoryError) and str(error) else f"{type(error).__name__}: {error}"
    )
    return one_line(description, ERROR_LENGTH)
