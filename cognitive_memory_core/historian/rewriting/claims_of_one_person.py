"""Marks claims for which only their speaker vouches (rank, money, orders, borrowed names) as said, not as facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ... import sentences
from ...domain.event import Statement
from ...domain.people import JobContext
from ...text.identity.persons import reports
from ...text.identity.written_ids import plain
from ...text.statements.dated_lines import without_leading_date
from ...text.statements.unvouched_claims import borrows_a_name, is_unvouched, speaks_for_all, speaks_of_money

LEAST_SUPPORT = 2  # people without whom nobody speaks for all, and no member alone for the group


def vouched(statement: Statement, job_context: JobContext) -> Statement:
    """Return the statement; a claim for which only its speaker vouches becomes "X 说：…" and changes no profile."""
    is_alone = len(statement.backers) < LEAST_SUPPORT
    if statement.dictated_by or is_unvouched(statement.text) or _has_borrowed_name(statement, job_context):
        said = replace(statement, text=_reported(statement, job_context), is_absolute=False)
        return replace(said, is_of_place=False, updates="", repeats="", replaces="", observation="")
    if len(statement.voices) > 1 and is_alone and statement.backers:  # the others' lines say nothing of it
        statement = _of_one(statement, statement.backers[0], job_context)
    elif len(statement.voices) > 1 and not (statement.backers or _names_anybody(statement.text, job_context)):
        statement = replace(statement, text=_told_by_all(statement, job_context))
    if is_alone and speaks_for_all(statement.text):
        said = replace(statement, text=_reported(statement, job_context), is_absolute=False)
        return replace(said, is_of_place=False, updates="")
    if statement.is_of_place and speaks_of_money(statement.text):
        return replace(statement, is_of_place=False)
    return statement


def _of_one(statement: Statement, backer: str, job_context: JobContext) -> Statement:
    """Return a statement that cites several people as the word of the only one who says it."""
    told = replace(statement, updates=statement.updates if statement.updates == backer else "")
    if _is_told_as_theirs(statement.text, backer, job_context):
        return told
    return replace(told, text=_reported(replace(statement, speaker=backer), job_context))


def _told_by_all(statement: Statement, job_context: JobContext) -> str:
    """Put the names of all people on whose lines a text rests in front of the text, which names nobody."""
    labels = [job_context.named(one).label for one in statement.voices]
    return sentences.context.SAID_BY.format(speaker=sentences.context.SPEAKERS.join(labels)) + statement.text


def _names_anybody(text: str, job_context: JobContext) -> bool:
    written, place = plain(text), job_context.place.group_id
    known = (person.id for person in (job_context.speaker, *job_context.people) if person.id)
    return any(f"({one})" in written for one in known if one != place)


def _is_told_as_theirs(text: str, speaker: str, job_context: JobContext) -> bool:
    """Return whether a text begins with this person, and either reports what the person says or names nobody else."""
    written, person = plain(text), job_context.named(speaker)
    undated = without_leading_date(written)
    if not any(undated.startswith(plain(f"{name}({speaker})")) for name in (person.name, *person.aliases)):
        return False
    known = (person.id for person in (job_context.speaker, *job_context.people) if person.id)
    return reports(text, speaker) or not any(f"({one})" in written for one in known if one != speaker)


def _reported(statement: Statement, job_context: JobContext) -> str:
    sources = (statement.dictated_by, statement.speaker, *statement.backers, *statement.voices)
    speaker = next(filter(None, sources), "")
    label = job_context.named(speaker).label if speaker else ""
    said = sentences.context.SAID_BY.format(speaker=label)
    return (
        statement.text if not label or statement.text.startswith((said[:-1], f"{label}：“")) else said + statement.text
    )


def _has_borrowed_name(statement: Statement, job_context: JobContext) -> bool:
    known = {person.id for person in (job_context.speaker, *job_context.people)} | {job_context.place.group_id}
    return borrows_a_name(statement.text, _names(job_context), known)


def _names(job_context: JobContext) -> Iterator[str]:
    for person in (job_context.speaker, *job_context.people):
        for name in (person.name, *person.aliases):
            if len(name) > 1:
                yield plain(name)
