"""The schemas of answers; their descriptions are part of the prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..domain.event import MEMORY_KINDS
from ..sentences.context import GROUP_HEADINGS, PROFILE_HEADINGS

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
_SAID: Mapping[str, Form] = {"text": _TEXT, "lines": _LINES, **_ABOUT}
_REQUIRED = ("text", "lines", "kind", "subjects", "speaker", "confidence")
_STATEMENT = _object({"number": {"type": "integer"}, **_SAID}, ("number", *_REQUIRED))
REWRITE: Form = _object({"statements": {"type": "array", "items": _STATEMENT}}, ("statements",))
TRIAGE: Form = _object(
    {
        "should_remember": {"type": "boolean", "description": "有没有值得长期记住的事"},
        "reason": _text("一句话理由"),
        "observations": {"type": "array", "items": _object(_SAID, _REQUIRED), "description": "不值得记就是空数组"},
    },
    ("should_remember", "reason", "observations"),
)
COMPRESS: Form = _object({"summary": _text("摘要全文，一段")}, ("summary",))
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
