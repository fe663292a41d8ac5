"""Answers to ``/memory config``, and log lines about changed settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cognitive_memory_core as core

SHOWN = 8  # changed settings that one line lists
ACTIONS: Mapping[str, str] = {
    **dict.fromkeys(("get", "看", "查看"), "get"),
    **dict.fromkeys(("set", "设", "设置", "改"), "set"),
    **dict.fromkeys(("reset", "恢复", "重置"), "reset"),
    **dict.fromkeys(("reload", "重读", "重载"), "reload"),
}
SEARCHED: Mapping[str, str] = {  # what people look for when they mean a setting that says it otherwise
    "daily_calls": "预算 费用 花钱 上限 限额",
    "query.context_token_budget": "预算 上下文长度",
    "capture.ignore_groups": "不记的群 黑名单 屏蔽",
    "capture.groups": "不记的群 白名单",
    "capture.ignore_users": "不记的人 黑名单 屏蔽",
    "capture.announce": "告知 太吵 提示",
    "capture.daily_report": "日报 早上 每天 通知 推送",
    "capture.log_days": "保留 多久 过期",
    "capture.auto_consider": "自动记 开关",
    "models.historian.api_key": "401 key",
    "models.embedding.api_key": "401 key",
    "http.token": "密码 登录",
}
USAGE = (
    "/记忆 配置 [get 键 | set 键 值 | reset [键] | reload]，例如 /记忆 配置 set query.auto_top_k 5；"
    "get 也可以写「看」，set「设」，reset「恢复」，reload「重读」"
)
KEY_WANTED = "要改哪一个？例如 /记忆 配置 set query.auto_top_k 5"
NOTHING_CHANGED = (
    "还没在聊天里改过设置，都按 .env。能改的（马上生效）：query 想起什么、historian 怎么整理、capture 记哪些、"
    "evolution 群记忆、profile.merge_ 多久写侧写；看一组和现在的值：/记忆 配置 get query"
)
NO_CONFIGURATION = "设置没有读成，现在改不了：请看启动时的日志，改正 .env 后重启"
ENV_UNREADABLE = ".env 读不了（{reason}），设置先照旧"
ENV_CUT = ".env 没有了，或只剩一部分（我们的设置一行也没有，或断在一行中间），设置先照旧；请写完整，或重启"
SAME_VALUE = "{key} 本来就是 {value}"
RELOADED = "重新读过 .env 和 overrides.json，设置没有变"


def changed_settings(overridden: Mapping[str, str], problems: Sequence[str]) -> str:
    """List the settings changed at run time, and what in overrides.json has no effect."""
    lines = [f"{key} = {value or '（空）'}" for key, value in overridden.items()]
    heading = ["运行时改过（overrides.json，比 .env 优先；用回 .env：/记忆 配置 reset 键）："] if lines else []
    return "\n".join([*heading, *lines, *problems]) or NOTHING_CHANGED


def setting(state: core.SettingState) -> str:
    """Show one setting: its value, where it comes from, and when a change takes effect."""
    shown = f"{state.key} = {state.value or '（空）'}"
    origin = f"运行时改的，.env 里是 {state.env_value or '（空）'}" if state.is_overridden else ""
    default = "" if state.value == state.default else f"默认 {state.default or '（空）'}"
    when = "改了立即生效" if state.is_hot else "写在 .env 里，重启后生效"
    return f"{shown}（{'；'.join(part for part in (origin, default, when) if part)}）"


def group_of_settings(states: Sequence[core.SettingState]) -> str:
    """Show the settings of one group, a line each."""
    return "\n".join(
        f"{state.key} = {state.value or '（空）'}{'（运行时改的）' if state.is_overridden else ''}" for state in states
    )


def moved(result: core.SettingsMoved, values: Mapping[str, str]) -> str:
    """Return what a change did: what has effect now or after a restart, what overrides.json hides, what is unused."""
    parts = [f"{key} 现在是 {values[key] or '（空）'}" for key in result.changed]
    parts += [f"{key} 重启后生效" for key in result.waiting]
    parts += [
        f"{key} 在 .env 里改了，但运行时改过它，仍是 {values[key] or '（空）'}；用 .env 的：/记忆 配置 reset {key}"
        for key in result.shadowed
    ]
    return "\n".join((*parts, *result.problems))


def overridden_at_start(overridden: Mapping[str, str]) -> str:
    """Return the part of the start line that lists changed settings, "" if there are none."""
    if not overridden:
        return ""
    listed = [f"{key}={value}" for key, value in overridden.items()]
    more = f" 等 {len(listed)} 项" if len(listed) > SHOWN else ""
    return f"；运行时改过的设置（overrides.json）：{'、'.join(listed[:SHOWN])}{more}"
