"""Tests that ports are small and documented."""

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
    """The scan finds the ports that the other tests check."""
    assert len(PROTOCOLS) > 5


def test_a_port_is_small() -> None:
    """A port has at least one and at most seven methods; one that only joins ports has none of its own."""
    own = {name: port for name, port in PROTOCOLS.items() if len(port.bases) == 1 or any(functions(port))}
    counts = {name: sum(1 for _ in functions(port)) for name, port in own.items()}
    assert not {name: count for name, count in counts.items() if not 1 <= count <= 7}


def test_a_port_is_documented() -> None:
    """Each port and each of its methods has a docstring."""
    assert not [
        (name, node.name)
        for name, port in PROTOCOLS.items()
        for node in (port, *functions(port))
        if not ast.get_docstring(node)
    ]
