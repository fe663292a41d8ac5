"""Tests that the core's log lines are Chinese sentences of the package's own."""

from __future__ import annotations

import ast

from .sources import CORE, modules, nodes

KEYWORDS = ("HistorianWorker", "historian_")  # public and stable; what follows them is a reason in Chinese
LEVELS = frozenset({"info", "warning", "error"})


def test_log_lines_are_sentences() -> None:
    """A line at INFO or above has no English of its own: its template is bare, or begins with a public keyword."""
    strange = [
        (file, node.args[0].value)
        for file, tree in modules(CORE).items()
        for node in nodes(tree)
        if isinstance(node, ast.Call) and _is_log(node.func) and node.args
        if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)
        if not node.args[0].value.startswith(KEYWORDS) and any(map(str.isalpha, node.args[0].value.replace("%s", "")))
    ]
    assert not strange


def test_lines_about_jobs_have_fields() -> None:
    """Each line that names a job in its text names it in its fields too, for programs that read the log."""
    about_jobs = [
        (file, node)
        for file, tree in modules(CORE).items()
        for node in nodes(tree)
        if isinstance(node, ast.Call) and _is_log(node.func) and node.args
        if isinstance(node.args[0], ast.Constant) and "job=%s" in str(node.args[0].value)
    ]
    assert len(about_jobs) >= 3
    assert not [
        (file, ast.unparse(node)) for file, node in about_jobs if "extra" not in {one.arg for one in node.keywords}
    ]


def _is_log(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute) and function.attr in LEVELS and getattr(function.value, "id", "") == "log"
    )
