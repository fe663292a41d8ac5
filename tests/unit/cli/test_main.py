"""Tests of the command line and of its errors."""

from __future__ import annotations

import pytest

from cognitive_memory_core.cli import main
from cognitive_memory_core.cli.main import SUBCOMMANDS


@pytest.mark.parametrize("words", [["-h"], ["--help"]])
def test_help_lists_the_subcommands_in_chinese(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Help is written to standard output with status 0 and describes every subcommand in Chinese."""
    assert main(words) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert all(command.name in shown.out and command.summary in shown.out for command in SUBCOMMANDS)
    assert "用法" in shown.out


@pytest.mark.parametrize("words", [[], ["nope"], ["--nope"]])
def test_no_subcommand_is_misuse(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Without a known subcommand the status is 2, and the overview is written to standard error."""
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "子命令" in shown.err
