"""The historian without a model: chooses lines worth keeping and keeps each whole, as it was said."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

from ...domain.event import Statement
from ...domain.people import JobContext
from ...domain.turn import Dialogue, Turn
from ...text.characters import folded
from ...text.statements.lasting_facts import ended_states, lasting_clause
from ...text.time.time_words import mentions
from .checks import GivenLines
from .statements_of_answers import as_noted, as_said

SHORT, LONG = 6, 18  # letters and digits from which a line with a sign is kept, and any other line
_SIGN = re.compile("[0-9一二三四五六七八九十百千万我俺咱定改约换搬停取别禁]|(?<![a-z])(?:i|we|my)(?![a-z])")
_QUESTION = re.compile("[?？][ ~～。！!]*$|[吗嘛呢么][~～。！!…]*$")
_COMMAND = re.compile("[/!！#$]|[.][a-z]")
_MARKERS = re.compile(r"\[[^\[\]\n]{1,60}\]|https?://\S+|^(?:@\S{1,40}\s+)+")
_NO_WORDS = re.compile(r"[\W_]+")
TOGETHER = 40  # letters told in all lines of people from which a dialogue is worth a model call


def told_length(line: str) -> int:
    """Return how many letters and digits a line tells; 0 for a question or a command."""
    said = folded(_MARKERS.sub(" ", line)).strip()
    return 0 if _COMMAND.match(said) or _QUESTION.search(said) else len(_NO_WORDS.sub("", said))


def is_worth_keeping(line: str) -> bool:
    """Return whether a line is kept: long, or with a number, a date or a sign of somebody's affairs.

    What somebody says of themselves that lasts is kept however short it is.
    """
    length = told_length(line)
    if length >= LONG or (length >= SHORT and bool(_SIGN.search(folded(line)) or mentions(line))):
        return True
    return length > 0 and bool(lasting_clause(line) or ended_states(line))


class RuleHistorian:
    """A historian by rules instead of a model. Equal input gives equal statements."""

    async def rewrite(self, turn: Turn, job_context: JobContext) -> list[Statement]:  # noqa: ARG002  # of the port
        """Keep each observation as it is, as the bot's note."""
        return [as_noted(observation, turn) for observation in turn.observations]

    async def triage(self, dialogue: Dialogue, job_context: JobContext) -> list[Statement]:
        """Return the lines worth keeping, each as it was said, with the line that it answers.

        What somebody says of themselves that lasts has them as its subject.
        """
        given = GivenLines(dialogue.messages, (*job_context.answered, *job_context.earlier))
        kept: list[Statement] = []
        for message in dialogue.messages:
            if message.sender_id and is_worth_keeping(message.text):
                others = [one.name for one in job_context.people if one.id != message.sender_id and one.name]
                lasting = lasting_clause(message.text, others)
                said = as_said([message], given, job_context, lasting.kind if lasting else "event")
                is_of_sender = bool(lasting or ended_states(message.text))
                kept.append(replace(said, subjects=(message.sender_id,) if is_of_sender else ()))
            await asyncio.sleep(0)  # one line at a time, to keep the event loop responsive
        return kept


def may_be_worth_remembering(dialogue: Dialogue) -> bool:
    """Return whether a dialogue is worth a model call: a line is worth keeping, or all lines together are long."""
    said = [line.text for line in dialogue.messages if line.sender_id]
    return any(map(is_worth_keeping, said)) or sum(map(told_length, said)) >= TOGETHER
