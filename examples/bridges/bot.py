"""A bot with a chat plugin that gets the memory by a bridge: ``python bot.py`` beside one of the ``.env`` files."""

from __future__ import annotations

import nonebot
from nonebot.adapters.onebot.v11 import Adapter

CHAT_PLUGIN = "nonebot_plugin_llmchat"

nonebot.init()
nonebot.get_driver().register_adapter(Adapter)
nonebot.load_plugin(CHAT_PLUGIN)
nonebot.load_plugin("nonebot_plugin_cognitive_memory")

if __name__ == "__main__":
    nonebot.run()
