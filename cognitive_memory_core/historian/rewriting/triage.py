"""Attributes what a model found worth remembering in a dialogue to the senders of the lines that it cites."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ... import sentences
from ...domain.log_fields import log_fields
from ...domain.message import Message
from ...domain.people import JobContext
from ...domain.turn import Dialogue, shortened
from ...prompts.answers import StatementAnswer, TriageAnswer
from ...text.identity.labelling import labelled
from ...text.identity.name_cleaning import one_line
from ...text.identity.persons import opening_voice, speaks_of_others
from ...text.identity.written_ids import plain
from ...text.statements.agreement import CitedLine
from .attribution import READ, RewriteTask, likeliest, said_by
from .echoes import echoes, share_in
from .rewrite_batch import PREVIOUS, RewriteBatch
from .supporting_people import is_own_word, supports

log = logging.getLogger(__name__)


def batch_of(
    triaged: TriageAnswer, dialogue: Dialogue, job_context: JobContext
) -> tuple[RewriteBatch, list[StatementAnswer]]:
    """Build a rewrite batch of the observations that cite people's lines, with their answers; drop the others."""
    said = [one for one in triaged.observations if one_line(one.text[:READ])]
    cited = [(one, lines) for one in said if (lines := _cited(one, dialogue.messages, job_context))]
    if len(cited) < len(said):  # invented, or said by the bot
        log.warning(
            "historian_rewrite job=%s: %s",
            job_context.job_id,
            sentences.log.UNCITED.format(count=len(said) - len(cited)),
            extra=log_fields("triage", job_id=job_context.job_id, place=job_context.place),
        )
    messages = dialogue.messages
    tasks = [_task(number, one, lines, messages, job_context) for number, (one, lines) in enumerate(cited, 1)]
    answers = [replace(one, number=number) for number, (one, _) in enumerate(cited, 1)]
    return RewriteBatch(tasks, [line.text for line in dialogue.messages], job_context), answers


def _cited(said: StatementAnswer, messages: Sequence[Message], job_context: JobContext) -> list[Message]:
    """Return the distinct lines of people that an observation cites, in the order of the dialogue.

    If it cites no line, or only lines that share no word with it, the line with most of its words is returned instead.
    If it begins by quoting a person of whom it cites no line, a line of that person that contains more of it is.
    """
    of_people = [line for line in messages if line.sender_id and line.text.strip()]
    numbers = {number for number in said.lines if 0 < number <= len(messages)}
    cited = [line for line in (messages[number - 1] for number in sorted(numbers)) if line in of_people]
    text = said.text[:READ]
    own = _of_voice(text, cited, of_people, job_context)
    if own and _holds_more(own, cited, text, job_context):
        return [own]
    if any(echoes(text, line.text, job_context) for line in cited):
        return cited
    found = likeliest(text, of_people, job_context)
    return [found] if found and (cited or not said.lines) else cited


def _of_voice(text: str, cited: Sequence[Message], lines: Sequence[Message], job_context: JobContext) -> Message | None:
    """Return a line of the person whom a text quotes at its beginning, if the text cites no line of that person.

    None otherwise.
    """
    voice = opening_voice(plain(labelled(text, (job_context.speaker, *job_context.people))))
    if not voice or voice in {line.sender_id for line in cited}:
        return None
    return likeliest(text, [line for line in lines if line.sender_id == voice], job_context)


def _holds_more(line: Message, cited: Sequence[Message], text: str, job_context: JobContext) -> bool:
    """Return whether a line contains more of a text than the cited lines; if not, the name before the text is wrong."""
    said = "\n".join(one.text for one in cited)
    return share_in(line.text, text, job_context) > share_in(said, text, job_context)


def _task(
    number: int, said: StatementAnswer, lines: Sequence[Message], messages: Sequence[Message], job_context: JobContext
) -> RewriteTask:
    """Build the task of an observation; ``own`` is "" if several people said it, or if one said it of somebody else."""
    lines_by_sender = said_by(lines)
    senders = tuple(lines_by_sender)
    return RewriteTask(
        number,
        shortened(one_line(said.text[:READ]), PREVIOUS),
        "\n".join(line.text for line in lines),
        senders,
        lines_by_sender,
        own=senders[0] if len(senders) == 1 and not _is_of_others(lines) else "",
        voices=senders if len(senders) > 1 else (),
        message_ids=tuple(line.id for line in lines),
        happened_at=lines[-1].sent_at,
        backing=supports(lines, messages),
        dictated_by=next((line.sender_id for line in lines if is_own_word(line.text)), ""),
        beside="\n".join(_beside(lines, messages, job_context)),
        others="\n".join(line.text for line in messages if line.sender_id not in lines_by_sender and line.sender_id),
        cited=tuple(CitedLine(line.text, line.sent_at.astimezone(job_context.when.tzinfo)) for line in lines),
    )


def _beside(lines: Sequence[Message], messages: Sequence[Message], job_context: JobContext) -> Iterator[str]:
    """Yield other lines of the cited people, and for each cited line the line that it answers, else the one before."""
    senders, cited = {line.sender_id for line in lines}, {line.id for line in lines}
    known = {line.id: line for line in (*job_context.answered, *job_context.earlier, *messages)}
    before = dict(zip([line.id for line in messages[1:]], messages, strict=False))
    for line in messages:
        if line.sender_id in senders and line.id not in cited:
            yield line.text
        elif line.id in cited and (answered := known.get(line.reply_to or "") or before.get(line.id)):
            yield answered.text


def _is_of_others(lines: Sequence[Message]) -> bool:
    """Return whether a person's lines speak of a third person and do not name the person who says them."""
    text = "\n".join(line.text[:READ] for line in lines)
    who = lines[0].scene
    is_named = bool(who.user_name) and who.user_name in text
    return speaks_of_others(text) and not is_named and f"({who.user_id})" not in plain(text)
