"""Tests that the bot runs and answers, whatever is wrong with its memory."""

from __future__ import annotations

from pathlib import Path

from cognitive_memory_core import CognitiveMemory, Settings
from tests.support.disks import fill, set_read_only, small_disk
from tests.support.onebot import GROUP, BotProcess, data_of, open_bot, running_bot
from tests.support.waiting import until

PROBE = """
from nonebot import on_message, require
from nonebot.adapters import Event

require("nonebot_plugin_cognitive_memory")
import cognitive_memory_core as core
from nonebot_plugin_cognitive_memory import CurrentScene, MemoryContext, RecordEnd, get_memory

probe = on_message(priority=50)


@probe.handle()
async def turn(event: Event, scene: CurrentScene, context: MemoryContext, record_end: RecordEnd):
    text = event.get_plaintext()
    try:
        outcome = await get_memory().remember(core.Turn(scene, memo=text, observations=(text,)))
    except core.CognitiveMemoryError as refused:
        outcome = f"{type(refused).__name__}：{refused}"
    ended = await record_end("", ["end " + text])
    await probe.finish(f"活着 remember={outcome} end={ended} degraded={context.degraded} text={context.text}")
"""
ABSENT = "活着 remember=None end=None degraded=('disabled',) text="
IMPATIENT = "COGNITIVE_MEMORY__HISTORIAN__SHUTDOWN_SECONDS=0"


async def test_locked_out(tmp_path: Path) -> None:
    """If another process holds the directory, the bot answers without a memory, and its log says how to fix it."""
    async with CognitiveMemory.open(Settings(), data_of(tmp_path), background=False):
        before = _files(data_of(tmp_path))
        async with running_bot(tmp_path, {"probe": PROBE}, [IMPATIENT]) as (bot, client):
            assert await client.ask("在吗", group=GROUP) == ABSENT
            await _logged(bot, "LOCALSTORE_USE_CWD=true")
            assert await client.ask("还在吗", group=GROUP) == ABSENT
        assert _files(data_of(tmp_path)) == before


async def test_started_on_a_read_only_disk(tmp_path: Path) -> None:
    """On a disk that is read-only from the start, the bot answers without a memory and its log names the directory."""
    with small_disk(tmp_path / "data", 4) as disk:
        data_of(tmp_path).mkdir()
        set_read_only(disk, is_read_only=True)
        async with running_bot(tmp_path, {"probe": PROBE}) as (bot, client):
            assert await client.ask("在吗", group=GROUP) == ABSENT
            await _logged(bot, str(data_of(tmp_path)))


async def test_disk_full(tmp_path: Path) -> None:
    """On a full disk remember raises StorageRefused and leaves no partial file; it works again once there is space."""
    with small_disk(tmp_path / "data", 16) as disk:
        async with open_bot(tmp_path, {"probe": PROBE}) as (bot, client):
            await client.ask("第一句说苹果", group=GROUP)
            assert "【相关回忆】" in await client.ask_until("苹果", "【相关回忆】", group=GROUP)
            await until(lambda: not _jobs(bot))  # a completed job frees its disk space
            answer = ""
            for _ in range(5):  # a finished background task frees a block, enough for a job
                junk, before = fill(disk), _jobs(bot)
                answer = await client.ask("第二句说香蕉", group=GROUP)
                if "remember=StorageRefused" in answer:
                    break
            assert "remember=StorageRefused" in answer
            assert _jobs(bot) <= before
            junk.unlink()
            answer = await client.ask("第三句说橘子", group=GROUP)
            assert "StorageRefused" not in answer.partition(" text=")[0]  # the context may quote the answer before
            assert "第三句说橘子" in await client.ask_until("橘子", "第三句说橘子", group=GROUP)


async def _logged(bot: BotProcess, wanted: str) -> None:
    await until(lambda: wanted in bot.log())


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _jobs(bot: BotProcess) -> set[str]:
    """Return the names of the queued jobs, whatever their state, and of other files in the folder."""
    return {name.rpartition("-")[2].partition(".")[0] for name in _files(bot.data / "queues")}
