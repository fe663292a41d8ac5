"""Log lines, each with the plugin's keyword."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import cognitive_memory_core as core

KEYWORD = "[认知记忆]"
STILL_OPENING = "记忆打开得比平时慢，机器人照常工作；这期间到的消息会等着，不会丢"
NOT_OPENED = "记忆没有打开，机器人照常工作，只是记不住事：{reason}"
CAME_TOO_EARLY = "记忆打开之前到的，有 {count} 条消息或记录（一轮、整理、撤回）没有收下"
SETTINGS_ARE_NO_GROUP = (
    "设置 COGNITIVE_MEMORY 应为一组设置（例如 COGNITIVE_MEMORY__QUERY__AUTO_TOP_K=5），请改正 .env 后重启"
)
NO_DIRECTORY = "拿不到数据目录：请检查 LOCALSTORE_DATA_DIR 的权限，并用 require 或 load_plugin 加载本插件，然后重启"
NOT_CAPTURED = "有一条消息没有记下：{reason}"
NOT_ANNOUNCED = "没能在群里说明机器人会记事：{reason}"
NOT_WITHDRAWN = "有一条撤回的消息没有从记忆里撤掉：{reason}"
PICTURE_REFUSED = "协议端没有收下图片（{reason}），改发文字"
NOT_ANSWERED = "一个命令的回答没有发出去：{reason}"
LEFT_PLACE = "机器人已不在{place}，那里的记忆还留着；"
FORGOTTEN_LATER, KEPT_FOR_GOOD = "{days} 天后忘掉", "想到期自动忘掉，设 COGNITIVE_MEMORY__CAPTURE__FORGET_LEFT_DAYS"
FORGOT_PLACE = "机器人离开{place}满 {days} 天，那里的记忆已经忘掉"
DEPARTURE_NOT_KEPT = "没能写下机器人离开了哪些地方，或没能忘掉到期的：{reason}；稍后再试"
NOT_KEPT = "没能写下哪些对话还没整理：{reason}；机器人若被强行结束，这些对话不会自动补上"
SEVERAL_PLATFORMS = (
    "几个平台（{platforms}）的账号共用一份记忆，号码相同的人和群会当成同一个；"
    "请在 .env 里加上 COGNITIVE_MEMORY__ISOLATE_BOTS=true，让每个账号各有一份"
)
IMPERSONABLE = (
    "端口对外开放又没有访问口令，别人可以冒充协议端：请在 .env 里加上 ONEBOT_V11_ACCESS_TOKEN（与协议端的 token 相同）"
)
FORGEABLE_TWELVE = (
    "端口对外开放又没有访问口令，别人可以伪造消息：请在 .env 里加上 ONEBOT_V12_ACCESS_TOKEN（与实现端的相同）"
)
FORGEABLE = "端口对外开放又没有签名口令，别人可以伪造消息：请在 .env 里加上 ONEBOT_V11_SECRET（与协议端的 secret 相同）"

UNKNOWN_SETTINGS = "不认识的设置，已忽略：{names}"
WRONG_PREFIXES = "前缀 COGNITIVE_MEMORY 后面要两个下划线，这些设置没有起作用：{names}"
NOT_CONSIDERED = "有一段对话没有交给史官，稍后再试：{reason}"
NOT_RECORDED = "有一轮对话没有记下：{reason}"
NOT_EVOLVED = "群记忆这一轮没有演化：{reason}；EVOLUTION__CRON 写法例如 0 4 * * *"
NOT_SCHEDULED = (
    "没有装 nonebot-plugin-apscheduler，群记忆不会按时演化；"
    "要装：pip install nonebot-plugin-cognitive-memory[evolution]，也可以由管理员发送 /记忆 演化"
)


def place(scope: core.Scope) -> str:
    """Return a place by its id, for log lines and superusers."""
    return f"{'群' if scope.kind == 'group' else '私聊'} {scope.place_id}"


def logged(sentence: object) -> str:
    """Return a text on one line after the log keyword."""
    return f"{KEYWORD} {' '.join(str(sentence).split())}"


def started(
    directory: Path, settings: core.Settings, historian: str, embedder: str, lent: core.LentModel | None = None
) -> str:
    """Return the log line that says where the files are, what works, and what is recorded."""
    if not settings.enabled:
        return f"已按 COGNITIVE_MEMORY__ENABLED=false 停用，只保留备忘；数据目录 {directory}"
    models, capture = settings.models, settings.capture
    others = (("判断", models.triage), ("写侧写", models.merge), ("群记忆", models.evolution))
    own = ("", models.historian.model_name)
    named = [f"{what}用 {one.model_name}" for what, one in others if one.model_name not in own]
    if embedder == "hash":
        embedding = "不带模型的 hash 向量"
    elif lent and lent.embedding and not models.embedding.model_name and embedder == lent.embedding.model_name:
        embedding = f"向量模型 {embedder}（{lent.lender} 的）"
    else:
        embedding = f"{'' if models.embedding.model_name else '本机的'}向量模型 {embedder}"
    reranker = models.rerank.model_name or models.rerank.local
    groups = f"{len(capture.groups)} 个群" if capture.groups else "所有群"
    considered = {
        "off": "不自动整理",
        "mentions": "对机器人说的话自动整理成记忆",
        "all": "有用的自动整理成记忆",
    }[capture.auto_consider]
    parts = [
        f"已启动；数据目录 {directory}",
        "、".join([historian, *named]),
        embedding,
        *([f"重排模型 {reranker}"] if reranker else []),
        f"记录{groups}和私聊的消息 {capture.log_days} 天，{considered}",
    ]
    return "；".join(parts)


def historian(
    settings: core.ModelSettings, lent: core.LentModel | None, lenders: Sequence[str], *, borrows: bool
) -> str:
    """Return the historian's model and whose it is, or the rules with what the operator can do about that.

    ``lent`` is what the first of the ``lenders`` with a model would lend; ``borrows``: whether it is used.
    """
    if settings.model_name:
        return f"模型 {settings.model_name}"
    if borrows and lent:
        return f"模型 {lent.model_name}（{lent.lender} 的，{lent.host}；费用算在它的密钥上）"
    if borrows and lenders:
        return f"无模型：规则史官（{lenders[0]} 设好模型和密钥就用它的）"
    if lent and settings.borrow == "auto":
        key = env_names(("models.historian.borrow",))
        return f"无模型：规则史官（要用 {lent.lender} 的模型，写 {key}={lent.lender}）"
    if settings.borrow not in ("auto", "off"):
        return f"无模型：规则史官（BORROW 里写的 {settings.borrow} 没有接上，借不到它的模型）"
    return "无模型：规则史官"


def env_names(dotted: Iterable[str]) -> str:
    """Return settings as they are written in .env."""
    return "、".join("COGNITIVE_MEMORY__" + name[:80].upper().replace(".", "__") for name in dotted)


def reason_of(error: Exception) -> str:
    """Return the text of an UnavailableError; of other errors only the type, because their texts may quote messages."""
    return str(error) if isinstance(error, core.UnavailableError) else type(error).__name__


def too_broad(scene: core.Scene) -> str:
    """Return what is logged when somebody asks within an hour for more people's profiles than a talk needs."""
    return f"有人一小时里查了太多人的侧写，先不给了：{place(scene.scope)}，用户 {scene.user_id}"
