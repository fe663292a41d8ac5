"""Long-term memory for NoneBot2: see README. Importing this starts nothing and needs no setting."""

# ruff: noqa: E402  # what this plugin requires is loaded before what imports it

from __future__ import annotations

from nonebot import require
from nonebot.plugin import PluginMetadata

require("nonebot_plugin_localstore")
require("nonebot_plugin_alconna")

from .annotated import (
    Consider,
    CurrentScene,
    GetProfile,
    Memory,
    MemoryContext,
    MemoryTools,
    RecordEnd,
    SearchEvents,
    SearchProfiles,
)
from .config import Config
from .lifecycle import get_memory
from .recording import consider, record_end
from .scene import scene_of
from .schemas import TOOL_GUIDE
from .tools import MemoryToolbox, call_tool, tool_schemas

__plugin_meta__ = PluginMetadata(
    name="认知记忆",
    description="长期记忆：群聊与私聊里说过的事，机器人下一轮就想得起来；不用密钥，不用联网",
    usage="""\
装上就开始记：别人对机器人说的话会自动整理成记忆。发送 /记忆 帮助 看命令。
聊天插件：require("nonebot_plugin_cognitive_memory") 之后注入 MemoryContext（放进提示词的记忆）、
RecordEnd（一轮结束时记下备忘和观察）、MemoryTools（给模型的工具）；TOOL_GUIDE 是给系统提示词的说明。
设置写在 .env，前缀 COGNITIVE_MEMORY__，都有默认值。""",
    type="application",
    homepage="https://github.com/nonebot-plugin-cognitive-memory/nonebot-plugin-cognitive-memory",
    config=Config,
    supported_adapters={"~onebot.v11", "~onebot.v12"},
)

from . import capture as capture  # side effects, last
from . import commands as commands

__all__ = [
    "TOOL_GUIDE",
    "Config",
    "Consider",
    "CurrentScene",
    "GetProfile",
    "Memory",
    "MemoryContext",
    "MemoryToolbox",
    "MemoryTools",
    "RecordEnd",
    "SearchEvents",
    "SearchProfiles",
    "call_tool",
    "consider",
    "get_memory",
    "record_end",
    "scene_of",
    "tool_schemas",
]
