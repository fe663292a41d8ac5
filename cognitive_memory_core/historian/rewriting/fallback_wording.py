"""Makes statements of lines for which a model gave no usable text: by the rules, else by quoting the lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ... import sentences
from ...domain.event import Statement
from ...domain.message import Message
from ...domain.turn import Dialogue, shortened
from ...ports.models import Historian
from ...text.identity.names import one_line
from ...text.statements.lexicon import offences
from .rewrite_batch import RewriteBatch

QUOTED = 400  # characters of a line
CONFIDENCE = 0.6


def cited_lines(batch: RewriteBatch, dialogue: Dialogue) -> list[Message]:
    """Return the lines cited by the tasks that have no text to be stored, in the order of the dialogue."""
    left = [task for task, best in batch.outcomes() if best is None or not best.is_statement]
    cited = {one for task in left for one in task.message_ids}
    return [line for line in dialogue.messages if line.id in cited]


async def quotations(
    lines: Sequence[Message], dialogue: Dialogue, batch: RewriteBatch, rules: Historian
) -> list[Statement]:
    """Quote the lines that a model contradicted, and return what the rules make of the others.

    A line that a model worded in another language, with wrong ids or as a line of chat is quoted if the rules keep
    nothing of it.
    """
    contradicted = {one for task in batch.contradicted for one in task.message_ids}
    quoted = [_quoted(line, batch) for line in lines if line.id in contradicted]
    left = tuple(line for line in lines if line.id not in contradicted)
    worded = await rules.triage(replace(dialogue, messages=left), batch.job_context) if left else []
    kept = {one for statement in worded for one in statement.message_ids}
    misworded = {one for task in (*batch.misworded, *batch.unsettled) for one in task.message_ids} - kept
    return [*quoted, *worded, *(_quoted(line, batch) for line in left if line.id in misworded)]


def _quoted(line: Message, batch: RewriteBatch) -> Statement:
    said = shortened(one_line(line.text), QUOTED)
    speaker = batch.job_context.named(line.sender_id)
    return Statement(
        sentences.stored_text.QUOTATION.format(speaker=speaker.label, line=said),
        speaker=speaker.id,
        confidence=CONFIDENCE,
        is_absolute=not offences(said),
        is_own=True,
        message_ids=(line.id,),
        happened_at=line.sent_at,
    )
