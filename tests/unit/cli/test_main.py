"""Tests of the command line and of its errors."""

from __future__ import annotations

import pytest

from cognitive_memory_core.cli import main
from cognitive_memory_core.cli.main import SUBCOMMANDS, Subcommand
from cognitive_memory_core.sentences.command_line import ARGUMENTS
from cognitive_memory_core.sentences.command_line import SUBCOMMANDS as SUMMARIES


@pytest.mark.parametrize("words", [["-h"], ["--help"]])
def test_help_lists_the_subcommands_in_chinese(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Help is written to standard output with status 0 and describes every subcommand in Chinese."""
    assert main(words) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert all(command.name in shown.out and SUMMARIES[command.name] in shown.out for command in SUBCOMMANDS)
    assert "用法" in shown.out


@pytest.mark.parametrize("words", [[], ["nope"], ["--nope"]])
def test_no_subcommand_is_misuse(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Without a known subcommand the status is 2, and the overview is written to standard error."""
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "子命令" in shown.err


@pytest.mark.parametrize("command", SUBCOMMANDS, ids=lambda command: command.name)
def test_each_subcommand_explains_itself(command: Subcommand, capsys: pytest.CaptureFixture[str]) -> None:
    """The help of a subcommand, with status 0, says what it does and what each of its arguments means."""
    with pytest.raises(SystemExit) as left:
        main([command.name, "--help"])
    assert left.value.code == 0
    shown = "".join(capsys.readouterr().out.split())  # lines are broken by the width of the terminal
    meanings = [said for of, said in ARGUMENTS.items() if of.startswith(f"{command.name} ")]
    assert all("".join(said.split()) in shown for said in (SUMMARIES[command.name], *meanings))
