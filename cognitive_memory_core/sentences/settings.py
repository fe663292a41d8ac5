"""Messages for the operator about settings and prompt templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

SHOWN = 60  # characters shown of a refused value
TEMPLATE_UNREADABLE = "prompts/{name}.md 没有使用，先用自带的：它应是普通文件，UTF-8 编码，不空，最多 {limit} 个字符"
TEMPLATE_WITHOUT_SEPARATOR = (
    "prompts/{name}.md 没有使用，先用自带的：请用单独一行 {separator} 隔开上面的指令和下面的内容，只写一次"
)
TEMPLATE_STRAY_DOLLAR = "prompts/{name}.md 没有使用，先用自带的：里面有不成占位符的 $，要写 $ 本身请写成 $$"

TEMPLATE_PLACEHOLDERS = (
    "prompts/{name}.md 没有使用，先用自带的：占位符写在 {separator} 下面，可以用 {known}；"
    "不该有 {wrong}，缺少 {missing}"
)
NO_DIRECTORY = "没有数据目录，运行时的改动没有地方存"
NO_JSON = "不是 JSON"
PRICE_WANTED = "应为每百万 token 的价钱，例如 2/8（输入/输出），或一个数"
LOCAL_MODEL_WANTED = "应为 auto、hash，或 fastembed 里的模型名，例如 BAAI/bge-small-zh-v1.5"
BAD_CRON = "不是能用的 cron：要写五段「分 时 日 月 周」，例如每天四点是 0 4 * * *，周一四点是 0 4 * * mon"
BAD_TIME_OF_DAY = "不是一天里的时间：写几点几分，例如 8:00；空着不发"
NO_FILE = "文件没有了"
NO_READABLE_FILE = "不是普通文件、太大，或没有读取权限"
BAD_SETTING = "设置 {name} 的值 {value} 不能用（{reason}），请改正 .env 后重启"
_REFUSALS = {  # by pydantic's name of the error, or the word that it begins with
    "bool": "应为 true 或 false",
    "dict": "应为一个 JSON 对象",
    "finite_number": "应为有限的数",
    "float": "应为数",
    "greater_than": "必须大于 {gt:g}",
    "greater_than_equal": "不能小于 {ge:g}",
    "int": "应为整数",
    "int_parsing_size": "这个数太大",
    "less_than": "必须小于 {lt:g}",
    "less_than_equal": "不能大于 {le:g}",
    "literal_error": "只能是 {expected}",
    "model": "这是一组设置，请用双下划线写到具体的键",
    "string": "应为文本",
    "string_too_long": "最多 {max_length} 个字符",
    "string_too_short": "至少 {min_length} 个字符",
    "string_unicode": "含有不成字符的编码",
    "tuple": "应为一串用逗号隔开的值",
    "value_error": "{error}",
}


def refusal(kind: str, bounds: Mapping[str, object]) -> str:
    """Return the reason for a refused value from pydantic's name of the error and its limits."""
    reason = _REFUSALS.get(kind) or _REFUSALS.get(kind.partition("_")[0], "不是这里能用的值")
    return reason.format_map(bounds).replace("' or '", "' 或 '")


BAD_AGENTS = (
    '应为 JSON 列表，例如 [{"token": "16 个以上随机字符", "user": "10001", "group": "20002"}]；'
    "每个有自己的 token 和 user，没有 group 就是私聊"
)


UNKNOWN_ZONE = "不认识的时区 {value!r:.60}，例如可以写 Asia/Shanghai"


_SECRETS = ("api_key", "token", "agents", "metrics_token", "extra_body")
_GROUPS = ("models", "vector_store", "http", "historian", "triage", "merge", "evolution", "embedding", "rerank")


HIDDEN = "（已隐去）"


def is_secret(key: str) -> bool:
    """Return whether a setting is a secret, or a group of settings with a secret in it."""
    return key.rpartition(".")[2] in (*_SECRETS, *_GROUPS)


def shown(value: object) -> str:
    """Return a refused value as text of limited length."""
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def env_name(key: str) -> str:
    """Return a dotted key as .env writes it."""
    return "COGNITIVE_MEMORY__" + key.upper().replace(".", "__")


BAD_CHANGE = "{key} 不能设成 {value}（{reason}）"
NOT_HOT = "{key} 重启后生效：请写进 .env（{name}=…），再重启机器人"
IS_A_GROUP = "{name!r:.60} 是一组设置，请写到具体的键，例如 {example}"


def unknown_setting(name: str, near: Iterable[str]) -> str:
    """Return the message that no setting has this name, with the nearest ones."""
    alike = "、".join(near)
    return f"没有 {shown(name)} 这个设置，{f'是不是 {alike}？' if alike else '全部的键见文档的设置页'}"


BLANK_VALUE = "{key} 要设成什么？请把值写在后面，例如 {key} {default}；空的列表写 []"
VALUE_TOO_LONG = "{key} 的值太长，最多 {limit} 个字符；更长的请写进 .env"


OVERRIDES_DAMAGED = "{path} 读不懂（{reason}）：文件没有动，里面的改动没有用上，先按 .env；请改好或移走它"


OVERRIDES_WITHHELD = "overrides.json 这次没有读到（{reason}），运行时的改动先照旧"
CONSENT_KEPT = "{name} 在 .env 里不见了，先照旧；真要清空请写 []"
OVERRIDE_IGNORED = "overrides.json 里的 {key!r:.60} 没有用上：{reason}"
