"""README: a data directory has one owner."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognitive_memory_core import DirectoryInUse, HistorianSettings, Settings
from tests.support.telling import READING, a_memory, recalled, tell


async def test_the_second_is_refused_and_told_what_to_write(tmp_path: Path) -> None:
    """Opening a directory that is in use raises DirectoryInUse with the .env line to add; the owner works on."""
    impatient = Settings(historian=HistorianSettings(shutdown_seconds=0))
    async with a_memory(tmp_path) as memory:
        with pytest.raises(DirectoryInUse, match="LOCALSTORE_USE_CWD=true") as refused:
            async with a_memory(tmp_path, impatient):
                pass
        assert str(tmp_path) in str(refused.value)
        await tell(memory, READING, "阿禾(2156083317) 喜欢乌龙茶")
        assert "乌龙茶" in await recalled(memory, READING, "乌龙茶")
