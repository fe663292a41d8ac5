"""Compares a statement with what was said by the words that they share, without names and labels."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ...domain.people import JobContext
from ...text.caches import cleared_on_erasure
from ...text.identity.written_ids import short_form
from ...text.lexical.frequency import FUNCTION_WORDS
from ...text.lexical.terms import index_terms
from ...text.statements.polarity import weight_of
from ...text.time.time_words import mentions

CLAUSE_ENDS = re.compile("[，,；;。！!？?\n]")
FOUNDED = 0.15  # least share of a statement, by the weight of its words, that its lines hold
TAKEN_UP = 0.4  # share of its lines that a statement holds, from which it may say most in other words
_HEARD = 8_000  # characters read of a person's lines
_LABEL = re.compile(r"[(（][^()（）\s]{1,128}[)）]")
_SHORT = 4  # characters of a line from which single ones no longer tell whether a text takes it up


def called(job_context: JobContext) -> tuple[str, ...]:
    """Return all names of people and place, including former and short forms."""
    return _with_spoken_forms(job_context.all_names)


@cleared_on_erasure
@lru_cache(maxsize=256)
def _with_spoken_forms(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names with their spoken forms; cached, because every check of a statement needs them."""
    return tuple(dict.fromkeys((*names, *map(short_form, names))))


def echoes(text: str, original: str, job_context: JobContext) -> bool:
    """Return whether a text shares at least one word with what was said; names and labels do not count.

    If it shares none, that person did not say it, whichever line is cited: of 152 true statements 150 share a word with
    their lines, and of 85 lines chosen at random 1 shares a word with a statement.
    """
    own, source = content_of(text, job_context), content_of(original, job_context)
    words, heard_words = words_of(own), words_of(source)
    if words and heard_words and len(source - heard_words - FUNCTION_WORDS) > _SHORT:
        return not words.isdisjoint(heard_words)
    return not own.isdisjoint(source)


def share_in(original: str, text: str, job_context: JobContext) -> float:
    """Return the share of a text's words, by weight, that what was said (``original``) contains; 0 without words."""
    own = content_of(text, job_context)
    weight = weight_of(own)
    return weight_of(own & content_of(original, job_context)) / weight if weight else 0.0


def rests_on(text: str, original: str, job_context: JobContext) -> bool:
    """Return whether a text rests on what was said (``original``).

    It does if ``original`` contains enough of the text, with or without its times, or if the text contains most of a
    short ``original``. All of 169 true statements do, and two fifths of the lines that share a word only by chance.
    """
    if not echoes(text, original, job_context):
        return False
    shares = (share_in(original, one, job_context) for one in (text, _timeless(text)))
    return any(share >= FOUNDED for share in shares) or share_in(text, original, job_context) >= TAKEN_UP


def _timeless(text: str) -> str:
    for found in reversed(mentions(text)):
        text = f"{text[: found.start]} {text[found.stop :]}"
    return text


def telling_clauses(text: str, least: float, job_context: JobContext) -> list[str]:
    """Return the clauses of a text with a weight of at least ``least`` without names; the whole text if none has."""
    clauses = [one for one in CLAUSE_ENDS.split(text) if weight_of(content_of(one, job_context)) >= least]
    return clauses or [text]


def content_of(text: str, job_context: JobContext) -> frozenset[str]:
    """Return the terms of a text without labels, names and function words."""
    return _telling_terms(text[:_HEARD], called(job_context))


@cleared_on_erasure
@lru_cache(maxsize=256)
def _telling_terms(text: str, names: tuple[str, ...]) -> frozenset[str]:
    """Return the terms of a text without labels and names; cached, because statements are compared several times."""
    text = _LABEL.sub(" ", text)
    for name in names:
        text = text.replace(name, " ")
    terms = frozenset(index_terms(text))
    return terms - FUNCTION_WORDS or terms


def words_of(terms: Iterable[str]) -> set[str]:
    """Return the terms longer than one character; single characters are too common to distinguish texts."""
    return {term for term in terms if len(term) > 1 and term not in FUNCTION_WORDS}
