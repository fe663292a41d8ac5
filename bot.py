"""A bot with a memory: ``pip install -e '.[demo]'``, copy .env.example to .env, ``python bot.py``."""

from __future__ import annotations

import nonebot
from nonebot.adapters.onebot.v11 import Adapter as OneBotV11
from nonebot.adapters.onebot.v12 import Adapter as OneBotV12

nonebot.init()
driver = nonebot.get_driver()
driver.register_adapter(OneBotV11)
driver.register_adapter(OneBotV12)
nonebot.load_plugin("nonebot_plugin_cognitive_memory")

if __name__ == "__main__":
    nonebot.run()
