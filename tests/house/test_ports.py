"""Ports stay small, and each says what it guarantees."""

from __future__ import annotations

import ast

import pytest

from .sources import CORE, functions, modules

PROTOCOLS = {
    f"{file.rpartition('/')[2]}:{node.name}": node
    for file, tree in modules(f"{CORE}/ports").items()
    for node in ast.walk(tree)
    if isinstance(node, ast.ClassDef) and any(getattr(base, "id", "") == "Protocol" for base in node.bases)
}


def test_there_are_ports() -> None:
    """The scan finds the ports that it is about."""
    assert len(PROTOCOLS) > 5


@pytest.mark.parametrize("name", sorted(PROTOCOLS))
def test_a_port_is_small_and_documented(name: str) -> None:
    """No port asks more than seven methods of an adapter, and each of them states its guarantee."""
    methods = list(functions(PROTOCOLS[name]))
    assert 1 <= len(methods) <= 7
    assert ast.get_docstring(PROTOCOLS[name])
    assert all(ast.get_docstring(method) for method in methods)
