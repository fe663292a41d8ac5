"""Answers of the HTTP interface to a request that it refuses, what each metric says, and log lines about its start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MOUNTED = "HTTP 接口已挂在 {path}（OpenAPI 文档 {path}/openapi.json，请求头 Authorization: Bearer 令牌）"
NEEDS_FASTAPI = (
    "设了 COGNITIVE_MEMORY__HTTP__TOKEN，但 HTTP 接口要 FastAPI 驱动："
    ".env 里写 DRIVER=~fastapi，没装就 pip install 'nonebot-plugin-cognitive-memory[http]'"
)
AGENTS_MOUNTED = "智能体可以在 /memory/mcp 用这份记忆（MCP）；有自己令牌的智能体：{count} 个"
SDK_IS_MISSING = (
    "设了 COGNITIVE_MEMORY__HTTP__AGENTS，但还缺 MCP 的官方开发包："
    "请先运行 pip install 'nonebot-plugin-cognitive-memory[mcp]'"
)
NO_PERSON = "用操作令牌时要写明替谁说话：请求头 X-Memory-User，在群里再加 X-Memory-Group"
GUESSABLE = "COGNITIVE_MEMORY__HTTP__TOKEN 太短，容易被猜中：请用 16 个以上随机字符"

FOREIGN_HOST = "这个主机名不在名单里：经反向代理或域名访问，请在 .env 的 COGNITIVE_MEMORY__HTTP__HOSTS 里写上它"
UNAUTHORISED = "要有操作令牌：请求头 Authorization: Bearer 令牌"
TOO_FAST = "请求太密了，请 {seconds} 秒后再试"
TOO_LARGE = "请求正文太大，最多 {kilobytes} KB"
TOO_SLOW = "请求正文没有及时发完"
JSON_ONLY = "请求正文只收 JSON，请带请求头 Content-Type: application/json"
BROKEN_JSON = "请求正文读不懂：不是合法的 JSON，或者嵌套太深"
NO_PATH = "没有这个地址"
NO_METHOD = "这个地址不支持这种请求方法"
CHANGED = "这条刚被改过或忘掉了，没有照办；event 是现在的样子"
NOT_FOUND = "没有找到"
UNKNOWN_PROFILE = "这里没有这份侧写"
UNKNOWN_JOB = "没有这个失败的任务"
UNKNOWN_PERSON = "这里没有这个人说过的话"
PLACE_WANTED = "要写 group_id 或 user_id，说明是哪个群或谁的私聊"
ONLY_SEARCHED = "kinds、time_from、time_to 要和 q 一起写"
EXPORTING = "正在导出，等它完成再试"
UNKNOWN_GROUP = "这里没有这个群的记忆"
UNAVAILABLE = "现在办不到，请稍后再试"
UNFORESEEN = "出错了，详情在机器人的日志里"


_REFUSALS = {  # by pydantic's name of the error, or the type at its beginning
    "missing": "必填",
    "bool": "应为 true 或 false",
    "datetime_from_date_parsing": "应为时间，例如 2026-03-04T20:30:00+08:00",
    "extra_forbidden": "没有这一项",
    "finite_number": "应为有限的数",
    "float": "应为数",
    "greater_than_equal": "不能小于 {ge:g}",
    "int": "应为整数",
    "int_parsing_size": "这个数太大",
    "less_than_equal": "不能大于 {le:g}",
    "literal_error": "只能是 {expected}",
    "string_pattern_mismatch": "含有这里不能用的字符",
    "string_too_long": "最多 {max_length} 个字符",
    "string_too_short": "至少 {min_length} 个字符",
    "string_type": "应为文本",
    "string_unicode": "含有不成字符的编码",
    "too_long": "最多 {max_length} 项",
}

LIBRARY_IS_MISSING = (
    "设了 COGNITIVE_MEMORY__HTTP__METRICS_TOKEN，但还缺 Prometheus 的客户端库："
    "请先运行 pip install 'nonebot-plugin-cognitive-memory[metrics]'"
)
HELP: Mapping[str, str] = {
    "up": "记忆开着并且在记为 1",
    "paused": "史官被叫停为 1",
    "stored": "账本里各有多少",
    "failing": "正在出错的部件，恢复后消失",
    "breaker_open": "这个部件连续出错、暂时不用为 1",
    "without_model": "没有设模型、由规则代做的角色",
    "jobs": "各状态的任务数",
    "jobs_pending_bytes": "等着的任务占多少字节",
    "refused": "启动以来因为排满没有收下的轮次",
    "jobs_removed": "启动以来因为太久太多删掉的失败任务",
    "vectors_missing": "还没有算出向量的事件",
    "index_rows_behind": "向量库比账本少的条数，这期间由精确检索回答",
    "index_generation": "正在用的向量索引是第几代",
    "index_rows_built": "正在建的一代已建的条数",
    "index_rows_to_build": "正在建的一代共有的条数，没有在建为 0",
    "profile_facts_waiting": "等着写进侧写的事",
    "profiles_waiting": "等着合并的侧写",
    "profiles_failing": "合并出错的侧写",
    "purge_waiting": "忘记的内容还没从磁盘上抹去为 1",
    "messages_dropped": "启动以来因为写不及丢掉的消息",
    "messages_removed": "启动以来因为消息记录太大删掉的消息",
    "model_calls_today": "今天调用模型的次数",
    "model_tokens_today": "今天用掉的 token",
    "model_answered_tokens_today": "今天的 token 里模型写的",
    "model_failures_today": "今天没有成功的模型调用",
    "daily_calls_spent": "今天的调用次数用完为 1",
    "operation_seconds": "每次操作用了几秒",
}


def refused_value(place: Sequence[str | int], kind: str, bounds: dict[str, object]) -> str:
    """Return the reply to a bad value at ``place``; ``kind`` and ``bounds`` are those of pydantic's error."""
    if kind == "json_invalid":
        return BROKEN_JSON
    name = ".".join(str(part) for part in place[1:]) or "请求正文"
    reason = _REFUSALS.get(kind) or _REFUSALS.get(kind.partition("_")[0], "不是这里能用的值")
    reason = reason.format_map(bounds).replace("' or '", "' 或 '")
    return f"{name} 不能用（{reason}）"
