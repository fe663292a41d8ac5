"""README: nothing is written outside the data directory."""

from __future__ import annotations

from pathlib import Path

from tests.support.onebot import COMPANION, GROUP, data_of, open_bot


async def test_a_bots_directory_has_one_new_folder(tmp_path: Path) -> None:
    """Everything written is in the data directory, readable by its owner alone."""
    async with open_bot(tmp_path, {"companion": COMPANION}) as (_, client):
        await client.ask_until("阿禾喜欢喝什么茶", "【相关回忆】", group=GROUP)
    written = _written(tmp_path)
    assert written
    assert all(path.is_relative_to(data_of(tmp_path)) for path in written)
    assert not [path for path in written if path.stat().st_mode & 0o077]


def _written(home: Path) -> list[Path]:
    """Return the files of a bot's directory that the test did not create, without folders."""
    ours = {"bot.py", "bot.log", ".env"}
    files = [path for path in home.rglob("*") if not path.is_dir() and "plugins" not in path.parts]
    return [path for path in files if path.name not in ours]
