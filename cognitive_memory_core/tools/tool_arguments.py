"""Arguments of tools as models write them: a tool's action declares them, and its schema is made of that declaration.

A parameter's annotation is a :class:`Kind`: how it is read (tolerantly, or refused with a sentence for the model) and
what its schema says. One without a default is required in the schema.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, signature
from typing import Annotated, Any, cast

from .. import sentences
from ..domain.profile import EntityType
from ..errors import BadArgument

JSON_LENGTH = 64 * 1024
REPAIRABLE_LENGTH = 4 * 1024  # repairing takes seconds if the text is long, nested and broken
REPAIRABLE_BRACKETS = 16  # the arguments are flat
TEXT_LENGTH = 4_000
ITEMS = 50
MOST = 50
Answer = Mapping[str, object]
Action = Callable[..., Awaitable[Answer]]  # of a caller and the arguments by name
Schema = dict[str, Any]
_TRUE = frozenset({"true", "1", "yes", "y", "on"})
_NOTHING = frozenset({"null", "none", "nil", "undefined", "n/a", *sentences.tools.NOTHING_WORDS})
_NAMED = re.compile(r"[^()（）]{0,128}[(（]([^()（）]{1,128})[)）]")  # matches name(id)
_TOOL = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)
_ENTITIES: Mapping[str, EntityType] = {
    **dict.fromkeys(("user", "users", "person", *sentences.tools.USER_WORDS), "user"),
    **dict.fromkeys(("member", "members", *sentences.tools.MEMBER_WORDS), "member"),
    **dict.fromkeys(("group", "groups", *sentences.tools.GROUP_WORDS), "group"),
}


class BadToolArgument(Exception):
    """An argument that cannot be understood; the message is written for the model."""


@dataclass(frozen=True)
class Kind:
    """A kind of parameter: ``read(value, name)``, its schema, and the bounds that an agent's schema adds.

    Not every provider of models knows the keywords of bounds.
    """

    read: Callable[[object, str], Any]
    schema: Schema
    bounds: Schema


def read_text(value: object, name: str) -> str:
    """Read a text, stripped and cut to ``TEXT_LENGTH``; "" if there is none."""
    if value is None:
        return ""
    with suppress(ValueError):  # Python converts no number of more than 4,300 digits to text
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            text = str(value)[:TEXT_LENGTH].encode("utf-8", "replace")  # no file holds a lone surrogate
            return text.decode("utf-8").replace("\0", "").strip()
    raise BadToolArgument(sentences.tools.ARGUMENT_IS_NO_TEXT.format(name=name))


def read_optional(value: object, name: str) -> str:
    """Read a text; words by which models mark it as left out ("null", "无") give ""."""
    text = read_text(value, name)
    return "" if text.lower() in _NOTHING else text


def read_needed(value: object, name: str) -> str:
    """Read a required text; a blank one counts as missing."""
    if not (text := read_text(value, name)):
        raise BadToolArgument(sentences.tools.ARGUMENT_MISSING.format(name=name))
    return text


def read_texts(value: object, name: str) -> list[str]:
    """Read a list of texts; a single text gives a list of one, JSON text of a list is parsed."""
    try:
        return [text for item in _listed(value)[:ITEMS] if (text := read_optional(item, name))]
    except BadToolArgument as strange:
        raise BadToolArgument(sentences.tools.ARGUMENT_IS_NO_LIST.format(name=name)) from strange


def read_identifier(value: object, name: str) -> str | None:
    """Read an id, written alone or as name(id); None if there is none."""
    text = read_optional(int(value) if isinstance(value, float) and value.is_integer() else value, name)
    return (labelled[1].strip() if (labelled := _NAMED.fullmatch(text)) else text) or None


def read_flag(value: object, _name: str) -> bool:
    """Return True for values that mean yes, False for all others."""
    return value == 1 or (isinstance(value, str) and value.strip().lower() in _TRUE)


def read_count(value: object, _name: str) -> int | None:
    """Return a number from 1 to ``MOST``; None if the value is not such a number."""
    with suppress(ValueError, OverflowError):
        if isinstance(value, str | int | float) and not isinstance(value, bool) and (number := float(value)) >= 1:
            return int(min(number, MOST))
    return None


def read_entity(value: object, name: str) -> EntityType | None:
    """Read a type of profile, in one of many words; None if there is none."""
    word = read_optional(value, name).lower()
    if word and word not in _ENTITIES:
        raise BadToolArgument(sentences.tools.BAD_ENTITY_TYPE)
    return _ENTITIES.get(word)


_STRING, _LONGEST = {"type": "string"}, {"maxLength": TEXT_LENGTH}
_LONGEST_LIST = {"maxItems": ITEMS, "items": {**_STRING, **_LONGEST}}
_ENTITY = {"type": "string", "enum": ["user", "member", "group"]}
Text = Annotated[str, Kind(read_optional, _STRING, _LONGEST)]
Needed = Annotated[str, Kind(read_needed, _STRING, _LONGEST)]
Identifier = Annotated[str | None, Kind(read_identifier, _STRING, _LONGEST)]
Texts = Annotated[Sequence[str], Kind(read_texts, {"type": "array", "items": _STRING}, _LONGEST_LIST)]
Flag = Annotated[bool, Kind(read_flag, {"type": "boolean"}, {})]
Count = Annotated[int | None, Kind(read_count, {"type": "integer"}, {"minimum": 1, "maximum": MOST})]
Entity = Annotated[EntityType | None, Kind(read_entity, _ENTITY, {})]


@cache
def parameters_of(action: Action) -> Mapping[str, tuple[Kind, bool]]:
    """Return the parameters that an action declares, each with whether it is required."""
    return {
        name: (kind, one.default is Parameter.empty)
        for name, one in signature(action, eval_str=True).parameters.items()
        for kind in getattr(one.annotation, "__metadata__", ())
    }


async def read_arguments(
    written: object, action: Action, *, repair: bool, is_strict: bool = False
) -> Mapping[str, object]:
    """Read an action's arguments from a mapping or from JSON text; broken JSON is repaired only with ``repair``.

    If ``is_strict``, arguments of other names are refused, and what reading would cut: long texts and long lists.
    """
    known, given = parameters_of(action), await _object(written, repair=repair)
    for name, value in given.items() if is_strict else ():
        if name not in known:
            refusal = sentences.tools.ARGUMENT_UNKNOWN.format(name=name[:64], known="、".join(known) or "（无）")
            raise BadToolArgument(refusal)
        items = _listed(value)
        if len(items) > ITEMS or any(isinstance(item, str) and len(item) > TEXT_LENGTH for item in items):
            raise BadToolArgument(sentences.tools.ARGUMENT_TOO_LONG.format(name=name, items=ITEMS, limit=TEXT_LENGTH))
    return {name: kind.read(given.get(name), name) for name, (kind, _) in known.items()}


async def _object(written: object, *, repair: bool) -> Mapping[str, object]:
    value = written
    if isinstance(written, str):
        if len(written) > JSON_LENGTH:
            raise BadToolArgument(sentences.tools.ARGUMENTS_TOO_LONG.format(limit=JSON_LENGTH))
        try:
            value = json.loads(written) if written.strip() else None
            value = json.loads(value) if isinstance(value, str) and value else value  # some models encode it twice
        except (ValueError, RecursionError) as broken:
            is_flat = written.count("[") + written.count("{") <= REPAIRABLE_BRACKETS
            if not (repair and is_flat and len(written) <= REPAIRABLE_LENGTH):
                raise BadToolArgument(sentences.tools.ARGUMENTS_ARE_BROKEN) from broken
            value = await asyncio.to_thread(_repaired, written)
    if value is None or value in ("", []):
        return {}
    if not isinstance(value, Mapping):
        raise BadToolArgument(sentences.tools.ARGUMENTS_ARE_NO_OBJECT)
    return cast("Mapping[str, object]", value)


def _listed(value: object) -> Sequence[object]:
    """Return a list, parsed from JSON text if needed; any other value becomes a list of one."""
    if isinstance(value, str) and value.lstrip().startswith("[") and len(value) <= JSON_LENGTH:
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)


def _repaired(written: str) -> object:
    from json_repair import repair_json  # noqa: PLC0415  # costs the bot's start nothing, and runs in a thread

    try:
        return repair_json(written, return_objects=True)
    except (ValueError, RecursionError) as broken:
        raise BadToolArgument(sentences.tools.ARGUMENTS_ARE_BROKEN) from broken


def function_schemas(actions: Mapping[str, Action], prefix: str) -> list[Schema]:
    """Return OpenAI's ``tools`` list, with ``prefix`` before each name, as new objects that a caller may change.

    Raises BadArgument if the prefix and a tool's name form a name that some provider refuses.
    """
    if not all(_TOOL.fullmatch(prefix + name) for name in actions):
        raise BadArgument(sentences.tools.BAD_PREFIX)
    return [
        {
            "type": "function",
            "function": {
                "name": prefix + name,
                "description": sentences.tools.TOOL_TEXTS[name],
                "parameters": parameters_schema(name, action),
            },
        }
        for name, action in actions.items()
    ]


def parameters_schema(name: str, action: Action, *, is_bounded: bool = False) -> Schema:
    """Return the JSON schema of a tool's arguments, with their bounds for an agent."""
    parameters, texts = parameters_of(action), sentences.tools.TOOL_TEXTS
    schema: Schema = {
        "type": "object",
        "properties": {
            key: {**kind.schema, **(kind.bounds if is_bounded else {}), "description": texts[f"{name}.{key}"]}
            for key, (kind, _) in parameters.items()
        },
    }
    if required := [key for key, (_, is_required) in parameters.items() if is_required]:
        schema["required"] = required  # some providers reject an empty list, and a schema without "properties"
    return schema
