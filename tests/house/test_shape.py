"""The shape of the code: short functions, plain names, no blanket excepts, reasons beside exceptions."""

from __future__ import annotations

import ast
import re

import pytest

from .sources import CORE, PLUGIN, ROOT, functions, modules

CODE = modules(CORE, PLUGIN)
LONGEST = 40
EMPTY_WORDS = re.compile(
    r"(Manager|Service|Handler|Helper|Utils?|Data|Info|Base)$|^_?safe_|_v\d+$|(^|_)(utils?|helpers?)$"
)
BLANKET: set[tuple[str, str]] = set()
MUTED = re.compile(r"#\s*(noqa|type:\s*ignore|pyright:\s*ignore)(?P<rest>[^#]*)(?P<reason>#.*)?$")


@pytest.mark.parametrize("file", sorted(CODE))
def test_functions_are_short(file: str) -> None:
    """No function is longer than forty lines."""
    long = {
        function.name: length
        for function in functions(CODE[file])
        if (length := (function.end_lineno or 0) - function.lineno + 1) > LONGEST
    }
    assert not long


@pytest.mark.parametrize("file", sorted(CODE))
def test_names_say_something(file: str) -> None:
    """No module, class or function hides behind a word that fits everything."""
    named = [node.name for node in ast.walk(CODE[file]) if isinstance(node, ast.ClassDef)]
    named += [function.name for function in functions(CODE[file])]
    named += file.removesuffix(".py").split("/")
    assert not [name for name in named if EMPTY_WORDS.search(name)]


def test_blanket_excepts_stand_in_named_places() -> None:
    """Everything is caught only where a loop, a hook or a child process must outlive whatever happens."""
    found = {
        (file, function.name)
        for file, tree in CODE.items()
        for function in functions(tree)
        for node in ast.walk(function)
        if isinstance(node, ast.ExceptHandler) and _catches_everything(node)
    }
    assert found == BLANKET


@pytest.mark.parametrize("file", sorted(CODE))
def test_a_muted_check_gives_its_reason(file: str) -> None:
    """Whoever mutes a checker on a line names the rule and says why on the same line."""
    bare = [
        line.strip()
        for line in (ROOT / file).read_text("utf-8").splitlines()
        if (muted := MUTED.search(line)) and not (muted["reason"] and muted["rest"].strip(": "))
    ]
    assert not bare


def _catches_everything(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(each is None or getattr(each, "id", "") in ("Exception", "BaseException") for each in caught)
