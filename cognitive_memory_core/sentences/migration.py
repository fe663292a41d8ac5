"""What ``cognitive-memory migrate`` says."""

from __future__ import annotations

from collections.abc import Mapping

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
BROKEN_JSON = "这一段不是完整的 JSON"
TOO_MUCH_BROKEN = "坏的地方太多，后面的不再读"
NOT_A_LIST = "应当是一个 JSON 列表"
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
