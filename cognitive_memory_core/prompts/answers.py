"""Answers of models: their schemas, whose descriptions are part of the prompt, and what is read of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..domain.event import MEMORY_KINDS, EventKind
from ..sentences.stored_text import GROUP_HEADINGS, PROFILE_HEADINGS

ProposedAction = Literal["keep", "update", "create", "delete"]
ACTIONS: tuple[ProposedAction, ...] = ("keep", "update", "create", "delete")


@dataclass(frozen=True)
class StatementAnswer:
    """One statement of a model; ``number`` is that of its task.

    ``same_as`` is the number of a neighbour that says the same, ``replaces`` that of one that no longer holds; 0 for
    none. ``subjects`` and ``speaker`` are as the model wrote them; the caller checks that their ids were given.
    ``lines`` are the numbers of the lines that support the statement (triage only).
    """

    number: int
    text: str
    kind: EventKind = "event"
    subjects: tuple[str, ...] = ()
    speaker: str = ""
    confidence: float = 1.0
    same_as: int = 0
    replaces: int = 0
    lines: tuple[int, ...] = ()
    pain: str = ""
    solution: str = ""
    outcome: str = ""


@dataclass(frozen=True)
class TriageAnswer:
    """Whether a dialogue is worth remembering and why, and the observations to remember."""

    should_remember: bool
    reason: str
    observations: tuple[StatementAnswer, ...]


@dataclass(frozen=True)
class ProfileLine:
    """One line below a heading ("" for the beginning of the profile), and the numbers of the facts it rests on."""

    title: str
    text: str
    facts: tuple[int, ...] = ()


@dataclass(frozen=True)
class ProfileAnswer:
    """Lines of a profile as a model wrote them, its tags, and the numbers of facts that no longer hold."""

    lines: tuple[ProfileLine, ...] = ()
    tags: tuple[str, ...] = ()
    outdated: tuple[int, ...] = ()


@dataclass(frozen=True)
class Proposal:
    """One line of an evolution's answer; ``old_id`` is a label (B1) or an id, as the model wrote it.

    ``lines`` are the numbers of the lines that say it, ``agreed`` and ``refused`` of those that answer them.
    """

    action: ProposedAction
    old_id: str = ""
    statement: str = ""
    reason: str = ""
    lines: tuple[int, ...] = ()
    agreed: tuple[int, ...] = ()
    refused: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposals:
    """The lines of an evolution's answer that could be read, and the number of those that could not."""

    rows: tuple[Proposal, ...]
    unreadable: int = 0


Form = Mapping[str, Any]


def _text(says: str) -> Form:
    return {"type": "string", "description": says}


def _listed(says: str, of: str = "string") -> Form:
    return {"type": "array", "items": {"type": of}, "description": says}


def _object(fields: Mapping[str, Form], required: tuple[str, ...]) -> Form:
    return {"type": "object", "properties": dict(fields), "required": list(required)}


_TEXT: Form = {"type": "string"}
_KIND: Form = {
    "type": "string",
    "enum": list(MEMORY_KINDS),
    "description": "event 经过、约定；preference 喜好、习惯；knowledge 身份、知识；"
    "experience 解决了的问题，另填 pain 问题、solution 办法、outcome 结果",
}
_ABOUT: Mapping[str, Form] = {
    "kind": _KIND,
    "subjects": _listed("说的是谁的 id；说整个群填群的 id"),
    "speaker": _text("谁的话，id，须是 lines 里某一行的人；几个人合起来才成的填最后定下的人，看不出填空"),
    "confidence": {"type": "number", "description": "0.9 本人明说；0.6 转述或推断；0.2 玩笑、猜测、指代不清"},
    "same_as": {"type": "integer", "description": "同 E 几；没有填 0"},
    "replaces": {"type": "integer", "description": "同一人改了口，或管理改了规矩，E 几不再成立；没有填 0"},
    "pain": _TEXT,
    "solution": _TEXT,
    "outcome": _TEXT,
}
_LINES = _listed("依据的聊天行号，只算人说的行；没有就空着", "integer")
_STATEMENT = _object(
    {"number": {"type": "integer"}, "text": _TEXT, "lines": _LINES, **_ABOUT},
    ("number", "text", "lines", "kind", "subjects", "speaker", "confidence"),
)
_OBSERVATION = _object(
    {"text": _TEXT, "lines": _LINES, **_ABOUT},
    ("text", "lines", "kind", "subjects", "speaker", "confidence"),
)
REWRITE: Form = _object({"statements": {"type": "array", "items": _STATEMENT}}, ("statements",))
TRIAGE: Form = _object(
    {
        "should_remember": {"type": "boolean", "description": "有没有值得长期记住的事"},
        "reason": _text("一句话理由"),
        "observations": {"type": "array", "items": _OBSERVATION, "description": "不值得记就是空数组"},
    },
    ("should_remember", "reason", "observations"),
)
COMPRESS: Form = _object({"summary": _text("摘要全文，一段")}, ("summary",))
SUGGEST: Form = _object({"draft": _text("留给群里的一行")}, ("draft",))
_PERSONAL_SECTIONS = (
    "summary 一两句概括；role 身份、职业、住处、家人、分工；interests 喜好、忌口、过敏；style 习惯；"
    "topics 近期的事；tools 常用的工具、技术；pain_points 伤病、反复遇到的困难"
)
_GROUP_SECTIONS = (
    "summary 一句概括；rules 规矩、固定的安排；state 定位、进展、定下的事；topics 近期的事；members 谁负责什么"
)


def _profile(sections: str, names: Iterable[str]) -> Form:
    line = _object(
        {
            "section": {"type": "string", "enum": ["summary", *names], "description": sections},
            "text": _TEXT,
            "facts": _listed("依据的事实号", "integer"),
        },
        ("section", "text", "facts"),
    )
    fields: Mapping[str, Form] = {
        "lines": {"type": "array", "items": line, "description": "新写或重写的行；没有值得写的就是空数组"},
        "tags": _listed("最多 12 个短标签，照抄事实里的词"),
        "outdated": _listed("不再成立的事实号", "integer"),
    }
    return _object(fields, tuple(fields))


MERGE: Form = _profile(_PERSONAL_SECTIONS, PROFILE_HEADINGS)
MERGE_GROUP: Form = _profile(_GROUP_SECTIONS, GROUP_HEADINGS)
