"""Output of the command ``cognitive-memory``."""

from __future__ import annotations

from collections.abc import Iterable

from .values import shown

USAGE = "用法："
OPTIONS = "选项"
HELP_OPTION = "显示这段说明"
COMMAND_OVERVIEW = "用法：{program} 子命令 [选项]（各子命令的说明：{program} 子命令 --help）\n\n子命令："
MISUSED = "{program}：{complaint}"
UNKNOWN_ARGUMENTS = "不认识的参数 {words}"
VALUE_WANTED = "{option} 后面要跟一个值"
NO_SUCH_FILE = "没有这个文件：{path}"
NOT_EMPTY = "{path} 已经有东西了，请换一个空目录或还不存在的目录"
DEMO_SUMMARY = "启动一个真的机器人，回放一段对话，看它记住了什么（不用密钥，不用联网）"
TRANSCRIPT_OPTION = "回放自己的对话（JSON），默认是自带的样例"
KEEP_OPTION = "把数据留在这个目录，默认用完就删"


def unknown_subcommand(word: str) -> str:
    """Return the message that a subcommand does not exist."""
    return f"没有 {shown(word)} 这个子命令"


def demo_needs(missing: Iterable[str]) -> str:
    """Return the message that packages of the demo are missing, with the command to install them."""
    return f"演示还缺 {'、'.join(missing)}，请先运行 pip install 'nonebot-plugin-cognitive-memory[demo]'"
