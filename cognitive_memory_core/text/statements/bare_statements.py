"""Statements without speaker, ids, dates and punctuation, so that two of them can be compared by content."""

from __future__ import annotations

import re

from ..characters import folded

_READ = 300  # characters of a statement
_NOTES = re.compile(
    r"[(（][0-9a-z_-]{1,128}[)）]|\d{4}[-/年]\d{1,2}(?:[-/月]\d{1,2}日?)?|\d{1,2}:\d{2}|\d{1,2}月\d{1,2}[日号]?"
)
_SPEECH = re.compile(r"^[^：:“”\"]{1,40}(?:说)?[：:]")
_QUOTATION = re.compile(r"[^“”]{0,60}[：:]\s*“(.+)”[^“”]{0,40}$", re.DOTALL)
_FRAME = " “”\"'（）()"
_SIGNS = re.compile(r"[\W_]+")


def outspoken(statement: str) -> str:
    """Return a statement without its speaker, ids, dates and times, folded by :func:`folded`."""
    return _SPEECH.sub("", _NOTES.sub("", folded(statement[:_READ])), count=1).strip(_FRAME)


def unquoted(statement: str) -> str:
    """Return the words inside the quotation marks if a statement is one quotation, else the statement."""
    quoted = _QUOTATION.match(statement)
    return quoted[1] if quoted else statement


def character_pairs(said: str) -> frozenset[str]:
    """Return the pairs of neighbouring characters of a text, after removing punctuation and spaces."""
    plain = _SIGNS.sub("", said)
    return frozenset(plain[at : at + 2] for at in range(len(plain) - 1))
