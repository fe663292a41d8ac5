"""Tests of code style: few long functions, specific names, few blanket excepts, reasons for exceptions."""

from __future__ import annotations

import ast
import re

from .sources import CORE, code, functions, lines, nodes

EMPTY_WORDS = re.compile(
    r"(Manager|Service|Handler|Helper|Utils?|Data|Info|Base)$|^_?safe_|_v\d+$|(^|_)(utils?|helpers?)$"
)


MUTED = re.compile(r"#\s*(noqa|type:\s*ignore|pyright:\s*ignore)(?P<rest>[^#]*)(?P<reason>#.*)?$")


def test_names_say_something() -> None:
    """No module, class or function has a name that could mean anything."""
    assert not [(file, name) for file in code() for name in _names(file) if EMPTY_WORDS.search(name)]


def test_a_muted_check_gives_its_reason() -> None:
    """A comment that disables a checker names the rule and gives the reason on the same line."""
    assert not [
        (file, line.strip())
        for file in code()
        for line in lines(file)
        if (muted := MUTED.search(line)) and not (muted["reason"] and muted["rest"].strip(": "))
    ]


def test_a_durable_write_has_one_place() -> None:
    """Only the module of durable file operations calls fsync."""
    assert {file for file, tree in code().items() if _calls(tree, "fsync")} == {f"{CORE}/disk.py"}


def _calls(tree: ast.Module, name: str) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in nodes(tree))


def _names(file: str) -> list[str]:
    classes = [node.name for node in nodes(code()[file]) if isinstance(node, ast.ClassDef)]
    return [*classes, *(function.name for function in functions(code()[file])), *file.removesuffix(".py").split("/")]
