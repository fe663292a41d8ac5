"""Name, description and usage of this plugin, for lists of plugins."""

from __future__ import annotations

PLUGIN_NAME = "认知记忆"
PLUGIN_DESCRIPTION = "长期记忆：群聊与私聊里说过的事，机器人下一轮就想得起来；不用密钥，不用联网"
PLUGIN_USAGE = """\
装上就开始记：群里和私聊里说的话，有用的会自动整理成记忆。发送 /记忆 帮助 看命令。
聊天插件：require("nonebot_plugin_cognitive_memory") 之后注入 MemoryContext（放进提示词的记忆）、
RecordEnd（一轮结束时记下备忘和观察）、MemoryTools（给模型的工具）；TOOL_GUIDE 是给系统提示词的说明。
设置写在 .env，前缀 COGNITIVE_MEMORY__，都有默认值。"""
