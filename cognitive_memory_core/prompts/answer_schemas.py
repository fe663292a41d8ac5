"""The JSON schemas of the answers; the description of each field is part of the prompt.

They are the same for every question, so that a provider's prompt cache applies to all calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..domain.event import MEMORY_KINDS

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
_SHARED: Mapping[str, Form] = {
    "nothing_new": {"type": "boolean", "description": "新事实没有一条值得写进侧写；true 时其余字段可空"},
    "tags": _listed("最多 12 个短标签"),
}
_OF_PERSON: Mapping[str, Form] = {
    "summary": _text("1～3 句话，概括是谁、做什么、最要紧的特点"),
    "role": _listed("身份、职业、住处、家人、在群里的分工"),
    "interests": _listed("兴趣、喜好、忌口、过敏"),
    "style": _listed("说话和做事的习惯"),
    "topics": _listed("近期的事，每条句首写一次日期"),
    "tools": _listed("常用的工具、软件、技术"),
    "pain_points": _listed("伤病、反复遇到的困难"),
}
_OF_GROUP: Mapping[str, Form] = {
    "summary": _text("1～2 句话，概括是什么群、在做什么"),
    "rules": _listed("规矩、固定的安排"),
    "state": _listed("定位、进展、定下的事"),
    "topics": _listed("近期在谈、在办的事，每条句首写一次日期"),
    "members": _listed("分工：谁负责什么"),
}
MERGE: Form = _object({**_SHARED, **_OF_PERSON}, (*_SHARED, *_OF_PERSON))
MERGE_GROUP: Form = _object({**_SHARED, **_OF_GROUP}, (*_SHARED, *_OF_GROUP))
