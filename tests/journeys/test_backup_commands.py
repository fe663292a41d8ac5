"""Tests that the commands for a backup and a restore, as the pages print them, do what the pages say."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.onebot import ROOT, data_of

FENCE = re.compile(r"```bash\n(.*?)```", re.DOTALL)
PAGES = ("docs/quickstart.md", "docs/en/quickstart.md", "docs/data.md")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the pages print commands of a POSIX shell")


def commands(page: str) -> tuple[str, str]:
    """Return the commands of a page that copy the data directory away, and those that put it back."""
    text = re.sub(r"^ {4}", "", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE)
    found = [block for block in FENCE.findall(text) if "data/nonebot_plugin_cognitive_memory" in block]
    return found[0], "\n".join(found[1:])


@pytest.mark.parametrize("page", PAGES)
def test_a_backup_comes_back_and_never_goes_into_an_older_one(tmp_path: Path, page: str) -> None:
    """The data are put back as they were; a second backup under the same name is refused and changes nothing."""
    home = tmp_path / "my-bot"
    ledger = data_of(home) / "ledger.db"
    ledger.parent.mkdir(parents=True)
    ledger.write_text("then", "utf-8")
    away, back = commands(page)
    assert run(away, home) == 0
    ledger.write_text("now", "utf-8")
    assert run(away, home) != 0
    assert run(back, home) == 0
    assert ledger.read_text("utf-8") == "then"
    assert sorted(path.read_text("utf-8") for path in tmp_path.rglob("ledger.db")) == ["now", "then", "then"]


def run(lines: str, home: Path) -> int:
    """Run lines of a shell in a bot's directory; the home of the user is beside it."""
    done = subprocess.run(["sh", "-ec", lines], cwd=home, env={**os.environ, "HOME": str(home.parent)}, check=False)
    return done.returncode
