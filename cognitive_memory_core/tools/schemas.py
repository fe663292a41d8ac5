"""The tools as OpenAI schemas: flat parameters, names that every provider accepts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .. import sentences
from ..errors import BadArgument
from .tool_arguments import ITEMS, MOST, TEXT_LENGTH

Schema = dict[str, Any]
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)
_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer"}
_ENTITY: Schema = {"type": "string", "enum": ["user", "member", "group"]}
_TOOLS: Mapping[str, Mapping[str, Schema]] = {
    "end": {
        "memo": _TEXT,
        "observations": {"type": "array", "items": {"type": "string"}},
        "perspective": _TEXT,
        "force": {"type": "boolean"},
    },
    "search_events": {
        "query": _TEXT,
        "target_user_id": _TEXT,
        "target_group_id": _TEXT,
        "top_k": _COUNT,
        "time_from": _TEXT,
        "time_to": _TEXT,
    },
    "get_profile": {"entity_type": _ENTITY, "entity_id": _TEXT},
    "search_profiles": {"query": _TEXT, "entity_type": _ENTITY, "top_k": _COUNT},
    "catch_up": {"since": _TEXT},
    "memory_add": {"fact": _TEXT},
    "memory_update": {"id": _TEXT, "fact": _TEXT},
    "memory_delete": {"id": _TEXT},
    "memory_list": {},
}
AGENT_TOOLS: Mapping[str, Mapping[str, Schema]] = {
    **{name: kinds for name, kinds in _TOOLS.items() if name != "end"},
    "remember": {
        "observations": {"type": "array", "items": {"type": "string"}},
        "memo": _TEXT,
        "force": {"type": "boolean"},
    },
    "context": {"query": _TEXT},
    "beliefs": {"query": _TEXT, "limit": _COUNT},
}
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "search_events": ("query",),
    "get_profile": ("entity_type", "entity_id"),
    "search_profiles": ("query",),
    "memory_add": ("fact",),
    "memory_update": ("id", "fact"),
    "memory_delete": ("id",),
    "remember": ("observations",),
    "context": ("query",),
}
_BOUNDS: Mapping[str, Schema] = {  # of an agent's arguments; not every provider of models knows these keywords
    "string": {"maxLength": TEXT_LENGTH},
    "integer": {"minimum": 1, "maximum": MOST},
    "array": {"maxItems": ITEMS, "items": {"type": "string", "maxLength": TEXT_LENGTH}},
}
_WRITING = frozenset({"remember", "memory_add", "memory_update", "memory_delete"})


def function_schemas(prefix: str) -> list[Schema]:
    """Return the tools as new objects, so that a caller may change them.

    Raises BadArgument if the prefix and a tool's name form a name that some provider refuses.
    """
    if not all(_NAME.fullmatch(prefix + name) for name in _TOOLS):
        raise BadArgument(sentences.tools.BAD_PREFIX)
    return [
        {
            "type": "function",
            "function": {
                "name": prefix + name,
                "description": sentences.tools.TOOL_TEXTS[name],
                "parameters": _parameters(name, kinds),
            },
        }
        for name, kinds in _TOOLS.items()
    ]


def agent_schemas() -> list[Schema]:
    """Return the tools of an agent as MCP lists them, as new objects."""
    return [
        {
            "name": name,
            "description": sentences.tools.TOOL_TEXTS[name],
            "inputSchema": {
                **_parameters(name, {key: {**kind, **_BOUNDS.get(kind["type"], {})} for key, kind in kinds.items()}),
                "additionalProperties": False,
            },
            "annotations": {"readOnlyHint": name not in _WRITING, "destructiveHint": name == "memory_delete"},
        }
        for name, kinds in AGENT_TOOLS.items()
    ]


def _parameters(name: str, kinds: Mapping[str, Schema]) -> Schema:
    texts = sentences.tools.TOOL_TEXTS
    properties = {key: {**kind, "description": texts[f"{name}.{key}"]} for key, kind in kinds.items()}
    parameters: Schema = {"type": "object", "properties": properties}
    if name in _REQUIRED:  # some providers reject an empty list, and a schema without "properties"
        parameters["required"] = list(_REQUIRED[name])
    return parameters
