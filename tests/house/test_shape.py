"""Tests of code style: few long functions, specific names, few blanket excepts, reasons for exceptions."""

from __future__ import annotations

import ast
import re
from collections import Counter

from .sources import CORE, PLUGIN, code, functions, lines, nodes

LONG = 50
EMPTY_WORDS = re.compile(
    r"(Manager|Service|Handler|Helper|Utils?|Data|Info|Base)$|^_?safe_|_v\d+$|(^|_)(utils?|helpers?)$"
)
BLANKET = {  # where every exception is caught: how often, and why
    f"{CORE}/historian/jobs/worker.py": (1, "the loop runner: one bad job must not end the historian"),
    f"{CORE}/vectors/chroma/child.py": (2, "the process's main, and what comes up with it: its answer is a refusal"),
    f"{CORE}/vectors/chroma/generations.py": (1, "whatever is wrong with a generation, another comes"),
    f"{CORE}/vectors/chroma/process.py": (1, "a thread's main: what fails is raised where it is waited for"),
    f"{CORE}/store/database/request_batches.py": (
        2,
        "the thread's main: what fails is raised where it is awaited",
    ),
    f"{PLUGIN}/lifecycle.py": (1, "the start-up hook: raising would end the bot"),
    f"{PLUGIN}/capture_incoming.py": (1, "the capture hook: what goes wrong must not cost the bot an event"),
    f"{PLUGIN}/capture_outgoing.py": (1, "the capture hook: what goes wrong must not cost a reply"),
    f"{PLUGIN}/bridges/attaching.py": (1, "the start-up hook: raising would end the bot"),
    f"{PLUGIN}/bridges/bridged_turn.py": (1, "a companion's answer must never depend on the memory"),
}
MUTED = re.compile(r"#\s*(noqa|type:\s*ignore|pyright:\s*ignore)(?P<rest>[^#]*)(?P<reason>#.*)?$")


def test_long_functions_are_rare() -> None:
    """At most four functions in a hundred are longer than fifty lines, as in code bases that are easy to read."""
    lengths = [
        (function.end_lineno or 0) - function.lineno + 1 for tree in code().values() for function in functions(tree)
    ]
    assert sum(length > LONG for length in lengths) <= len(lengths) // 25


def test_names_say_something() -> None:
    """No module, class or function has a name that could mean anything."""
    assert not [(file, name) for file in code() for name in _names(file) if EMPTY_WORDS.search(name)]


def test_blanket_excepts_stand_in_named_places() -> None:
    """Every exception is caught only in a loop, a hook or a child process that must survive it."""
    found = Counter(file for file, tree in code().items() for node in nodes(tree) if _swallows_everything(node))
    assert found == {file: count for file, (count, _) in BLANKET.items()}


def test_a_muted_check_gives_its_reason() -> None:
    """A comment that disables a checker names the rule and gives the reason on the same line."""
    assert not [
        (file, line.strip())
        for file in code()
        for line in lines(file)
        if (muted := MUTED.search(line)) and not (muted["reason"] and muted["rest"].strip(": "))
    ]


def test_a_durable_write_has_one_place() -> None:
    """Only the module of durable file operations, and the demo's bare write for comparison, call fsync."""
    assert {file for file, tree in code().items() if _calls(tree, "fsync")} == {
        f"{CORE}/disk.py",
        f"{PLUGIN}/demo/bare.py",
    }


def test_a_late_failure_is_retrieved_in_one_place() -> None:
    """Exceptions of abandoned tasks are retrieved by one function only, so that asyncio does not log them."""
    assert [file for file, tree in code().items() if any(map(_drops_an_exception, nodes(tree)))] == [f"{CORE}/tasks.py"]


def _calls(tree: ast.Module, name: str) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in nodes(tree))


def _drops_an_exception(node: ast.AST) -> bool:
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    return is_call and getattr(node.value.func, "attr", "") == "exception" and not node.value.args


def _names(file: str) -> list[str]:
    classes = [node.name for node in nodes(code()[file]) if isinstance(node, ast.ClassDef)]
    return [*classes, *(function.name for function in functions(code()[file])), *file.removesuffix(".py").split("/")]


def _swallows_everything(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "suppress":
        return any(_is_everything(argument) for argument in node.args)
    if not isinstance(node, ast.ExceptHandler):
        return False
    caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    raises_again = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
    return any(_is_everything(each) for each in caught) and not raises_again


def _is_everything(caught: ast.expr | None) -> bool:
    return caught is None or getattr(caught, "id", "") in {"Exception", "BaseException"}
