"""README: nothing is written outside the data directory."""

from __future__ import annotations

from pathlib import Path

from tests.support.onebot import GROUP, data_of, open_bot

COMPANION = """
from nonebot import on_message, require

require("nonebot_plugin_cognitive_memory")
from nonebot_plugin_cognitive_memory import MemoryContext, RecordEnd

chat = on_message(priority=50)


@chat.handle()
async def turn(context: MemoryContext, record_end: RecordEnd):
    await chat.finish(f"{await record_end('备忘', ['阿禾(2156083317) 喜欢乌龙茶'])} {context.text}")
"""


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
