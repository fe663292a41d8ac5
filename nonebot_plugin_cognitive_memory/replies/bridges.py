"""Sentences of the bridges to other chat plugins: log lines, and the memo of a turn."""

from __future__ import annotations

NO_VERSION = "没有版本号"
ANY_PLUGIN = "openai:插件名"
OPENAI_WITHOUT_PLUGIN = f"要写明给哪个插件，例如 {ANY_PLUGIN}"
FAILED = "这一轮没用上记忆，聊天插件照常回答（{reason}）"
TOOL_FAILED = '{"ok": false, "error": "记忆暂时用不了"}'
NOT_LENT = "读不出 {name} 的模型设置（{reason}），这会儿不借它的模型"

ATTACHED = "已给 {name} {version} 接上记忆"
REFUSED = "没有给 {name} 接上记忆：{reason}。它照常聊天，只是没有记忆"
UNKNOWN = "不认识这个名字，能写的有 {names}"
NOT_LOADED = "机器人没有加载插件 {module}"
UNTRIED = "装的 {distribution} 是 {found}，这里只试过 {tried}"
MISSING_PART = "它内部变了样，找不到 {part}"
MEMO = "回答了 {name}({user_id})：{answer}"
