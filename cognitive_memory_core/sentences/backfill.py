"""Sentences on lines that were said before: what became of them, and what is wrong with a file of them."""

from __future__ import annotations

from collections.abc import Mapping

REASONS = {
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
READING = "读聊天记录"
DONE = "{outcome}。机器人启动后，从最早的开始整理"
IS_AN_EXPORT = "{path} 是记忆自己导出的文件，请用 cognitive-memory import 导入"
UNKNOWN_FORMAT = (
    "{path} 不是认识的聊天记录：认识 QQChatExporter 的 JSON（分块的写 manifest.json 或它所在的目录）、"
    "QQ 自己导出的文本、ChatLab 的 JSON 和 JSONL"
)
BROKEN_JSON = "{path} 读到第 {megabytes} MB 坏了，后面的读不了；请重新导出一份再导入，已经记下的不会重复"
PLACE_WANTED = "要写明是哪里的聊天：群写 --group 群号，私聊写 --user 对方的号码（只写一个）"
BOTS_WANTED = "要写明机器人的账号：--bot QQ号（有几个写几次），它自己说的话不导入"


def outcome(taken: int, known: int, left_out: Mapping[str, int]) -> str:
    """Return how many lines were taken, were known already, and were left out for which reason."""
    reasons = "；".join(f"{REASONS[reason]} {count} 句" for reason, count in left_out.items() if count)
    return f"新记下 {taken} 句，原来就有 {known} 句" + (f"，没有记：{reasons}" if reasons else "")
