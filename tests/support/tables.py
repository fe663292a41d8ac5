"""The settings tables of the site and the READMEs, and .env.example, generated from the settings model.

``python -m tests.support.tables`` writes them; tests/promises/test_settings_are_listed.py compares.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, SecretStr

from cognitive_memory_core.settings import DORMANT, Settings

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "COGNITIVE_MEMORY__"
BEGIN, END = "<!-- settings:begin -->", "<!-- settings:end -->"
Language = Literal["zh", "en"]

TEXTS: Mapping[str, tuple[str, str]] = {
    "enabled": ("关掉后只写备忘，不记不想", "off: memos only, nothing else is recorded or recalled"),
    "agent": ("记忆属于哪个角色；角色之间互不可见", "whose memory it is; agents never read each other"),
    "isolate_bots": ("每个机器人账号各记各的", "each bot account is an agent of its own"),
    "bridges": ("给哪些聊天插件接上记忆", "chat plugins that get the memory without knowing it"),
    "timezone": ("「昨天」「周五」按哪个时区算", "the zone in which people here speak of time"),
    "sharing": ("一个人一份侧写，还是每个地方一份", "one profile a person, or one a place"),
    "daily_calls": ("每天最多调用模型几次，0 为不限", "model calls a day, 0 for no limit"),
    "models.historian.api_url": ("史官的聊天模型的地址（兼容 OpenAI）", "address of the historian's chat model"),
    "models.historian.api_key": ("密钥；本地服务可以空着", "its key; may be blank for a local server"),
    "models.historian.model_name": ("模型名；空着由规则史官整理", "its name; blank: the rules do the work"),
    "models.historian.max_tokens": ("回答最多多少 token", "tokens of an answer, at most"),
    "models.historian.timeout_seconds": ("等回答最多几秒", "seconds that an answer may take"),
    "models.historian.temperature": ("温度；空着由模型决定", "its temperature; blank: the model's own"),
    "models.historian.extra_body": ("请求里附加的字段（JSON）", "more fields of each request, as JSON"),
    "models.historian.price": (
        "每百万 token 的价钱，给的/写的，例如 2/8；报告里算账用",
        "price of a million tokens, given/written, as 2/8; for the report",
    ),
    "models.triage": (
        "判断值不值得记的模型：键同上，空着的用史官的",
        "the model that finds what is worth remembering: the same keys, blank ones are the historian's",
    ),
    "models.merge": (
        "写侧写的模型：键同上，空着的用史官的",
        "the model that writes profiles: the same keys, blank ones are the historian's",
    ),
    "models.evolution": ("演化群组记忆的模型", "the model of slow memory"),
    "models.embedding.api_url": ("向量模型的地址（兼容 OpenAI）", "address of an OpenAI-compatible embedding model"),
    "models.embedding.api_key": ("密钥；本地服务可以空着", "its key; may be blank for a local server"),
    "models.embedding.model_name": ("模型名；空着就用本地 n-gram 向量", "its name; blank: local n-gram vectors"),
    "models.embedding.dimensions": ("向量几维；空着由模型决定", "length of its vectors; blank: the model's own"),
    "models.embedding.query_instruction": ("加在问题前面的话", "put before a question"),
    "models.embedding.document_instruction": ("加在记忆前面的话", "put before a memory"),
    "models.embedding.batch_size": ("一次请求几条", "texts of a request"),
    "models.embedding.price": ("每百万 token 的价钱", "price of a million tokens"),
    "models.rerank.api_url": (
        "重排模型的地址（Jina / Cohere 式的 /rerank）",
        "address of a /rerank of Jina's or Cohere's form",
    ),
    "models.rerank.api_key": ("密钥；本地服务可以空着", "its key; may be blank for a local server"),
    "models.rerank.model_name": ("模型名；空着就不重排", "its name; blank: no reranking"),
    "models.rerank.price": ("每百万 token 的价钱", "price of a million tokens"),
    "query.auto_top_k": ("每轮自动想起几条", "events recalled by themselves in a turn"),
    "query.auto_messages_k": ("每轮自动引用几句聊天原话，0 不引用", "lines of the log quoted by themselves in a turn"),
    "query.enable_rerank": ("设了重排模型就用它", "use the rerank model, where one is set"),
    "query.recent_end_summaries_inject_k": ("上下文里最多几条备忘", "memos in a context, at most"),
    "query.time_decay_enabled": ("新的优先", "newer first"),
    "query.time_decay_half_life_days_auto": ("自动想起时的半衰期（天）", "half-life in automatic context, days"),
    "query.time_decay_half_life_days_tool": ("搜索时的半衰期（天）", "half-life in searches, days"),
    "query.time_decay_boost": ("新近最多加多少分", "how much newness adds at most"),
    "query.time_decay_min_similarity": ("多相关才看新旧", "relevance from which newness counts"),
    "query.tool_default_top_k": ("搜索默认给几条", "hits of a search by default"),
    "query.profile_top_k": ("搜索侧写给几份", "profiles of a search"),
    "query.rerank_candidate_multiplier": ("先取几倍的候选再排", "candidates a hit before ranking"),
    "query.lexical_weight": (
        "字面匹配占多少，其余归向量；空着按向量模型定：有模型 0.7，本地 0.5",
        "weight of words against vectors; blank: 0.7 with an embedding model, 0.5 without",
    ),
    "query.diversity": ("多大程度避开重复的内容", "how much alike hits push each other away"),
    "query.min_relevance": ("低于它就不自动想起", "below it nothing is recalled by itself"),
    "query.context_token_budget": ("上下文最多多少 token", "tokens of a context, at most"),
    "historian.rewrite_max_retry": ("改写不合格时重试几次", "retries of a rewrite that fails the gate"),
    "historian.min_confidence": ("低于它就不算确定", "below it a statement is not certain"),
    "historian.recent_messages_inject_k": ("整理时参考前面几条消息", "earlier messages the historian sees"),
    "historian.recent_message_line_max_len": ("参考消息每条最多几个字", "characters of such a message"),
    "historian.source_message_max_len": ("原话最多几个字", "characters of the message in question"),
    "historian.poll_interval_seconds": ("多久看一次有没有外来任务（秒）", "seconds between looks for foreign files"),
    "historian.stale_job_timeout_seconds": ("一个任务最多跑多久（秒）", "seconds that one job may run"),
    "historian.concurrency": (
        "同时为几个地方请教模型；写入不占名额",
        "places for which models are asked at once; storing takes no slot",
    ),
    "historian.shutdown_seconds": ("关机时最多等多久（秒）", "seconds that a shutdown waits"),
    "profile.revision_keep": ("每份侧写留几个旧版本", "past versions kept of a profile"),
    "profile.merge_delay_seconds": (
        "攒多久写进侧写一次（秒）；还没有侧写的人最多等 20 秒",
        "seconds in which facts gather; a first profile waits 20 at most",
    ),
    "profile.merge_min_facts": (
        "已有侧写的人，少于这么多件事就先攒着，最多攒一天",
        "facts that an existing profile waits for, for a day at the longest",
    ),
    "profile.merge_max_facts": ("攒够几件事就写一次", "facts that are merged at once"),
    "profile.max_chars": ("一份侧写最多几个字", "characters of a profile"),
    "pins.max": ("每个地方最多几条置顶", "pins of a place"),
    "queue.failed_max_age_days": ("失败的任务留几天", "days that failed jobs are kept"),
    "queue.failed_max_files": ("失败的任务最多留几个", "failed jobs kept, at most"),
    "queue.failed_cleanup_interval": ("每处理多少任务清理一次", "claims between clean-ups"),
    "queue.job_max_retries": ("一个任务失败几次后放弃", "failures before a job is given up"),
    "queue.max_pending": ("排队的任务最多几个", "waiting jobs, at most"),
    "queue.max_pending_per_group": ("每个地方最多排几个", "waiting jobs of a place, at most"),
    "queue.max_pending_mb": ("排队的任务最多多少 MB", "megabytes of waiting jobs, at most"),
    "queue.turns_per_minute": (
        "每个地方每分钟最多收几轮对话，每个人一半；0 不限",
        "turns taken a minute and place, half of that a person; 0: no limit",
    ),
    "queue.turn_burst": ("攒着没用的轮数最多几轮，可以一口气用掉", "turns that a place may hand in at once"),
    "capture.auto_consider": (
        "自动整理什么：all 群里和私聊里说的话，mentions 只有对机器人说的，off 不自动整理",
        "what is considered: all, mentions (what is said to the bot) or off",
    ),
    "capture.chat_commands": (
        '聊天用的命令名，例如 ["chat", "问"]：跟在它后面的话照记，别的命令不记',
        'commands that are chat, such as ["chat"]: what follows them is recorded; other commands are not',
    ),
    "capture.consider_every": ("攒够几条就整理一次", "messages that make a dialogue"),
    "capture.consider_idle_minutes": ("安静多久也整理一次（分钟）", "minutes of silence that end a dialogue"),
    "capture.log_days": ("原始消息留几天", "days that raw messages are kept"),
    "capture.log_max_mb": (
        "原始消息最多占多少 MB，超过就从最早的删起，每个地方最新的 200 条总是留着；0 不限",
        "megabytes of raw messages; over it the oldest go, but the newest 200 of each place; 0: no limit",
    ),
    "capture.announce": ("第一次在群里说话时告知会记忆，off 关掉", "tell a group once that there is a memory"),
    "capture.forget_left_days": (
        "机器人退群、被移出、群解散多少天后忘掉那里；0 一直留着",
        "days after which a group that the bot left, or that was dissolved, is forgotten; 0: kept",
    ),
    "capture.groups": ("只记这些群，空为全部", "only these groups; empty for all"),
    "capture.ignore_groups": ("不记这些群", "never these groups"),
    "capture.ignore_users": ("不记这些人", "never these people"),
    "evolution.enabled": ("按时演化群记忆；关掉后只有命令能演化", "evolve the beliefs of groups on schedule"),
    "evolution.cron": ("什么时候演化（cron，按 timezone）", "when to evolve (cron, in the timezone)"),
    "evolution.min_messages": ("新消息满几条的群才按时演化", "new messages that a scheduled group needs"),
    "evolution.max_beliefs": ("每个群最多几条群记忆", "beliefs of a group, at most"),
    "evolution.max_messages": ("一次演化最多细看几条消息，其余先做摘要", "lines shown to a run; others are summed up"),
    "vector_store.backend": (
        "向量放在 chroma；小机器可写 exact：不开向量库，只做精确检索",
        "chroma, or exact: no store",
    ),
    "vector_store.url": ("Chroma 服务的地址；空为内置", "a Chroma server instead of the embedded store"),
    "vector_store.tenant": ("服务上的租户", "the server's tenant"),
    "vector_store.database": ("服务上的库，每个机器人一个", "the server's database, one a bot"),
    "vector_store.token": ("服务的令牌", "the server's token"),
    "http.token": ("HTTP 接口的操作令牌；空为不开，要 FastAPI 驱动", "the operator's token over HTTP; blank: no HTTP"),
    "http.metrics_token": (
        "只能读指标的令牌，给 Prometheus 用；空着就只认操作令牌",
        "a token for metrics alone, for Prometheus; blank: only the operator's",
    ),
    "http.hosts": (
        "用哪些域名访问 HTTP 接口；localhost 和 IP 地址不用写",
        "names under which HTTP is reached, besides localhost and addresses",
    ),
    "http.console": (
        "网页控制台，在 `/memory/console`（要装 `nonebot-plugin-cognitive-memory[console]`）",
        "the web console at `/memory/console` (install `nonebot-plugin-cognitive-memory[console]`)",
    ),
    "http.agents": (
        "经 MCP 用这份记忆的智能体：各有自己的令牌，只看得到一个人在一个地方的记忆（JSON 列表：token、user、group）",
        "agents over MCP, as a JSON list of token, user, group: each token opens one person's memory in one place",
    ),
}
HEADS: Mapping[Language, tuple[str, str, str]] = {
    "zh": ("设置", "默认", "说明"),
    "en": ("setting", "default", "what it does"),
}
NOT_YET: Mapping[Language, str] = {"zh": "（此版本尚未起作用）", "en": " (steers nothing in this version)"}


ESSENTIAL = (  # the settings that the READMEs list; the site's pages list all
    "timezone",
    "bridges",
    "daily_calls",
    "models.historian.api_url",
    "models.historian.api_key",
    "models.historian.model_name",
    "query.context_token_budget",
    "capture.auto_consider",
    "capture.log_days",
    "capture.ignore_groups",
    "capture.ignore_users",
    "http.token",
)
PAGES: Mapping[str, tuple[Language, tuple[str, ...]]] = {  # where a table stands: its language, and () for all settings
    "README.md": ("zh", ESSENTIAL),
    "README.en.md": ("en", ESSENTIAL),
    "docs/settings.md": ("zh", ()),
    "docs/en/settings.md": ("en", ()),
}
INHERITING = ("models.triage", "models.merge", "models.evolution")  # a blank key uses the historian's


@dataclass(frozen=True)
class Leaf:
    """One setting: its dotted key and its default as .env writes it."""

    key: str
    default: str

    @property
    def variable(self) -> str:
        """Return the variable's name in .env."""
        return PREFIX + self.key.upper().replace(".", "__")


