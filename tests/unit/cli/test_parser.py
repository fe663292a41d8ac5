"""Tests of the argument parser with Chinese messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognitive_memory_core.cli.parser import Parser, existing_file, fresh_directory, option


def a_parser() -> Parser:
    """Return a parser with one option of each kind of path."""
    options = (
        option("--transcript", type=existing_file, metavar="FILE"),
        option("--keep", type=fresh_directory, metavar="DIR"),
    )
    return Parser("demo", options)


def complaint(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Parse wrong arguments and return the error message."""
    with pytest.raises(SystemExit) as left:
        a_parser().parse_args(words)
    assert left.value.code == 2
    return capsys.readouterr().err


def test_options_are_never_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    """An abbreviated option is not accepted."""
    assert "不认识的参数" in complaint(capsys, "--trans", "x")


def test_a_file_must_be_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A path to a missing file gives an error message with the path; an existing file is accepted."""
    assert "没有这个文件" in complaint(capsys, "--transcript", str(tmp_path / "absent.json"))
    (tmp_path / "there.json").touch()
    there = str(tmp_path / "there.json")
    assert a_parser().parse_args(["--transcript", there]).transcript == Path(there)
