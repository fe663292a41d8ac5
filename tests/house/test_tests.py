"""The tests themselves."""

from __future__ import annotations

import ast

import pytest

from .sources import functions, modules

TESTS = modules("tests")


@pytest.mark.parametrize("file", sorted(TESTS))
def test_every_test_names_its_promise(file: str) -> None:
    """Each test function carries a docstring that is a sentence."""
    nameless = [
        function.name
        for function in functions(TESTS[file])
        if function.name.startswith("test_") and not _is_sentence(ast.get_docstring(function))
    ]
    assert not nameless


@pytest.mark.parametrize("file", sorted(file for file in TESTS if file.startswith("tests/unit/")))
def test_unit_tests_use_real_parts(file: str) -> None:
    """No unit test patches or mocks anything."""
    names = {node.id for node in ast.walk(TESTS[file]) if isinstance(node, ast.Name)}
    arguments = {node.arg for node in ast.walk(TESTS[file]) if isinstance(node, ast.arg)}
    imported = {node.module for node in ast.walk(TESTS[file]) if isinstance(node, ast.ImportFrom)}
    assert not {"monkeypatch", "mocker", "mock", "unittest.mock"} & (names | arguments | imported)


def _is_sentence(text: str | None) -> bool:
    return bool(text) and text.endswith((".", "?")) and len(text.split()) > 3
