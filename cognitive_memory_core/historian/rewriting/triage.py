"""What a model found worth remembering in a dialogue, put down to those whose lines it rests on."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from ... import sentences
from ...domain.message import Message
from ...domain.people import Anchors
from ...domain.turn import Dialogue, shortened
from ...prompts.answers import Said, Triaged
from ...text.identity.names import one_line
from ...text.identity.persons import speaks_of_others
from ...text.identity.written_ids import plain
from .attribution import READ, RewriteTask, said_by
from .rewrite_batch import PREVIOUS, RewriteBatch

log = logging.getLogger(__name__)


def sheet_of(triaged: Triaged, dialogue: Dialogue, anchors: Anchors) -> tuple[RewriteBatch, list[Said]]:
    """Lay out the observations that rest on somebody's lines, with what was written of them; others are dropped."""
    said = [one for one in triaged.observations if one_line(one.text[:READ])]
    founded = [(one, lines) for one in said if (lines := _cited(one, dialogue.messages))]
    if len(founded) < len(said):  # an invention, or the bot's own word
        log.warning("historian_rewrite job=%s: %s", anchors.job_id, sentences.uncited(len(said) - len(founded)))
    matters = [_matter(number, one, lines) for number, (one, lines) in enumerate(founded, 1)]
    answers = [replace(one, number=number) for number, (one, _) in enumerate(founded, 1)]
    return RewriteBatch(matters, [line.text for line in dialogue.messages], anchors), answers


def _cited(said: Said, messages: Sequence[Message]) -> list[Message]:
    """Give the lines of people that an observation names, once each, in their order."""
    numbers = sorted({number for number in said.lines if 0 < number <= len(messages)})
    lines = (messages[number - 1] for number in numbers)
    return [line for line in lines if line.sender_id and line.text.strip()]


def _matter(number: int, said: Said, lines: Sequence[Message]) -> RewriteTask:
    """Put an observation down to the senders of its lines; what several said, or one of others, is no own word."""
    spoken = said_by(lines)
    senders = tuple(spoken)
    return RewriteTask(
        number,
        shortened(one_line(said.text[:READ]), PREVIOUS),
        "\n".join(line.text for line in lines),
        senders,
        spoken,
        own=senders[0] if len(senders) == 1 and not _is_of_others(lines) else "",
        message_ids=tuple(line.id for line in lines),
        happened_at=lines[-1].sent_at,
    )


def _is_of_others(lines: Sequence[Message]) -> bool:
    """Tell whether somebody's lines speak of a third person, and nowhere of who speaks."""
    text = "\n".join(line.text[:READ] for line in lines)
    who = lines[0].scene
    is_named = bool(who.user_name) and who.user_name in text
    return speaks_of_others(text) and not is_named and f"({who.user_id})" not in plain(text)
