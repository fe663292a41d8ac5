"""Marks what only its speaker vouches for: rank, money, orders and borrowed names stay their word, never a fact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ... import sentences
from ...domain.event import Statement
from ...domain.people import Anchors
from ...text.identity.written_ids import plain
from ...text.statements.authority import borrows_a_name, is_unvouched, speaks_for_all

LEAST_SUPPORT = 2  # people without whom nobody speaks for all, and no member alone for the group


def vouched(statement: Statement, anchors: Anchors) -> Statement:
    """Return the statement; a claim that only its speaker vouches for becomes "X 说：…", and reaches no profile."""
    is_alone = len(statement.backers) < LEAST_SUPPORT
    if is_unvouched(statement.text) or _has_borrowed_name(statement, anchors):
        said = replace(statement, text=_reported(statement, anchors), is_absolute=False)
        return replace(said, is_of_place=False, updates="", repeats="", heard_as="")
    if statement.is_of_place and is_alone and speaks_for_all(statement.text):
        return replace(statement, is_of_place=False)
    return statement


def _reported(statement: Statement, anchors: Anchors) -> str:
    speaker = statement.speaker or next(iter(statement.voices), "")
    label = anchors.named(speaker).label if speaker else ""
    said = sentences.context.SAID_BY.format(speaker=label)
    return (
        statement.text if not label or statement.text.startswith((said[:-1], f"{label}：“")) else said + statement.text
    )


def _has_borrowed_name(statement: Statement, anchors: Anchors) -> bool:
    known = {person.id for person in (anchors.speaker, *anchors.people)} | {anchors.place.group_id}
    return borrows_a_name(statement.text, dict(_bearers(anchors)), known)


def _bearers(anchors: Anchors) -> Iterator[tuple[str, tuple[str, ...]]]:
    for person in (anchors.speaker, *anchors.people):
        for name in (person.name, *person.aliases):
            if len(name) > 1:
                yield plain(name), (person.id,)
