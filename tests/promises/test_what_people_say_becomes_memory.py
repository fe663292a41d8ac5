"""README: what people say to the bot becomes memory with no other plugin's help."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.onebot import AHE, GROUP, MILI, running_bot

SOON = ["COGNITIVE_MEMORY__CAPTURE__CONSIDER_IDLE_MINUTES=0.02"]


@pytest.mark.timeout(90)
async def test_the_list_shows_it_after_a_silence(tmp_path: Path) -> None:
    """With the plugin alone, what was said to the bot in a group stands in the list there once it has been quiet."""
    async with running_bot(tmp_path, {"only": _ONLY}, SOON) as (_, client):
        await client.say("我对花生过敏，聚餐别点带花生的菜", group=GROUP, user=MILI, name="米粒")
        shown = ""
        for someone in range(AHE, AHE + 60):  # one person may not ask so often
            if "花生" in (shown := await client.ask("/记忆 列表", group=GROUP, user=someone)):
                break
            await asyncio.sleep(0.3)
        assert f"米粒({MILI})" in shown


_ONLY = 'from nonebot import require\n\nrequire("nonebot_plugin_cognitive_memory")\n'
