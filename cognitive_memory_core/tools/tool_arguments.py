"""The schemas of tools, and their arguments as models write them: read tolerantly, refused with a sentence."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from .. import sentences
from ..errors import BadArgument

JSON_LENGTH = 64 * 1024
REPAIRABLE_LENGTH = 4 * 1024  # repairing takes seconds if the text is long, nested and broken
REPAIRABLE_BRACKETS = 16  # the arguments are flat
TEXT_LENGTH = 4_000
ITEMS = 50
MOST = 50
_TRUE = frozenset({"true", "1", "yes", "y", "on"})
_NOTHING = frozenset({"null", "none", "nil", "undefined", "n/a", *sentences.tools.NOTHING_WORDS})
_LABEL = re.compile(r"[^()（）]{0,128}[(（]([^()（）]{1,128})[)）]")  # matches name(id)


class BadToolArgument(Exception):
    """An argument that cannot be understood; the message is written for the model."""


class Arguments:
    """The arguments of one call by name; a blank argument counts as missing."""

    def __init__(self, values: Mapping[str, object]) -> None:
        """Wrap the arguments as the model wrote them."""
        self._values = values

    @classmethod
    async def read(cls, written: object, *, repair: bool) -> Arguments:
        """Read arguments from a mapping or from JSON text; broken JSON is repaired only if ``repair`` is True."""
        if isinstance(written, Mapping):
            return cls(cast("Mapping[str, object]", written))
        if written is None or written == []:
            return cls({})
        if not isinstance(written, str):
            raise BadToolArgument(sentences.tools.ARGUMENTS_ARE_NO_OBJECT)
        if len(written) > JSON_LENGTH:
            raise BadToolArgument(sentences.tools.ARGUMENTS_TOO_LONG.format(limit=JSON_LENGTH))
        if not written.strip():
            return cls({})
        try:
            value = json.loads(written)
            value = json.loads(value) if isinstance(value, str) and value else value  # some models encode it twice
        except (ValueError, RecursionError) as broken:
            is_flat = written.count("[") + written.count("{") <= REPAIRABLE_BRACKETS
            if not (repair and is_flat and len(written) <= REPAIRABLE_LENGTH):
                raise BadToolArgument(sentences.tools.ARGUMENTS_ARE_BROKEN) from broken
            value = await asyncio.to_thread(_repaired, written)
        if value is not None and value != [] and not isinstance(value, dict):
            raise BadToolArgument(sentences.tools.ARGUMENTS_ARE_NO_OBJECT)
        return cls(cast("Mapping[str, object]", value or {}))

    def require_bounded(self, known: Collection[str]) -> None:
        """Reject arguments of other names, and what reading would cut: long texts and long lists."""
        for name, value in self._values.items():
            if name not in known:
                refusal = sentences.tools.ARGUMENT_UNKNOWN.format(name=name[:64], known="、".join(known) or "（无）")
                raise BadToolArgument(refusal)
            items = _listed(value)
            if len(items) > ITEMS or any(isinstance(item, str) and len(item) > TEXT_LENGTH for item in items):
                raise BadToolArgument(
                    sentences.tools.ARGUMENT_TOO_LONG.format(name=name, items=ITEMS, limit=TEXT_LENGTH)
                )

    def text_argument(self, name: str) -> str:
        """Return an optional text; words by which models mark it as left out ("null", "无") give ""."""
        return _unless_omitted(_text(self._values.get(name), name))

    def needed(self, name: str) -> str:
        """Return a required text; raises BadToolArgument if it is missing."""
        text = _text(self._values.get(name), name)
        if not text:
            raise BadToolArgument(sentences.tools.ARGUMENT_MISSING.format(name=name))
        return text

    def texts(self, name: str) -> list[str]:
        """Return a list of texts; a single text gives a list of one, JSON text of a list is parsed."""
        value = _listed(self._values.get(name))
        try:
            found = [_text(item, name) for item in value[:ITEMS]]
        except BadToolArgument as strange:
            raise BadToolArgument(sentences.tools.ARGUMENT_IS_NO_LIST.format(name=name)) from strange
        return [text for text in found if _unless_omitted(text)]

    def identifier(self, name: str) -> str | None:
        """Return an id, written alone or as name(id); None if there is none."""
        value = self._values.get(name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        text = _unless_omitted(_text(value, name))
        return (labelled[1].strip() if (labelled := _LABEL.fullmatch(text)) else text) or None

    def flag(self, name: str) -> bool:
        """Return True for values that mean yes, False for all others."""
        value = self._values.get(name)
        return value == 1 or (isinstance(value, str) and value.strip().lower() in _TRUE)

    def count(self, name: str) -> int | None:
        """Return a number from 1 to ``MOST``; None if the value is not such a number."""
        value = self._values.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return None
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return None
        return int(min(number, MOST)) if number >= 1 else None


def _unless_omitted(text: str) -> str:
    return "" if text.lower() in _NOTHING else text


def _listed(value: object) -> Sequence[object]:
    """Return a list, parsed from JSON text if needed; any other value becomes a list of one."""
    if isinstance(value, str) and value.lstrip().startswith("[") and len(value) <= JSON_LENGTH:
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)


def _text(value: object, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadToolArgument(sentences.tools.ARGUMENT_IS_NO_TEXT.format(name=name))
    try:
        text = str(value)[:TEXT_LENGTH].encode("utf-8", "replace").decode("utf-8")  # no file holds a lone surrogate
        return text.replace("\0", "").strip()
    except ValueError as endless:  # Python converts no number of more than 4,300 digits to text
        raise BadToolArgument(sentences.tools.ARGUMENT_IS_NO_TEXT.format(name=name)) from endless


def _repaired(written: str) -> object:
    from json_repair import repair_json  # noqa: PLC0415  # costs the bot's start nothing, and runs in a thread

    try:
        return repair_json(written, return_objects=True)
    except (ValueError, RecursionError) as broken:
        raise BadToolArgument(sentences.tools.ARGUMENTS_ARE_BROKEN) from broken


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
