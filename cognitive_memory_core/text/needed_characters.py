"""The characters of which a text must have one for a regular expression to match: a cheap test before the search."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

_PARSER = "re._parser" if sys.version_info >= (3, 11) else "sre_parse"  # no public module: a Python may lack it
_UNKNOWN_FORM = (ImportError, AttributeError, TypeError, ValueError, LookupError)
_WIDEST = 64  # characters of a class that are listed; a wider one tells little
_LETTER, _SIGN = 2, 40  # how much rather a Chinese character is chosen than a Latin letter, a digit or a space


def needed_characters(source: str) -> frozenset[str] | None:
    """Return characters of which every text that the expression matches has at least one; None if there are none.

    The rarest part that no match lacks decides. An expression has none if this Python parses it into an unknown form.
    """
    try:
        parsed: Any = import_module(_PARSER).parse(source)
        return None if parsed.state.flags & re.IGNORECASE else _of_sequence(parsed)
    except _UNKNOWN_FORM:
        return None


def _of_sequence(parts: Iterable[tuple[Any, Any]]) -> frozenset[str] | None:
    found = [needed for operator, value in parts if (needed := _of_part(str(operator), value))]
    return min(found, key=_frequency, default=None)


def _of_part(operator: str, value: Any) -> frozenset[str] | None:
    if operator == "LITERAL":
        return frozenset((chr(value),))
    if operator == "IN":
        return _of_class(value)
    if operator == "BRANCH":
        return _of_branches(value[1])
    if operator in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return _of_sequence(value[2]) if value[0] else None
    if operator in ("SUBPATTERN", "ASSERT"):
        return _of_sequence(value[-1])
    return _of_sequence(value) if operator == "ATOMIC_GROUP" else None


def _of_branches(branches: Iterable[Any]) -> frozenset[str] | None:
    found = list(map(_of_sequence, branches))
    known = [needed for needed in found if needed]
    return frozenset[str]().union(*known) if len(known) == len(found) else None


def _of_class(members: Iterable[tuple[Any, Any]]) -> frozenset[str] | None:
    found: set[str] = set()
    for kind, value in members:
        first, last = value if str(kind) == "RANGE" else (value, value)
        if str(kind) not in ("LITERAL", "RANGE") or last - first >= _WIDEST:
            return None
        found.update(map(chr, range(first, last + 1)))
    return frozenset(found)


def _frequency(characters: frozenset[str]) -> int:
    return sum((_LETTER if char.isalpha() else _SIGN) if char.isascii() else 1 for char in characters)