def leaves(group: BaseModel | None = None, prefix: str = "") -> Iterator[Leaf]:
    """Yield every setting with its default."""
    group = Settings() if group is None else group
    for name in type(group).model_fields:
        value = getattr(group, name)
        if isinstance(value, BaseModel):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield Leaf(prefix + name, "" if prefix.removesuffix(".") in INHERITING else _written(value))


def dormant(key: str) -> str:
    """Return the dormant name that a key falls under, or ""."""
    return next((name for name in DORMANT if key == name or key.startswith(name + ".")), "")


def settings_table(language: Language, only: Collection[str] = ()) -> str:
    """Return the table of all settings or some; a group that is dormant as a whole is one row."""
    column = ("zh", "en").index(language)
    rows = [HEADS[language], ("---", "---", "---")]
    for key, default in _rows():
        if only and key not in only:
            continue
        rows.append((f"`{key}`", default, TEXTS[key][column] + (NOT_YET[language] if dormant(key) else "")))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def env_example() -> str:
    """Return .env.example: every setting with its default, commented out."""
    lines = [
        "# 每一项都可以不写；去掉行首的 # 才生效。下面写的是默认值。",
        "# 记忆的文件放在机器人目录的 data/ 下（建议保留这一行，否则同一用户的机器人共用一个目录）：",
        "LOCALSTORE_USE_CWD=true",
    ]
    group = None
    for leaf in leaves():
        above = leaf.key.rpartition(".")[0]
        if above != group:
            lines += ["", f"# --- {above or '总的'} ---{NOT_YET['zh'] if dormant(above) else ''}"]
            group = above
        text = TEXTS.get(leaf.key, ("", ""))[0] + (NOT_YET["zh"] if dormant(leaf.key) == leaf.key else "")
        lines += [f"# {text}"] * bool(text) + [f"# {leaf.variable}={leaf.default}"]
    return "\n".join(lines) + "\n"


def with_table(text: str, language: Language, only: Collection[str] = ()) -> str:
    """Return a text with the table between its markers."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{settings_table(language, only)}\n{END}{after}"


def _rows() -> Iterator[tuple[str, str]]:
    shown: set[str] = set()
    for leaf in leaves():
        name = dormant(leaf.key) or next((group for group in INHERITING if leaf.key.startswith(group)), leaf.key)
        if name not in shown:
            shown.add(name)
            yield name, f"`{leaf.default}`" if name == leaf.key and leaf.default else ""


def _written(value: object) -> str:
    if value is None or isinstance(value, SecretStr):
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    for file, (each, some) in PAGES.items():
        path = ROOT / file
        path.write_text(with_table(path.read_text("utf-8"), each, some), "utf-8")
    (ROOT / ".env.example").write_text(env_example(), "utf-8")
