"""README: what people say to the bot becomes memory without any other plugin."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.onebot import GROUP, MILI, ONLY, Version, open_bot, version_of

SOON = ["COGNITIVE_MEMORY__CAPTURE__CONSIDER_IDLE_MINUTES=0.02"]


@pytest.mark.parametrize("version", version_of("v11"))
async def test_the_list_shows_it_after_a_silence(tmp_path: Path, version: Version) -> None:
    """With the plugin alone, a line said to the bot in a group is listed there after a silence."""
    async with open_bot(tmp_path, {"only": ONLY}, SOON, version) as (_, client):
        await client.say("我对花生过敏，聚餐别点带花生的菜", group=GROUP, user=MILI, name="米粒")
        await client.until_listed("花生", GROUP)
