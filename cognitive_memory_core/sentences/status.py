"""What ``cognitive-memory status`` shows; failed jobs are described in the same words as by ``/memory failed``."""

from __future__ import annotations

NO_FAILED = "没有失败的任务"
FAILED_HEAD = "失败的任务 {count} 个（重试一个：cognitive-memory status --retry 任务号；全部重来：--retry）"
FAILED_LINE = "{id} [{at}] {place}，试了 {attempts} 次：{error}\n    {advice}"
UNREADABLE_PLACE = "读不出来"
DIRECTORY, RUNNING, MODE, HELD, LOG, JOBS = "数据目录", "机器人", "模型", "记忆", "原话", "任务"
SPENT, LAG, OVERRIDES = "今天", "向量", "运行时改过"
IS_RUNNING = "正在运行（下面是账本里已经写下的）"
IS_NOT_RUNNING = "没有在运行"
EVENTS = "{events} 件事（忘掉 {retired}），备忘 {memos}，置顶 {pins}"
LINES = "{messages} 条"
COUNTS = "等着 {pending}，在做 {processing}，失败 {failed}"
SPENDING = "调用模型 {calls} 次，{tokens} 个 token"
LAGGING = "还有 {count} 件事等着算向量"
MODELS = "史官 {historian}；向量 {embedding}"
RULES = "没有配置（规则史官）"
BORROWED = "没有配置（机器人运行时借 {names} 的模型，借不到由规则史官整理）"
SWITCHES = "开关"
SWITCHED = {"off": "不记也不用", "record_only": "只记不用", "recall_only": "只用不记"}
SWITCHED_HERE = "{place} {switched}{until}"
UNTIL = "，到 {until} 为止"
_READ_AGAIN = (
    "任务的文件坏了，直接重试没用：文件在机器人数据目录的 queues/failed/ 里，会改的改好再重试；"
    "不会改就把这个文件删掉，只少这一段整理出的记忆，聊天原话还在"
)
_ADVICE = (  # the first words found in the error decide
    (("密钥", "401", "403", "API_KEY"), "检查密钥和余额，再重试"),
    (("没有这个接口或模型", "API_URL", "MODEL_NAME", "404"), "检查模型的地址和名字，再重试"),
    (("暂时不可用", "连不上", "没有答完", "稍后再试"), "等模型恢复后重试"),
    (("写不进", "磁盘"), "腾出磁盘空间或改好权限，再重试"),
    (("更新的版本",), "升级插件后重试"),
    (("不接受", "过滤", "HTTP 400", "HTTP 413"), "模型不肯处理这段内容：换一个模型再重试，或留着不管，30 天后会清掉"),
)
_OTHERWISE = "重试一次；再失败就带上错误和日志报告问题"


def advice(error: str, *, is_readable: bool) -> str:
    """Return what to do about a failed job."""
    if not is_readable:
        return _READ_AGAIN
    return next((said for words, said in _ADVICE if any(word in error for word in words)), _OTHERWISE)


def place(group_id: str, user_id: str) -> str:
    """Return the name of the place that a job comes from."""
    return f"群 {group_id}" if group_id else f"私聊 {user_id}"
