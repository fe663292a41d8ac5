"""Words on picture cards."""

from __future__ import annotations

NAME = "认知记忆"
YOU_HERE, YOU_IN_PRIVATE, GROUP = "{group}里的你", "私聊里的你", "这个群的侧写"
THIS_GROUP, SOMEBODY = "这个群", "你"
UPDATED = "{whose} · 更新于 {at}"
PROFILE_FOOTER = "不想被记：/记忆 别记我 · 文字版：/记忆 侧写 -t"
GROUP_FOOTER = "文字版：/记忆 群侧写 -t"
STATUS_SIGN, STATUS_FOOTER = "忆", "记住了什么：/记忆 列表 · 能做什么：/记忆 帮助"
STATS_SIGN, STATS_TITLE, STATS_SUBTITLE = "数", "统计", "整个机器人 · {at}"
STATS_FOOTER = "队列：/记忆 队列 · 失败的任务：/记忆 失败 · 文字版：/记忆 统计 -t"
EVENTS_HERE, LINES_HERE, PINS_HERE = "这里记住的事", "这里的原话", "置顶"
EVENTS, LINES, MEMOS, PINS, CALLS, TOKENS = "记住的事", "原话", "备忘", "置顶", "今天调用模型", "今天的 token"
LINES_BY_DAY, EVENTS_BY_DAY = "每天的原话", "记住的事，按发生的日子"
LINES_IN_DAYS, EVENTS_IN_DAYS = "{days} 天共 {count} 句", "{days} 天共 {count} 件"
NO_DAYS = "最近 {days} 天没有人说话，也没有记下什么"
