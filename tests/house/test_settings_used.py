"""Tests that every setting is used, or is listed as unused."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pydantic import BaseModel

from cognitive_memory_core.settings.schema import Settings

from .sources import CORE, code, functions, nodes

SETTINGS = f"{CORE}/settings/schema.py"
COMMON = {"enabled", "agent", "groups", "max", "token", "console", "url", "timezone", "sharing", "cron", "backend"}


def keys(group: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """List every setting as a dotted key."""
    for name, field in group.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from keys(field.annotation, f"{prefix}{name}.")
        else:
            yield prefix + name


def reads() -> set[str]:
    """Collect the names that code outside settings.py reads, also as ``group.name`` where written together."""
    found: set[str] = set()
    for file, tree in code().items():
        if file != SETTINGS:
            found |= set(_chains(tree))
    while added := {name for method in _properties() if method.name in found for name in _own(method)} - found:
        found |= added  # what a settings property reads counts where the property is read
    return found


def _chains(tree: ast.AST) -> Iterator[str]:
    for node in nodes(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            yield node.attr
            if isinstance(node.value, ast.Attribute | ast.Name):
                owner = node.value.attr if isinstance(node.value, ast.Attribute) else node.value.id
                yield f"{owner}.{node.attr}"


def _own(method: ast.FunctionDef) -> Iterator[str]:
    return (name.replace("self.", "settings.") for name in _chains(method))


def _properties() -> list[ast.FunctionDef]:
    return [each for each in functions(code()[SETTINGS]) if isinstance(each, ast.FunctionDef) and each.args.args]


def is_read(key: str, found: set[str]) -> bool:
    """Return whether a key is read: a specific name anywhere, a common name only together with its group."""
    group, _, name = key.rpartition(".")
    owners = (group.rpartition(".")[2], "settings", "current")
    return (name in found and name not in COMMON) or any(f"{owner}.{name}" in found for owner in owners if owner)


def test_every_key_steers_something() -> None:
    """Each setting is read by code."""
    found = reads()
    assert not [key for key in keys(Settings) if not is_read(key, found)]
