"""Tests that README, the CI script and the code agree."""

from __future__ import annotations

import re
import shlex

import pytest

from .sources import ROOT

CI = (ROOT / ".ci" / "run").read_text("utf-8")
COMMANDS = dict(re.findall(r'^(demo_command|test_command)="(.+)"$', CI, re.MULTILINE))
READMES = ["README.md", "README.en.md"]


def shell_lines(text: str) -> list[str]:
    """List the lines of a document's shell blocks, in order."""
    return [line for block in re.findall(r"```(?:bash|sh)\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("name", READMES)
def test_the_first_two_commands_are_what_ci_runs(name: str) -> None:
    """The first two commands in README are exactly those that CI runs on a fresh copy."""
    assert shell_lines((ROOT / name).read_text("utf-8"))[:2] == [COMMANDS["demo_command"], COMMANDS["test_command"]]


def test_the_commands_are_run() -> None:
    """Both commands are executed by .ci/run, each with a time limit."""
    assert 'run "$demo_seconds" "$demo_command"' in CI
    assert 'run "$test_seconds" "$test_command"' in CI


def test_the_test_command_is_this_suite() -> None:
    """README's test command installs the checkers and runs every step of the suite."""
    assert shlex.split(COMMANDS["test_command"])[-3:] == ["python", "-m", "tests"]
    assert "'.[dev]'" in COMMANDS["test_command"]
