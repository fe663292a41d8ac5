"""The directories of bots in which the command line is tested."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.bot_homes import ENV, BotHome


@pytest.fixture
def empty_home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> BotHome:
    """Return the directory of a bot that never started."""
    made = BotHome(tmp_path / "bot", capsys)
    made.path.mkdir()
    made.write_env(*ENV)
    return made


@pytest.fixture
def home(empty_home: BotHome) -> BotHome:
    """Return a bot's directory whose memory holds an event, a memo and a pin."""
    empty_home.fill()
    return empty_home
