"""Sentences of the bridges to other chat plugins: log lines, and the memo of a turn."""

from __future__ import annotations

from collections.abc import Iterable

import cognitive_memory_core as core

NO_VERSION = "没有版本号"
ANY_PLUGIN = "openai:插件名"
OPENAI_WITHOUT_PLUGIN = f"要写明给哪个插件，例如 {ANY_PLUGIN}"
FAILED = "这一轮没用上记忆，聊天插件照常回答（{reason}）"
TOOL_FAILED = '{"ok": false, "error": "记忆暂时用不了"}'


def attached(name: str, version: str) -> str:
    """Return the log line that a bridge is attached."""
    return f"已给 {name} {version} 接上记忆"


def refused(name: str, reason: object) -> str:
    """Return the log line that a bridge was refused, with the reason."""
    return f"没有给 {name} 接上记忆：{reason}。它照常聊天，只是没有记忆"


def unknown(known: Iterable[str]) -> str:
    """Return the reason for a name that is no bridge."""
    return f"不认识这个名字，能写的有 {'、'.join(known)}"


def not_loaded(module: str) -> str:
    """Return why a bridge was refused: its chat plugin is not loaded."""
    return f"机器人没有加载插件 {module}"


def untried_version(distribution: str, found: str, specifier: str) -> str:
    """Return the reason for a version with which the bridge was not tried."""
    return f"装的 {distribution} 是 {found}，这里只试过 {specifier.removeprefix('==')}"


def missing_part(part: str) -> str:
    """Return why a bridge was refused: the chat plugin lacks ``part``, which the bridge needs."""
    return f"它内部变了样，找不到 {part}"


def memo(scene: core.Scene, answer: str) -> str:
    """Return the memo of a turn that the model did not end itself."""
    return f"回答了 {scene.user_name or 'QQ'}({scene.user_id})：{answer}"
