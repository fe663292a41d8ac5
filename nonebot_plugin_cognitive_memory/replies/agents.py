"""Answers to agents, and log lines about them."""

from __future__ import annotations

MOUNTED = "智能体可以在 /memory/mcp 用这份记忆（MCP）；有自己令牌的智能体：{count} 个"
SDK_IS_MISSING = (
    "设了 COGNITIVE_MEMORY__HTTP__AGENTS，但还缺 MCP 的官方开发包："
    "请先运行 pip install 'nonebot-plugin-cognitive-memory[mcp]'"
)
NO_PERSON = "用操作令牌时要写明替谁说话：请求头 X-Memory-User，在群里再加 X-Memory-Group"
