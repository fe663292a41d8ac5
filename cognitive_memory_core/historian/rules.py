"""The memory without a model: which lines are kept, and which of their clauses stand in profiles."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from .. import sentences
from ..domain.event import EventKind, Fact, Statement, nested
from ..domain.job import JobContext
from ..domain.turn import Dialogue, Turn
from ..ports import MergedLine, MergedLines, MergeInput
from ..text.characters import folded
from ..text.cleaning import one_line
from ..text.lasting_facts import lasting_clause, speaks_of_rank_or_debt
from ..text.names import clean_name
from ..text.time.time_words import mentions
from .statements import GivenLines, as_noted, as_said

SHORT, LONG = 6, 18  # letters and digits from which a line with a sign is kept, and any other line
_SIGN = re.compile("[0-9一二三四五六七八九十百千万我俺咱定改约换搬停取别禁]|(?<![a-z])(?:i|we|my)(?![a-z])")
_QUESTION = re.compile("[?？][ ~～。！!]*$|[吗嘛呢么][~～。！!…]*$")
_COMMAND = re.compile("[/!！#$]|[.][a-z]")
_MARKERS = re.compile(r"\[[^\[\]\n]{1,60}\]|https?://\S+|^(?:@\S{1,40}\s+)+")
_NO_WORDS = re.compile(r"[\W_]+")
INTRODUCED = 24  # letters of a line within which its sender says who they are
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
    return length > 0 and lasting_clause(line) is not None


def introduces_oneself(line: str, name: str) -> bool:
    """Return whether a line tells something and begins with its sender's name: 我是小北，木匠; Kay here, from Cork."""
    own = folded(clean_name(name))
    begun = rf"(?:^|[\s,，.。!！~～])(?:我[是叫]?|i'm |i am |this is |my name is )?{re.escape(own)}(?![a-z0-9])"
    return len(own) > 1 and told_length(line) >= SHORT and bool(re.search(begun, folded(line)[:INTRODUCED]))


class RuleHistorian:
    """A historian by rules instead of a model. Equal input gives equal statements."""

    async def statements(self, work: Turn | Dialogue, job_context: JobContext) -> list[Statement]:
        """Keep each observation, as the bot's note, and each line worth keeping, with the line that it answers.

        What somebody says of themselves that lasts has them as its subject, and so has a line in which they introduce
        themselves, and that names nobody else and no day such as today.
        """
        if isinstance(work, Turn):
            return [as_noted(observation, work) for observation in work.observations]
        given = GivenLines(work.messages, (*job_context.answered, *job_context.earlier))
        kept: list[Statement] = []
        for message in work.messages:
            is_introduced = introduces_oneself(message.text, message.scene.user_name)
            if message.sender_id and (is_introduced or is_worth_keeping(message.text)):
                others = [one.name for one in job_context.people if one.id != message.sender_id and one.name]
                lasting, kind = lasting_clause(message.text, others), "event"
                if lasting:
                    kind = "knowledge" if lasting[1] == "role" else "preference"
                elif is_introduced and not any(name in message.text for name in others):
                    kind = "event" if any(one.kind == "relative" for one in mentions(message.text)) else "knowledge"
                said = as_said([message], given, job_context, kind)
                kept.append(replace(said, subjects=() if kind == "event" else (message.sender_id,)))
            await asyncio.sleep(0)  # one line at a time, to keep the event loop responsive
        return kept


def may_be_worth_remembering(dialogue: Dialogue) -> bool:
    """Return whether a dialogue is worth a model call: a line is worth keeping, or all lines together are long."""
    said = [line.text for line in dialogue.messages if line.sender_id]
    return any(map(is_worth_keeping, said)) or sum(map(told_length, said)) >= TOGETHER


LINE_LENGTH = 120
_FIELDS: dict[EventKind, str] = {"preference": "interests", "knowledge": "role"}
_GROUP_FIELDS: dict[EventKind, str] = {"preference": "state", "knowledge": "state"}


class RuleMerger:
    """From each fact, quotes the clause that says something lasting; two that contradict each other both stay.

    A fact of which a historian says that it lasts is quoted whole.
    """

    async def merge(self, given: MergeInput, now: datetime) -> MergedLines:
        """Return a line for each fact that is a lasting one."""
        headings = sentences.context.headings(is_group=given.is_group)
        lines: list[MergedLine] = []
        for fact in sorted(given.new, key=lambda fact: fact.happened_at):
            if given.is_group:
                title = headings[_GROUP_FIELDS.get(fact.kind, "topics")]
                lines.append(line_as_said(title, quoted([fact], given), [fact], now))
                continue
            if lasting := lasting_clause(fact.text):
                said, field = sentences.context.QUOTED_CLAUSE.format(clause=lasting[0]), lasting[1]
            elif fact.kind in _FIELDS and not speaks_of_rank_or_debt(fact.text):
                said, field = quoted([fact], given), _FIELDS[fact.kind]
            else:
                continue
            lines.append(line_as_said(headings[field], said, [fact], now))
        return MergedLines(tuple(lines))


def line_as_said(title: str, said: str, facts: Sequence[Fact], now: datetime) -> MergedLine:
    """Return the line that quotes facts, with the day of the last one."""
    day = min(max(fact.happened_at for fact in facts), now).astimezone(now.tzinfo).date().isoformat()
    return MergedLine(
        title, sentences.context.noted_on(said, day).removeprefix("- "), tuple(fact.event_id for fact in facts)
    )


def quoted(facts: Sequence[Fact], given: MergeInput) -> str:
    """Return the words of facts in quotation marks; a group's have theirs already."""
    if given.is_group:
        return one_line(" ".join(fact.text for fact in facts), LINE_LENGTH)
    clauses = (one_line(nested(fact.text), LINE_LENGTH) for fact in facts)
    return "".join(sentences.context.QUOTED_CLAUSE.format(clause=clause) for clause in clauses)
