"""Tests of what README says about settings, in a real bot."""

from __future__ import annotations

from pathlib import Path

from tests.support.onebot import GROUP, OPENED, prepare, start

REPORT = """
from nonebot import on_message, require

require("nonebot_plugin_cognitive_memory")
from nonebot_plugin_cognitive_memory import MemoryContext, RecordEnd

chat = on_message(priority=50)


@chat.handle()
async def turn(context: MemoryContext, record_end: RecordEnd):
    await record_end("一条很长的备忘" * 40, [])
    await chat.finish(f"{context.tokens}")
"""
ENV = ("COGNITIVE_MEMORY__HTTP__TOKEN=some-token", "COGNITIVE_MEMORY__QUERY__AUTOTOPK=4")


async def test_warnings_and_the_process_environment(tmp_path: Path) -> None:
    """Unused and unknown settings are named in warnings; a key that only the environment sets is in force."""
    prepare(tmp_path, {"report": REPORT}, ENV)
    bot = start(tmp_path, {"COGNITIVE_MEMORY__QUERY__CONTEXT_TOKEN_BUDGET": "90"})
    try:
        async with bot.client() as client:
            await bot.opened()
            tokens = [int(await client.ask("在吗", group=GROUP)) for _ in range(5)]
    finally:
        bot.stop()
    warnings = [line for line in bot.log().splitlines() if "WARNING" in line]
    assert [line for line in warnings if "cognitive_memory__http" in line.lower()]
    assert [line for line in warnings if "autotopk" in line.lower()]
    assert max(tokens) <= 90
    assert bot.log().count(OPENED) == 1
