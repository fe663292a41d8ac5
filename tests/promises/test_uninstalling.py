"""docs/upgrading.md: what uninstalling leaves behind is listed, and is all there is."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

from tests.support.onebot import COMPANION, GROUP, data_of, open_bot

PAGE = Path(__file__).absolute().parents[2] / "docs" / "upgrading.md"
TOLD = ["COGNITIVE_MEMORY__CAPTURE__ANNOUNCE=reply"]


def listed() -> list[str]:
    """Return the names of the table of the page, as patterns."""
    table = PAGE.read_text("utf-8").partition("## 卸载")[2]
    cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    return [name.rstrip("/") for cell in cells for name in re.findall("`([^`]+)`", cell)]


async def test_what_is_left_is_listed(tmp_path: Path) -> None:
    """Every file that a bot leaves in its data directory stands in the table of the page on uninstalling."""
    async with open_bot(tmp_path, {"companion": COMPANION}, TOLD) as (_, client):
        await client.ask_until("阿禾喜欢喝什么茶", "【相关回忆】", group=GROUP)
    left = {path.name for path in data_of(tmp_path).iterdir()}
    assert {"ledger.db", "queues", "end_summaries.json"} <= left
    assert not [name for name in left if not any(fnmatchcase(name, pattern) for pattern in listed())]


def test_every_file_of_the_code_is_listed() -> None:
    """The names of files in the data directory that the code has stand in the table."""
    from cognitive_memory_core.settings.configuration import OVERRIDES_FILE
    from cognitive_memory_core.transfer.backup import SMALL, WAITING

    known = (*SMALL, *WAITING, OVERRIDES_FILE, "owner.lock", "chromadb", "queues")
    assert not [name for name in known if not any(fnmatchcase(name, pattern) for pattern in listed())]
