"""The command line on a terminal and in a pipe: bars and colours are for people."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.bot_homes import ENV, BotHome

pty = pytest.importorskip("pty")
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
BAR = re.compile("(导出|导入|重建索引) [━╸╺ ]+")


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> BotHome:
    """Return a bot's directory whose memory holds something."""
    made = BotHome(tmp_path, capsys)
    made.write_env(*ENV)
    made.fill()
    return made


def words_of(home: BotHome, command: str, at: str) -> list[str]:
    """Return a command as people write it, each time with files of its own."""
    words = {
        "export": ["export", str(home.path / f"{at}.jsonl")],
        "import": ["import", str(home.path / "memory.jsonl"), "--data", str(home.path / at)],
        "reindex": ["reindex"],
        "doctor": ["doctor", "--offline"],
    }
    return [sys.executable, "-m", "cognitive_memory_core.cli", *words[command]]


def on_a_terminal(home: BotHome, command: list[str]) -> str:
    """Run a command on a terminal; return what it shows there."""
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "400", "PYTHONIOENCODING": "utf-8"}
    running = subprocess.Popen(command, cwd=home.path, env=environ, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the end of a terminal is an error
        while piece := os.read(ours, 65_536):
            shown += piece
    os.close(ours)
    assert running.wait(60) == 0, shown
    return shown.decode("utf-8")


@pytest.mark.parametrize(
    "command", ["import", *(pytest.param(one, marks=pytest.mark.nightly) for one in ("export", "reindex"))]
)
def test_long_work_shows_a_bar_on_a_terminal_only(home: BotHome, command: str) -> None:
    """On a terminal long work shows a progress bar, which is gone at the end; in a pipe there is only the result."""
    home.run("export", str(home.path / "memory.jsonl"))
    shown = on_a_terminal(home, words_of(home, command, "terminal"))
    assert BAR.search(ESCAPE.sub("", shown))
    assert "\x1b[2K" in shown  # the line of the bar is cleared
    piped = subprocess.run(
        words_of(home, command, "pipe"), cwd=home.path, capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert piped.stderr == ""
    assert "━" not in piped.stdout
    assert piped.stdout.strip() == ESCAPE.sub("", shown).strip().splitlines()[-1].replace("terminal", "pipe")


def test_colours_are_for_terminals(home: BotHome) -> None:
    """Findings are coloured on a terminal and plain in a pipe, with the same words."""
    command = words_of(home, "doctor", "")
    shown = on_a_terminal(home, command)
    piped = subprocess.run(command, cwd=home.path, capture_output=True, text=True, encoding="utf-8", check=True).stdout
    assert "\x1b[32m" in shown
    assert "\x1b" not in piped
    assert ESCAPE.sub("", shown).split()[:3] == piped.split()[:3]
