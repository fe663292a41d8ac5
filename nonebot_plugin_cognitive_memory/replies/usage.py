"""How each subcommand is written: the help, and the usage that answers a wrong call."""

from __future__ import annotations

import cognitive_memory_core as core

from ..command_table import AS_TEXT, Command
from . import settings

WRITTEN, NEAREST = "写法：{usage}", "没有这个子命令，最像的是 {usage}"
_HELP = """\
认知记忆 · 发 /记忆（或 /memory）加子命令，中文英文写一个就行，例如 /记忆 详情 1
列表 list [页]：这里记住了什么，新的在前；列表 已忘：你忘掉的，30 天内能恢复
详情 show 序号：一条的全文、谁说的、出自哪几句
搜索 search 内容 [-n 条数]：找一件事
记住 add 内容：置顶一件事，和你说话时总会想起；回复一条消息只发「/记忆 记住」就记那条
置顶列表 pins：你的置顶和全群的置顶
忘掉 forget 序号：忘掉一条；更正 correct 序号 内容：改一条你自己说的
侧写 profile：这里记下的你是什么样的人；群侧写 group：这个群（加 -t 只要文字）
共享 share on|off：你在私聊里的侧写，群里能不能用
爬楼 catchup [多久]：你不在的时候这里说了什么；为什么 why：回复我的一句话，看它想起了什么
整理 consider：现在就把刚才的话整理成记忆
无痕 incognito [多久]：接下来你说的不记（默认 30 分钟，0 结束）
别记我 optout：从此不记我、不提我；可以记我 optin：恢复
忘记我 forget me：删掉关于我的全部；导出 export：把我的记忆发给我（私聊）
状态 status：记忆是否在工作；帮助 help：看这份说明"""
_HELP_GROUP = """\
—— 群主和管理员 ——
开 on、关 off、只记 record、只忆 recall：这个群记不记、用不用；后三个能写期限，如「关 2小时」
群记忆 beliefs [页]：这个群的规矩、习惯和看法；演进 history 序号：一条的来历
变更 changes [天数]：最近改了什么；演化 evolve [天数]：现在就从聊天里长出群记忆
淘汰 retire 序号、恢复 restore 序号：去掉或换回一条
建议 suggestions [采纳|不要 序号]：反复遇到的问题，可以记成常见问题、流程或技能
置顶 pin 内容：全群的置顶
总结 summarize [句数]：总结最近的聊天
清空 clear：删掉这个群的全部记忆"""
_HELP_PRIVATE = """\
—— 这个私聊 ——
开 on、关 off、只记 record、只忆 recall：这里记不记、用不用；后三个能写期限，如「关 2小时」
总结 summarize [句数]：总结最近的聊天
清空 clear：删掉这个私聊的全部记忆"""
_HELP_SUPERUSER = """\
—— 机器人管理员 ——
补课 backfill [句数]：把这里以前说过的也记下；补课 停
统计 stats、日报 daily（私聊）、队列 queue、失败 failed、重试 retry [任务号|规则]
重建索引 reindex、停 pause、启 resume
配置 config [get|set|reset|reload]：看和改设置
控制台 console：网页控制台的一次性登录码（私聊）
查看 view @某人：侧写和它的版本；回滚 rollback @某人 [第几版]：换回旧版"""
_USAGE = {  # of those that are more than their word
    "list": "/记忆 列表 [页]，例如 /记忆 列表 2；你忘掉的：/记忆 列表 已忘 [页]",
    "show": "/记忆 详情 序号，例如 /记忆 详情 3；序号看最近一次列表或搜索",
    "search": "/记忆 搜索 内容 [-n 条数]，例如 /记忆 搜索 花生 -n 5",
    "add": "/记忆 记住 内容，例如 /记忆 记住 我对花生过敏；也可以回复一条消息发 /记忆 记住",
    "forget": "/记忆 忘掉 序号，例如 /记忆 忘掉 3；序号看最近一次列表或搜索",
    "correct": "/记忆 更正 序号 内容，例如 /记忆 更正 3 我对芒果过敏；序号看最近一次列表或搜索",
    "share": "/记忆 共享 on 或 /记忆 共享 off",
    "catchup": "/记忆 爬楼 [多久]，例如 /记忆 爬楼 3小时 或 /记忆 爬楼 昨天；不写就从你上次说话起",
    "why": "回复机器人的一句话，发 /记忆 为什么",
    "incognito": "/记忆 无痕 [多久]，例如 /记忆 无痕 60（分钟）或 /记忆 无痕 到今晚8点，最长 7 天；/记忆 无痕 0 结束",
    "off": "/记忆 关 [多久或到什么时候]，例如 /记忆 关 2小时",
    "record": "/记忆 只记 [多久或到什么时候]，例如 /记忆 只记 3天",
    "recall": "/记忆 只忆 [多久或到什么时候]，例如 /记忆 只忆 到明天早上8点",
    "beliefs": "/记忆 群记忆 [页]，例如 /记忆 群记忆 2",
    "history": "/记忆 演进 序号，例如 /记忆 演进 3；序号看 /记忆 群记忆",
    "changes": "/记忆 变更 [天数]，例如 /记忆 变更 7",
    "evolve": "/记忆 演化 [天数]，例如 /记忆 演化 7",
    "retire": "/记忆 淘汰 序号，例如 /记忆 淘汰 3；序号看 /记忆 群记忆",
    "restore": "/记忆 恢复 序号，例如 /记忆 恢复 3；序号看 /记忆 群记忆、/记忆 演进 或 /记忆 列表 已忘",
    "suggestions": "/记忆 建议，再发 /记忆 建议 采纳 序号 或 /记忆 建议 不要 序号，例如 /记忆 建议 采纳 1",
    "summarize": "/记忆 总结 [句数]，例如 /记忆 总结 100",
    "pin": "/记忆 置顶 内容，例如 /记忆 置顶 周五晚上不讨论工作",
    "retry": "/记忆 重试 [任务号]，不写任务号就是全部；模型不肯回答时，/记忆 重试 规则 先由规则整理",
    "view": "/记忆 查看 @某人（或 QQ 号）",
    "rollback": "/记忆 回滚 @某人（或 QQ 号，或 群）[第几版]，不写就是上一版；版本看 /记忆 查看",
    "config": settings.USAGE,
    "backfill": "/记忆 补课 [句数]，例如 /记忆 补课 500；停下：/记忆 补课 停；群主能不能补：/记忆 补课 允许 或 不许",
    "console": "/记忆 控制台，只能在私聊里用",
}


def help_text(scene: core.Scene, *, decides: bool, is_superuser: bool) -> str:
    """Return the commands that somebody may use here; ``decides`` is True for an admin and in one's private chat."""
    parts = [_HELP]
    if decides:
        parts.append(_HELP_GROUP if scene.kind == "group" else _HELP_PRIVATE)
    if is_superuser:
        parts.append(_HELP_SUPERUSER)
    return "\n".join(parts)


def usage(command: Command, sentence: str = WRITTEN) -> str:
    """Return the usage of a subcommand in a sentence: of the one that was called, or, as NEAREST, of one like it."""
    plain = f"/记忆 {command.words[0]}"
    as_text = f"；只要文字：{plain} -t" if command.takes == AS_TEXT else ""
    return sentence.format(usage=_USAGE.get(command.name, plain + as_text))
