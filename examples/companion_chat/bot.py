"""The bot that runs the companion: ``python bot.py`` in this directory, then connect a OneBot v11 client."""

from __future__ import annotations

import nonebot
from nonebot.adapters.onebot.v11 import Adapter

nonebot.init()
nonebot.get_driver().register_adapter(Adapter)
nonebot.load_plugin("nonebot_plugin_cognitive_memory")
nonebot.load_plugins("plugins")

if __name__ == "__main__":
    nonebot.run()
