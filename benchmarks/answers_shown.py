"""What the context of a turn holds of a labelled chat, read from its text alone."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import cognitive_memory_core as core
from cognitive_memory_core import sentences
from cognitive_memory_core.recall.render import QUOTED_LENGTH, quoted, weekday_minute
from cognitive_memory_core.text.names import clean_name

from .chat_set import Chat, Line, Question
from .labelled import ZONE

WINDOW = 12  # lines that some chats hand their model themselves
TELLING = 8  # characters; a shorter forbidden line or statement may stand in anybody's text
CLAUSE = 6  # characters of a quoted clause of a profile
_CORNERS = str.maketrans("「」", "『』")
_QUOTED = re.compile(f"“([^“”]{{{CLAUSE},}})”")


@dataclass(frozen=True)
class Shown:
    """What one context showed: ids of messages, as lines or through what was made of them, and its size in tokens."""

    question: Question
    found: frozenset[str]
    window: frozenset[str]
    forbidden: frozenset[str]
    tokens: int
    degraded: tuple[str, ...]
    text: str

    @property
    def share(self) -> float:
        """The share of the evidence that stands in the text."""
        return len(self.question.evidence & self.found) / len(self.question.evidence)

    @property
    def is_at_hand(self) -> bool:
        """Whether evidence stands in the text or among the lines that a chat hands its model itself."""
        return bool(self.question.evidence & (self.found | self.window))


@dataclass(frozen=True)
class Memory:
    """A statement of the memory, and the messages that it was made from."""

    text: str
    made_of: frozenset[str]


def shown_by(chat: Chat, question: Question, context: core.Context, memories: Iterable[Memory]) -> Shown:
    """Read which messages a context shows: as lines of the log, through statements, or as a profile's quotations."""
    older = [line for line in chat.lines if line.message.sent_at < question.at]
    here = deque((line.message.id for line in older if line.place == question.place), WINDOW)
    asked_for = question.evidence | question.forbidden
    wanted = [line for line in older if line.message.id in asked_for]
    found = _lines_in(wanted, context) | _memories_in(chat, context, memories) | _clauses_in(wanted, context)
    said = {line.message.id: quoted(line.message.text) for line in chat.lines if line.message.id in question.forbidden}
    told = (one for one, text in said.items() if len(text) >= TELLING and text in context.text)
    forbidden = frozenset(told) | (question.forbidden & found)
    return Shown(question, found, frozenset(here), forbidden, context.tokens, context.degraded, context.text)


def _lines_in(lines: Iterable[Line], context: core.Context) -> frozenset[str]:
    shown = _section(context, sentences.context.TITLE_QUOTATIONS)
    by_minute: dict[str, list[str]] = {}
    for line in shown:
        by_minute.setdefault(line.partition("]")[0], []).append(line)
    text = "\n".join(shown)
    return frozenset(line.message.id for line in lines if _is_in(line, by_minute) or _is_beside(line, text))


def _is_in(line: Line, by_minute: Mapping[str, Sequence[str]]) -> bool:
    candidates = by_minute.get(f"- [{weekday_minute(line.message.sent_at, ZONE)}", ())
    begun = quoted(line.message.text)[: QUOTED_LENGTH // 2]
    voice = f"({line.speaker})" if line.speaker else sentences.context.THE_BOT
    return any(voice in one and f"：{begun}" in one for one in candidates)


def _is_beside(line: Line, shown: str) -> bool:
    """Return whether the whole of a line stands with its speaker beside another one: replied to, or said next."""
    voice = f"({line.speaker})" if line.speaker else sentences.context.THE_BOT
    text = quoted(line.message.text.translate(_CORNERS))
    return f"{voice}「{text}」" in shown


def _memories_in(chat: Chat, context: core.Context, memories: Iterable[Memory]) -> frozenset[str]:
    """Return what the statements were made from that stand in the text, whatever people are called in them."""
    labels = _labels(frozenset(clean_name(line.name) for line in chat.lines))
    quotations = frozenset(_section(context, sentences.context.TITLE_QUOTATIONS))
    rest = (line for section in context.sections for line in section.lines if line not in quotations)
    shown = labels.sub(r"(\1)", "\n".join(rest))
    texts = ((labels.sub(r"(\1)", quoted(one.text)), one.made_of) for one in memories)
    return frozenset(one for text, made_of in texts if len(text) >= TELLING and text in shown for one in made_of)


def _clauses_in(lines: Iterable[Line], context: core.Context) -> frozenset[str]:
    """Return the messages of which a profile or a statement quotes a clause."""
    clauses = {clause for section in context.sections for line in section.lines for clause in _QUOTED.findall(line)}
    return frozenset(line.message.id for line in lines if any(one in quoted(line.message.text) for one in clauses))


@cache
def _labels(names: frozenset[str]) -> re.Pattern[str]:
    """Return a pattern of people's labels: they are shown with the name of today, and the one of then behind it."""
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(map(re.escape, longest_first))})\((\w+)\)(?:〔[^〕]*〕)?")


def _section(context: core.Context, title: str) -> tuple[str, ...]:
    return next((section.lines for section in context.sections if section.title == title), ())
