"""What each metric says, and a log line about them."""

from __future__ import annotations

from collections.abc import Mapping

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
