"""Settings as variables of .env or of the process environment: ``COGNITIVE_MEMORY__GROUP__KEY``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

FIELD = "cognitive_memory"
_NESTED = FIELD + "__"


def nested_settings(variables: Mapping[str, str | None]) -> dict[str, Any]:
    """Return those variables that are settings of the memory, nested by group; values are :func:`decoded`.

    The case of the names is ignored.
    """
    found: dict[str, Any] = {}
    for name, value in sorted((name.lower(), value) for name, value in variables.items() if value is not None):
        if name == FIELD and isinstance(whole := decoded(value), dict):
            found.update(cast("dict[str, Any]", whole))
        elif name.startswith(_NESTED):
            *parents, key = name.removeprefix(_NESTED).split("__")
            group = found
            for parent in parents:
                if not isinstance(group.get(parent), dict):
                    group[parent] = {}
                group = cast("dict[str, Any]", group[parent])
            group[key] = decoded(value)
    return found


def merged_settings(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return both nested settings merged; for a key in both, the value of ``over`` is used."""
    merged = dict(under)
    for key, value in over.items():
        below: object = merged.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            merged[key] = merged_settings(cast("Mapping[str, Any]", below), cast("Mapping[str, Any]", value))
        else:
            merged[key] = value
    return merged


def decoded(value: str) -> object:
    """Decode a value as NoneBot decodes a line of .env: as JSON if possible, else as text."""
    try:
        return json.loads(value.strip())
    except (ValueError, RecursionError):
        return value
