"""The tools as OpenAI schemas: flat parameters, names that every provider accepts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .. import sentences
from ..errors import BadArgument

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
    "memory_add": {"fact": _TEXT},
    "memory_update": {"id": _TEXT, "fact": _TEXT},
    "memory_delete": {"id": _TEXT},
    "memory_list": {},
}
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "search_events": ("query",),
    "get_profile": ("entity_type", "entity_id"),
    "search_profiles": ("query",),
    "memory_add": ("fact",),
    "memory_update": ("id", "fact"),
    "memory_delete": ("id",),
}


def function_schemas(prefix: str) -> list[Schema]:
    """Return the tools as new objects, so that a caller may change them.

    Raises BadArgument for a prefix that makes a name which some provider refuses.
    """
    if not all(_NAME.fullmatch(prefix + name) for name in _TOOLS):
        raise BadArgument(sentences.tools.BAD_PREFIX)
    return [{"type": "function", "function": _function(prefix, name)} for name in _TOOLS]


def _function(prefix: str, name: str) -> Schema:
    texts = sentences.tools.TOOL_TEXTS
    properties = {key: {**kind, "description": texts[f"{name}.{key}"]} for key, kind in _TOOLS[name].items()}
    parameters: Schema = {"type": "object", "properties": properties}
    if name in _REQUIRED:  # some providers reject an empty list, and a schema without "properties"
        parameters["required"] = list(_REQUIRED[name])
    return {"name": prefix + name, "description": texts[name], "parameters": parameters}
