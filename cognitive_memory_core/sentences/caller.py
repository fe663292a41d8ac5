"""Error messages for callers of the memory: invalid arguments, missing items, reached limits."""

from __future__ import annotations

from .settings import shown

NAIVE_INSTANT = "{what} 必须带时区（例如 datetime.now(timezone.utc)）"
PLACE_NEEDED = "这个操作要落在一个地方：请用 Scene.operator(group_id=...)、群聊或私聊的场合"
FOREIGN_TARGET = "这里看不到别的{what}的记忆"
FOREIGN_PROFILE = "这里看不到这份侧写"
OPERATORS_ONLY = "这份清单只给管理机器人的人看：请用 Scene.operator()"
NOT_YOURS_TO_CORRECT = "这条不是你说的，只能由说的人自己更正"
UNKNOWN_EVENT = "这里没有这条记忆"
UNKNOWN_PIN = "这里没有这条置顶"
PINS_FULL = "置顶已满 {limit} 条，请先删掉一条"
NOT_YOUR_PROFILE = "只能看和换回自己的侧写旧版本；别人的要由机器人管理员来换"
LINE_MOVED = "侧写里这一行刚刚变了，或者是由记忆写成的；先看看现在的样子。由记忆写成的行，要改那条记忆"
OTHERS_STAY = "只能让我忘记你自己；要忘记别人，请本人来说，或由主人用命令行来做"
NOT_RUNNING = "未启用"
QUEUE_FULL = "待整理的队列已满（{bound}），这一轮没有记下；史官处理一些之后再试"
FULL_IN_TOTAL = "最多 {limit} 个任务"
FULL_HERE = "每个群或私聊最多 {limit} 个任务"
FULL_IN_BYTES = "最多 {megabytes:g} MB"
TOO_MANY_TURNS_HERE = (
    "这里每分钟最多记 {limit} 轮，这一轮没有记下；{seconds} 秒后再试，确实需要更多就调大 queue.turns_per_minute"
)
TOO_MANY_TURNS_OF_PERSON = (
    "每人每分钟最多记 {limit} 轮，这一轮没有记下；{seconds} 秒后再试，确实需要更多就调大 queue.turns_per_minute"
)
SWITCH_END = "还没到的时间，而且开（on）没有期限"
BAD_EXPORT = '{path} 不是认知记忆的导出文件（第一行应为 {{"format": "cognitive-memory", "version": 1}}）'
UNREADABLE_FILE = "读不了 {path}（{reason}）"
EXPORT_INSIDE = "导出不能放在数据目录里面（{path}），请换一个数据目录之外的文件"
EXPORT_NO_FILE = "{path} 已经存在，而且不是普通文件（是目录、链接、设备或管道），请换一个新的文件名"
BACKUP_INSIDE = "备份不能放在数据目录里面（{path}），请换一个数据目录之外的新目录"
BACKUP_NOT_EMPTY = "{path} 已经有内容，请换一个新的或空的目录来放备份"


BAD_ID = "{what} 必须是 1 到 128 个字符、不含控制字符的文本，收到的是 {value!r:.60}"


def bad_value(what: str, value: object, wanted: str) -> str:
    """Return the message that a value was refused, with what would be accepted."""
    return f"{what} 应为{wanted}，收到的是 {shown(value)}"


_TYPES = {"str": "文本", "int": "整数", "float": "数", "bool": "真假值", "Path": "路径", "Sequence": "一列值"}


def one_of(types: list[str]) -> str:
    """Return the accepted types or words as a list in one text."""
    return " " + "、".join(dict.fromkeys(_TYPES.get(name, name) for name in types)) + " "


BAD_TIME = "{what} 看不懂 {value!r:.60}，请写成 2026-03-04 或 2026-03-04T20:30:00+08:00"


UNKNOWN_REVISION = "这份侧写没有版本 {revision_id!r:.60}"
