"""Ports stay small, and each says what it guarantees."""

from __future__ import annotations

import ast

from .sources import CORE, functions, modules, nodes

PROTOCOLS = {
    f"{file.rpartition('/')[2]}:{node.name}": node
    for file, tree in modules(f"{CORE}/ports").items()
    for node in nodes(tree)
    if isinstance(node, ast.ClassDef) and any(getattr(base, "id", "") == "Protocol" for base in node.bases)
}


def test_there_are_ports() -> None:
    """The scan finds the ports that it is about."""
    assert len(PROTOCOLS) > 5


def test_a_port_is_small() -> None:
    """No port asks more than seven methods of an adapter, and none asks nothing."""
    counts = {name: sum(1 for _ in functions(port)) for name, port in PROTOCOLS.items()}
    assert not {name: count for name, count in counts.items() if not 1 <= count <= 7}


def test_a_port_is_documented() -> None:
    """Each port and each of its methods states its guarantee."""
    assert not [
        (name, node.name)
        for name, port in PROTOCOLS.items()
        for node in (port, *functions(port))
        if not ast.get_docstring(node)
    ]
