"""Output of the command ``cognitive-memory``."""

from __future__ import annotations

from collections.abc import Iterable

from .shown_values import shown

USAGE = "用法："
OPTIONS = "选项"
HELP_OPTION = "显示这段说明"
COMMAND_OVERVIEW = "用法：{program} 子命令 [选项]（各子命令的说明：{program} 子命令 --help）\n\n子命令："
MISUSED = "{program}：{complaint}"
UNKNOWN_ARGUMENTS = "不认识的参数 {words}"
ARGUMENTS_WANTED = "还缺 {words}"
VALUE_WANTED = "{option} 后面要跟一个值"
NO_SUCH_FILE = "没有这个文件：{path}"
NOT_EMPTY = "{path} 已经有东西了，请换一个空目录或还不存在的目录"
DEMO_SUMMARY = "启动一个真的机器人，回放一段对话，看它记住了什么（不用密钥，不用联网）"
TRANSCRIPT_OPTION = "回放自己的对话（JSON），默认是自带的样例"
KEEP_OPTION = "把数据留在这个目录，默认用完就删"
PROGRAM = "cognitive-memory"
ENV_OPTION = "机器人的 .env 文件，默认 ./.env，再读 .env.{ENVIRONMENT}"
DATA_OPTION = "数据目录；.env 里没有写在哪里时用（机器人启动时的日志里有）"
JSON_OPTION = "给程序看：输出 JSON"
STATUS_SUMMARY = "记了多少、任务、失败的任务；--retry 重试（可以和机器人同时用，重试除外）"
FAILED_OPTION = "只列失败的任务：在哪里、为什么、怎么办"
RETRY_OPTION = "失败的任务重新排队：写任务号的前几位，不写就是全部"
SEARCH_SUMMARY = "在记忆里找（可以和机器人同时用）"
QUERY_ARGUMENT = "要找的话"
COUNT_OPTION = "最多几条"
GROUP_OPTION = "只在这个群的记忆里找"
USER_OPTION = "只找这个人的"
MESSAGES_OPTION = "找原话，不找整理出的记忆"
EXPORT_SUMMARY = "导出成 JSON Lines（可以和机器人同时用）"
EXPORT_ARGUMENT = "写到哪个文件（不能在数据目录里）"
EXPORT_USER_OPTION = "只导出这个人说过的、他的侧写和置顶"
IMPORT_SUMMARY = "导入导出的文件，重复导入没有影响（先停机器人）"
IMPORT_ARGUMENT = "导出的文件"
IMPORT_CHAT_SUMMARY = "导入以前的聊天记录，重复导入没有影响（先停机器人）"
IMPORT_CHAT_ARGUMENT = "QQChatExporter 的 JSON 或分块目录、QQ 导出的文本、ChatLab 的 JSON 或 JSONL"
CHAT_GROUP_OPTION = "这是哪个群的聊天"
CHAT_USER_OPTION = "这是和谁的私聊（对方的号码）"
CHAT_BOT_OPTION = "机器人的账号，群聊要写，有几个写几次；它自己说的不导入"
REINDEX_SUMMARY = "由账本重建向量索引（先停机器人）"
MIGRATE_SUMMARY = "搬来旧的记忆：end_summaries.json 或旧系统的 data 目录，重复搬没有影响（先停机器人）"
MIGRATE_ARGUMENT = "end_summaries.json，或旧系统的 data 目录（只读，不会改动）"
DRY_RUN_OPTION = "只说会搬来什么、什么读不了，不写（可以和机器人同时用）"
MIGRATE_GROUP_OPTION = "没写明在哪里的短记和置顶，放到这个群"
MIGRATE_USER_OPTION = "没写明在哪里的短记和置顶，放到和这个人的私聊"
MIGRATE_AGENT_OPTION = "搬给哪个机器人的记忆（默认是设置里的 agent；设了 isolate_bots=true 时写机器人的账号）"
DOWNLOAD_SUMMARY = "下载在本机运行的向量模型、重排模型（可以和机器人同时用）"
DOWNLOAD_ARGUMENT = "模型名；不写就是设置里的"
NOTHING_TO_DOWNLOAD = (
    "设置里没有要下载的模型：写上名字，例如 cognitive-memory download BAAI/bge-small-zh-v1.5"
    "（或先在 .env 里写 COGNITIVE_MEMORY__MODELS__EMBEDDING__LOCAL）"
)
DOWNLOADED = "{name} 下载好了，在 {folder}，载入没有问题"
USE_DOWNLOADED = "在 .env 里写 {key}={name}，重启机器人"
DOCTOR_SUMMARY = "检查设置、密钥、模型、文件、字体，说出该怎么办（可以和机器人同时用）"
OFFLINE_OPTION = "不连模型"
MCP_SUMMARY = "让别的智能体用这份记忆：标准输入输出上的 MCP 服务（可以和机器人同时用）"
AGENT_USER_OPTION = "智能体替谁说话（号码）；只能读写这个人在这里看得到的记忆"
AGENT_GROUP_OPTION = "在哪个群里，不写就是私聊"
BOT_URL_OPTION = "机器人运行时的地址，默认看 .env 里的 HOST 和 PORT"
MCP_IS_MISSING = "还缺 MCP 的官方开发包，请先运行 pip install 'nonebot-plugin-cognitive-memory[mcp]'"
BOT_SERVES_NO_HTTP = "机器人正在运行，要请它来答：请在它的 .env 里写 COGNITIVE_MEMORY__HTTP__TOKEN，重启机器人之后再试"
BOT_IS_SILENT = "机器人正在运行，但 {url} 连不上：请看它的 HOST 和 PORT，或用 --url 写明地址"
BOT_REFUSES_US = "机器人不认这个令牌：请看它用的 .env 是不是同一份，改过就重启机器人"
BOT_SERVES_NO_AGENTS = "机器人没有打开 MCP：它要用 FastAPI 驱动，并且装有 nonebot-plugin-cognitive-memory[mcp]"
BOT_ANSWERS = "机器人没有答：HTTP {status}；过一会儿再试，或看它的日志"
NO_DATA_DIR = "不知道数据目录在哪里：请在机器人的目录里运行，或写 --data DIR（机器人启动时的日志里有完整路径）"
NO_LEDGER = "{path} 里还没有账本：机器人还没有启动过，或目录不对（启动时的日志里有完整路径；可以写 --data DIR）"
BOT_IS_RUNNING = "机器人正在运行，这个命令要独占数据目录：请先停下机器人；重建索引和重试也可以在聊天里发 /记忆"
INTERRUPTED = "中断了；已经写好的都在，再运行一次会接着做"
UNKNOWN_JOB = "没有找到这一个任务：任务号看 cognitive-memory status --failed，写前几位就行，要能认出是哪一个"
RETRIED = "重新排队 {count} 个任务，机器人启动后处理"
NOTHING_FOUND = "没有找到"
EXPORTING, IMPORTING, REINDEXING = "导出", "导入", "重建索引"
EXPORTED = "导出 {count} 条到 {path}；以后有人要求忘记时，会提醒这份文件里还有"
EXPORTED_BESIDE_BOT = "导出 {count} 条到 {path}；机器人正在运行，这份文件没有登记，有人要求忘记时请自己删掉它"
IMPORTED = "导入 {count} 条新的，跳过看不懂的 {left_out} 行；向量在机器人启动后补上"
WHOLE_NUMBER = "{text} 不是 1 到 {most} 的整数"


def unknown_subcommand(word: str) -> str:
    """Return the message that a subcommand does not exist."""
    return f"没有 {shown(word)} 这个子命令"


def demo_needs(missing: Iterable[str]) -> str:
    """Return the message that packages of the demo are missing, with the command to install them."""
    return f"演示还缺 {'、'.join(missing)}，请先运行 pip install 'nonebot-plugin-cognitive-memory[demo]'"


def unreadable_reason(error: Exception) -> str:
    """Return why a text file cannot be read."""
    return "不是 UTF-8 编码" if isinstance(error, UnicodeDecodeError) else "没有读取权限"


def reindexed(count: int, waiting: int) -> str:
    """Return the result of a rebuilt index: its vectors, and the events that have none yet."""
    rest = f"；还有 {waiting} 条等着算向量，机器人启动后补上" if waiting else ""
    return f"向量索引重建好了，共 {count} 条{rest}"
