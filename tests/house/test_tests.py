"""Tests of the tests themselves."""

from __future__ import annotations

import ast

from tests.mutants import MUTANTS, core_of

from .sources import ROOT, functions, modules, nodes

PRETENDING = {"monkeypatch", "mocker", "mock", "unittest.mock"}


def test_every_test_names_its_promise() -> None:
    """Each test function has a docstring that is a sentence."""
    assert not [
        (file, function.name)
        for file, tree in modules("tests").items()
        for function in functions(tree)
        if function.name.startswith("test_") and not _is_sentence(ast.get_docstring(function))
    ]


def test_unit_tests_use_real_parts() -> None:
    """No unit test patches or mocks anything."""
    unit = {file: tree for file, tree in modules("tests").items() if file.startswith("tests/unit/")}
    assert not {(file, name) for file, tree in unit.items() for name in _named(tree) & PRETENDING}


def test_no_test_looks_at_a_clock_on_the_wall() -> None:
    """Only the wait limits in tests/support read the clock; tests measure amounts of work or processor time."""
    assert not [
        (file, node.lineno)
        for file, tree in modules("tests").items()
        if not file.startswith(("tests/support/", "tests/__main__"))
        for node in nodes(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"monotonic", "perf_counter"}
    ]


def test_every_mutant_still_applies() -> None:
    """Each fault that the nightly run puts into the code finds its place and its tests."""
    texts = core_of(ROOT)
    assert not {mutant.breaks: lacks for mutant in MUTANTS if (lacks := mutant.lacks(ROOT, texts))}


def _named(tree: ast.Module) -> set[str | None]:
    names = {node.id for node in nodes(tree) if isinstance(node, ast.Name)}
    arguments = {node.arg for node in nodes(tree) if isinstance(node, ast.arg)}
    return names | arguments | {node.module for node in nodes(tree) if isinstance(node, ast.ImportFrom)}


def _is_sentence(text: str | None) -> bool:
    return bool(text) and text.endswith((".", "?")) and len(text.split()) > 3
