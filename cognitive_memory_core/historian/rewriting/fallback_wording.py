"""Makes statements from lines for which a model gave no usable text: by the rules, else by quoting the lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ... import sentences
from ...domain.event import Statement
from ...domain.message import Message
from ...domain.turn import Dialogue, shortened
from ...ports.models import Historian
from ...text.identity.name_cleaning import one_line
from ...text.statements.lexicon import offences
from ...text.time.time_words import dated_words, leaning
from .attribution import RewriteTask
from .echoes import called, share_in
from .rewrite_batch import RewriteBatch
from .supporting_people import AGREED

QUOTED = 400  # characters of a line
CONFIDENCE = 0.6


def cited_lines(batch: RewriteBatch, dialogue: Dialogue) -> list[Message]:
    """Return the lines cited by tasks without a text that may be stored, in the order of the dialogue."""
    left = [task for task, best in batch.outcomes() if best is None or not best.is_statement]
    cited = {one for task in left for one in task.message_ids}
    return [line for line in dialogue.messages if line.id in cited]


async def quotations(
    lines: Sequence[Message], dialogue: Dialogue, batch: RewriteBatch, rules: Historian
) -> list[Statement]:
    """Quote the lines that a model contradicted, and return what the rules make of the others.

    If the rules make nothing of a line, it is quoted if a model worded it in another language, with wrong ids or as a
    line of chat.
    """
    contradicted = {one for task in batch.contradicted for one in task.message_ids}
    quoted = [_quoted(line, batch) for line in lines if line.id in contradicted]
    left = tuple(line for line in lines if line.id not in contradicted)
    worded = await rules.triage(replace(dialogue, messages=left), batch.job_context) if left else []
    kept = {one for statement in worded for one in statement.message_ids}
    misworded = {one for task in batch.misworded for one in task.message_ids}
    telling = {one for task in batch.unsettled for one in _telling_ids(task, left, batch)}
    wanted = (misworded | telling) - kept
    return [*quoted, *worded, *(_quoted(line, batch) for line in left if line.id in wanted)]


def _telling_ids(task: RewriteTask, lines: Sequence[Message], batch: RewriteBatch) -> list[str]:
    """Return the ids of the cited lines that contain a quarter of a task's text, else of the one with most of it."""
    held = {line.id: share_in(line.text, task.text, batch.job_context) for line in lines if line.id in task.message_ids}
    return [one for one, share in held.items() if share >= AGREED] or sorted(held, key=lambda one: -held[one])[:1]


def _quoted(line: Message, batch: RewriteBatch) -> Statement:
    said = shortened(one_line(line.text), QUOTED)
    speaker, names = batch.job_context.named(line.sender_id), called(batch.job_context)
    when = line.sent_at.astimezone(batch.job_context.when.tzinfo)
    days = [(word, day) for word, day in dated_words(said, when, names) if _is_one_day(word)]
    dates = [sentences.stored_text.MEANT.format(word=word, meaning=day) for word, day in days]
    quotation = sentences.stored_text.quoted_line(speaker.label, said, dates)
    return Statement(
        quotation if dates else sentences.stored_text.QUOTATION.format(speaker=speaker.label, line=said),
        speaker=speaker.id,
        confidence=CONFIDENCE,
        is_absolute=not offences(said),
        is_own=True,
        message_ids=(line.id,),
        happened_at=line.sent_at,
    )


def _is_one_day(word: str) -> bool:
    """Return whether a word names one certain day, week or month; a weekday may recur, so it does not count."""
    return all(mention.kind == "relative" for mention in leaning(word))
