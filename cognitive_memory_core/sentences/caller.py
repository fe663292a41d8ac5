"""Answers to callers of the memory: bad arguments, bounds, beliefs, earlier lines and older memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .settings import shown

NAIVE_INSTANT = "{what} 必须带时区（例如 datetime.now(timezone.utc)）"
PLACE_NEEDED = "这个操作要指明地方：请用 Scene.operator(group_id=...)，或群聊、私聊的场合"
FOREIGN_TARGET = "这里看不到别的{what}的记忆"
FOREIGN_PROFILE = "这里看不到这份侧写"
OPERATORS_ONLY = "这份清单只给管理机器人的人看：请用 Scene.operator()"
NOT_YOURS_TO_CORRECT = "这条不是你说的，只能由说的人自己更正"
UNKNOWN_EVENT = "这里没有这条记忆"
UNKNOWN_PIN = "这里没有这条置顶"
PINS_FULL = "置顶已满 {limit} 条，请先删掉一条"
NOT_YOUR_PROFILE = "只能看和换回自己的侧写旧版本；别人的要由机器人管理员来换"
LINE_MOVED = "侧写里这一行刚刚变了，或者不是手写的：请重新看一遍；由记忆写成的行，请去改那条记忆"
OTHERS_STAY = "只能要求忘记你自己；要忘记别人，请本人来说，或请机器人管理员用命令行"
NOT_RUNNING = "未启用"
QUEUE_FULL = "待整理的队列已满（{bound}），这一轮没有记下；史官处理一些之后再试"
FULL_IN_TOTAL = "最多 {limit} 个任务"
FULL_HERE = "每个群或私聊最多 {limit} 个任务"
FULL_IN_BYTES = "最多 {megabytes:g} MB"
TOO_MANY_TURNS = (
    "{whose}每分钟最多记 {limit} 轮，这一轮没有记下；{seconds} 秒后再试，确实需要更多就调大 queue.turns_per_minute"
)
HERE, EACH_PERSON = "这里", "每人"
SWITCH_END = "将来的时间；开（on）不能写期限"
BAD_EXPORT = '{path} 不是认知记忆的导出文件（第一行应为 {{"format": "cognitive-memory", "version": 1}}）'
UNREADABLE_FILE = "读不了 {path}（{reason}）"
COPY_INSIDE = "导出和备份不能放在数据目录里面（{path}），请换一个数据目录之外的地方"
EXPORT_NO_FILE = "{path} 已经存在，而且不是普通文件（是目录、链接、设备或管道），请换一个新的文件名"
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


NOT_TAKEN = {
    "own": "机器人自己说的",
    "ignored": "设置里不记的人或群",
    "opted_out": "发过「别记我」的人说的",
    "switched_off": "这里现在不记",
    "erased": "说话的人或这里清空以前的",
    "incognito": "无痕时说的",
    "unknown": "当时该不该记已经不知道了（那以后开关或「别记我」改过，或者账本升级过）",
    "withdrawn": "撤回或忘掉了的",
    "too_old": "比原话保留的天数（capture.log_days）更早的",
    "future": "时间在将来的",
    "blank": "没有文字的",
    "command": "命令",
    "system": "系统提示",
    "nobody": "没有写明是谁的号码的",
    "unreadable": "看不懂的",
}
READING_CHAT = "读聊天记录"
DONE = "{outcome}。机器人启动后，从最早的开始整理"
IS_AN_EXPORT = "{path} 是记忆自己导出的文件，请用 cognitive-memory import 导入"
UNKNOWN_FORMAT = (
    "{path} 不是认识的聊天记录：认识 QQChatExporter 的 JSON（分块的写 manifest.json 或它所在的目录）、"
    "QQ 自己导出的文本、ChatLab 的 JSON 和 JSONL"
)
BROKEN_CHAT = "{path} 读到第 {megabytes} MB 坏了，后面的读不了；请重新导出一份再导入，已经记下的不会重复"
PLACE_WANTED = "要写明是哪里的聊天：群写 --group 群号，私聊写 --user 对方的号码（只写一个）"
BOTS_WANTED = "要写明机器人的账号：--bot QQ号（有几个写几次），它自己说的话不导入"


def outcome(taken: int, known: int, left_out: Mapping[str, int]) -> str:
    """Return how many lines were taken, were known already, and were left out for which reason."""
    reasons = "；".join(f"{NOT_TAKEN[reason]} {count} 句" for reason, count in left_out.items() if count)
    return f"新记下 {taken} 句，原来就有 {known} 句" + (f"，没有记：{reasons}" if reasons else "")


ALREADY_RUNNING = "这个群的记忆正在演化，等它完成再试"
ONLY_GROUPS = "群记忆只在群里有，请到群里来看"
NO_MODEL = "机器人还没接大模型，群记忆没有变化；机器人管理员照 docs/settings.md「接上模型」设好后再试"
NOT_RECORDED = "这个群没有开启记录，群记忆没有变化"
NOTHING_NEW = "无新消息，群记忆没有变化"
OVERTAKEN = "演化期间有人要求忘记或不再记录，这次的结果作废，群记忆没有变化；请再来一次"
FAILED = "模型这次没有答好，群记忆没有变化（{reason}）"
SAME_ALREADY_ACTIVE = "已经有一条同样的群记忆"
UNKNOWN_BELIEF = "这里没有这条群记忆"
NOT_RETIRED = "这条群记忆没有被淘汰，不用恢复"
RETIRED_ALREADY = "这条群记忆已经淘汰了"
CHANGED_MEANWHILE = "这条群记忆刚刚被改过，请重新看一遍再决定"
RETIRED_BY_HAND = "管理员淘汰"
RESTORED_BY_HAND = "管理员恢复"
REWORDED_BY_HAND = "管理员改写"
BAD_LENGTH = "一条群记忆要有 1 到 {most} 字，请改一改再来"
REASONS: Mapping[str, str] = {
    "unreadable": "读不懂",
    "unknown": "没有这条",
    "empty": "没有内容",
    "too_long": "太长",
    "unclear": "离开聊天看不懂",
    "duplicate": "重复",
    "barred": "管理员淘汰过",
    "drift": "号码或对象对不上",
    "alone": "只有一个人说",
    "unfounded": "聊天里没有依据",
    "contrary": "与依据相反",
    "too_many": "条数已满",
    "too_many_deletions": "一次淘汰太多",
    "changed_meanwhile": "期间被改过",
}
SUGGESTION_KINDS: Mapping[str, str] = {"faq": "常见问题", "workflow": "流程", "skill": "技能"}
UNKNOWN_SUGGESTION = "没有这条建议：它已经处理过，或依据变了；请重新看一遍建议再决定"
SUGGESTION_ACCEPTED = "管理员采纳了一条建议"


def summary(kept: int, done: Mapping[str, int], rejected: Mapping[str, int], *, is_cut: bool) -> str:
    """Return one sentence with what a run did, what it rejected, and whether it left older lines unread."""
    said = f"保留 {kept} 条，更新 {done['update']} 条，新增 {done['create']} 条，淘汰 {done['delete']} 条"
    reasons = "，".join(f"{REASONS[reason]} {count}" for reason, count in rejected.items())
    refused = f"；没有采用 {sum(rejected.values())} 条（{reasons}）" if reasons else ""
    return f"{said}{refused}" + ("；更早的消息没有读" if is_cut else "")


STRENGTH_SET = "强度改为 {strength:g}"


DRAFTS: Mapping[str, str] = {  # what a group may keep about a problem, by the kind of a suggestion
    "faq": "遇到“{problem}”：{did}{came}",
    "workflow": "“{problem}”的流程：{did}{came}",
    "skill": "会处理“{problem}”：{did}{came}",
}


def draft(kind: str, problem: str, steps: Sequence[str], outcome: str) -> str:
    """Return one line for a group to keep: the problem, what to do, and the outcome."""
    did = "；".join(f"{at}. {step}" for at, step in enumerate(steps, 1)) if len(steps) > 1 else "".join(steps)
    came = f"（{outcome.rstrip('。. ')}）" if outcome else ""
    return DRAFTS[kind].format(problem=problem.rstrip("。.！!？?，,；; "), did=did, came=came)


KINDS = {
    "event": "事件",
    "memo": "短记",
    "pin": "置顶",
    "profile": "侧写",
    "revision": "侧写旧版",
    "job": "没做完的任务",
}
NO_SOURCES = (
    "{path} 里没有认得的记忆：可以搬 end_summaries.json，或旧系统的 data 目录；"
    "本插件自己导出的文件请用 cognitive-memory import"
)
READING = "读旧的记忆"
WHICH_AGENT = "每个机器人账号各记各的（isolate_bots=true），请用 --agent 写明搬给哪个账号"
LEFT_OUT = "没有搬 {where}：{reason}"
NO_PLACE = "没有写明是哪个群、和谁的私聊，放错地方别人会看到；确定的话加 --group 或 --user 再搬一次"
NOT_UNDERSTOOD = "写的不是能看懂的记忆"
BROKEN_JSON = "不是完整的 JSON，坏的地方以后都没有读"
NO_TEXT = "没有正文"
NO_TIME = "没有能看懂的时间"
NO_REGULAR_FILE = "不是普通文件，或是指向别处的链接"
TOO_LARGE = "文件太大"
NO_TURN = "不是一轮对话的任务"
CHROMA_UNREADABLE = "向量库打不开或读到一半坏了，前面读到的已经算在内"
CHROMA_NO_ROOM = "临时目录放不下向量库的副本（要 {size} MB）；用环境变量 TMPDIR 指一个大一点的地方"
CHROMA_FOLDER = "向量库"


def found(counts: Mapping[str, int]) -> str:
    """Return how many rows of each kind were found."""
    return "、".join(f"{KINDS[kind]} {count}" for kind, count in counts.items() if count) or "什么都没有"


ROW = "{name} 第 {number} 条"
PREVIEWED = "会搬来：{found}；读不了的 {left_out} 处。什么都还没有写，去掉 --dry-run 就搬"
MIGRATED = "读到 {found}；新搬来 {new} 条，排队 {jobs} 个任务，读不了的 {left_out} 处；原文件没动，向量等启动后补上"
TAKEN_OVER = "[认知记忆] 第一次启动，搬来了 end_summaries.json：{found}，新的 {new} 条；原来的文件留着"
NOT_TAKEN_OVER = (
    "[认知记忆] end_summaries.json 里有 {count} 处没有搬；停下机器人，"
    "用 cognitive-memory migrate {path} --dry-run 看全部，写明 --group 或 --user 再搬"
)


NOT_KEPT = "[认知记忆] 没有搬旧的摘要（{reason}）：停下机器人，用 cognitive-memory migrate {path} 搬"
