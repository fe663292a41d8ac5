"""Every sentence of the core that a person can see, in Chinese."""

from __future__ import annotations

# --- errors: one sentence that says what to do -------------------------------------------------------------------


def bad_id(what: str, value: object) -> str:
    """Say why an id was refused."""
    return f"{what} 必须是 1 到 128 个字符、不含控制字符的文本，收到的是 {shown(value)}"


def bad_value(what: str, value: object, wanted: str) -> str:
    """Say which value was refused and what would be accepted."""
    return f"{what} 应为{wanted}，收到的是 {shown(value)}"


def naive_instant(what: str) -> str:
    """Say that a time without a zone was handed in."""
    return f"{what} 必须带时区（例如 datetime.now(timezone.utc)）"


def place_needed() -> str:
    """Say that an operator scene without a group names no place."""
    return "这个操作要落在一个地方：请用 Scene.operator(group_id=...)、群聊或私聊的场合"


def unknown_zone(value: str) -> str:
    """Say that a time zone is not known."""
    return f"不认识的时区 {shown(value)}，例如可以写 Asia/Shanghai"


def bad_setting(key: str, value: object, reason: str) -> str:
    """Name the setting that was refused, in one line."""
    name = "COGNITIVE_MEMORY__" + key.upper().replace(".", "__")
    return f"设置 {name} 的值 {hidden(key, value)} 不能用（{reason.removeprefix('Value error, ')}），请改正 .env 后重启"


def foreign_target(what: str) -> str:
    """Refuse a target that lies outside the scene."""
    return f"这里看不到别的{what}的记忆"


def unknown_event() -> str:
    """Say that no such event can be seen here."""
    return "这里没有这条记忆"


def unknown_pin() -> str:
    """Say that no such pin can be seen here."""
    return "这里没有这条置顶"


def pins_full(limit: int) -> str:
    """Say that the pins are at their bound."""
    return f"置顶已满 {limit} 条，请先删掉一条"


def queue_full(bound: str) -> str:
    """Say which bound of the queue was reached."""
    return f"待整理的队列已满（{bound}），这一轮没有记下；史官处理一些之后再试"


def storage_refused(path: object, reason: object) -> str:
    """Say that the disk refused and what to look at."""
    return f"写不进 {path}（{reason}）：请检查磁盘空间和目录权限，这一轮没有记下"


def directory_in_use(path: object) -> str:
    """Say who holds the directory and which line of .env separates two bots."""
    return f"数据目录 {path} 正被另一个机器人使用；若是两个机器人，请在各自的 .env 里加上 LOCALSTORE_USE_CWD=true"


def not_running() -> str:
    """Say that the memory is off."""
    return "未启用"


def somebody() -> str:
    """Stand in for a person who wants to be left out."""
    return "某位成员"


def shown(value: object) -> str:
    """Show a refused value without letting it flood a log."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def hidden(key: str, value: object) -> str:
    """Show a refused setting, but never a secret."""
    return "（已隐去）" if key.endswith(("api_key", "token")) else shown(value)
