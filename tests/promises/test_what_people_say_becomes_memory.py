"""README: what people say to the bot becomes memory without any other plugin."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from tests.support.onebot import AHE, GROUP, MILI, Version, open_bot, version_of
from tests.support.waiting import until

SOON = ["COGNITIVE_MEMORY__CAPTURE__CONSIDER_IDLE_MINUTES=0.02"]


@pytest.mark.parametrize("version", version_of("v11"))
async def test_the_list_shows_it_after_a_silence(tmp_path: Path, version: Version) -> None:
    """With the plugin alone, a line said to the bot in a group is listed there after a silence."""
    async with open_bot(tmp_path, {"only": _ONLY}, SOON, version) as (_, client):
        await client.say("我对花生过敏，聚餐别点带花生的菜", group=GROUP, user=MILI, name="米粒")
        people = count(AHE)  # different people, because of the limit per person

        async def is_listed() -> bool:
            return "花生" in await client.ask("/记忆 列表", group=GROUP, user=next(people))

        await until(is_listed, pause=0.5)  # as often as people ask


_ONLY = 'from nonebot import require\n\nrequire("nonebot_plugin_cognitive_memory")\n'
