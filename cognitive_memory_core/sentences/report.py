"""The quality report and ``status``; failed jobs are described in the same words as by ``/memory failed``."""

from __future__ import annotations

from collections.abc import Mapping

TITLE = "记忆质量报告"
HEAD = "{at}，开销和计数是最近 {days} 天的；{since}"
COUNTED_SINCE = "从 {day} 起计数"
NEVER_COUNTED = "还没有计数"
GIST = "先看这几条"
ALL_WELL = "没有发现需要处理的事"
STORED, FLAWS, OPPOSED, TEACHERS = "记了什么", "离开那天看不懂的", "改了口的", "谁教得多"
RECALLED, GATE, WAITING, COSTS = "想起过没有", "闸门", "积压", "开销"
MISSED = "该想起却没想起的"
PLACE, LINES, EVENTS, ABSOLUTE, SHOWN = "地方", "原话", "记下的事", "看得懂", "想起过"
COUNT, EXAMPLE, REASON = "条数", "例子", "原因"
OLDER, NEWER, PERSON, SHARE, LINES_SHARE = "旧的", "新的", "谁", "占这里的事", "占这里的原话"
PURPOSE, MODEL, CALLS, TOKENS, ANSWERED, BAD, PRICE = "用途", "模型", "调用", "token", "其中回答", "没答好", "价钱"
KINDS: Mapping[str, str] = {"event": "经过", "preference": "喜好", "knowledge": "知识", "experience": "经验"}
FLAW: Mapping[str, str] = {
    "pronoun": "说的是谁不清楚（他、我、对方）",
    "time": "什么时候不清楚（昨天、下周）",
    "place": "在哪里不清楚（这里、本群）",
    "unsure": "史官自己没有把握",
    "unworded": "没有改写成独立的陈述，照原话存的",
}
REFUSALS: Mapping[str, str] = {
    "pronoun": "代词",
    "time": "相对时间",
    "place": "相对地点",
    "drift": "号码对不上",
    "empty": "空的",
    "too_long": "太长",
    "unfounded": "没有依据",
    "figure": "数字对不上",
    "quote": "引号里的话对不上",
    "profile": "侧写里没有依据的句子",
}
PURPOSES: Mapping[str, str] = {
    "triage": "判断值不值得记",
    "rewrite": "整理",
    "merge": "写侧写",
    "evolution": "演化",
    "compress": "总结",
    "embedding": "向量",
    "rerank": "重排",
}
EXAMINED = "看了最近的 {count} 条"
NOTHING_STORED = "还没有记下什么"
NO_FLAWS = "每一条离开那天都看得懂"
NO_OPPOSED = "没有谁改了口的两条"
OPPOSED_FOUND = "改了口的 {count} 对：同一个人后来的话取代了前面的；旧的那条当时是真的，想起时会标明，不用忘掉"
NO_TEACHERS = "没有哪个群够大，比不出来"
POISONING = "{place}：{who} 教了 {share}，而他的原话只占 {lines}。一个人能左右这里记住什么，请看看他教的事"
NEVER = "{count} 条（{share}）从计数起没有在上下文或搜索里出现过"
NO_COUNT = "还没有计数：想起过没有要等机器人跑一段时间才知道"
REFUSED = "闸门退回 {count} 次改写，多问了模型 {retries} 次"
NOT_REFUSED = "这段时间闸门没有退回过"
BACKLOG = (
    "任务等着 {pending}，在做 {processing}，失败 {failed}；没有向量的事 {vectors} 件；"
    "等着写进侧写的事 {facts} 件{since}"
)
FACTS_SINCE = "，最早的从 {at} 等起"
NO_SPENDING = "这段时间没有调用模型"
TOTAL_PRICE = "合计 {price:.2f}（按设置的单价，单位由你定）"
NO_MODEL_NAMED = "没写模型的，用的是借来的模型；借的是谁的，只有运行着的机器人知道（/记忆 状态）"
NO_PRICE = "没有设置单价：models.*.price 写每百万 token 的价钱，例如 2/8（输入/输出）"
NO_MISSED = "还没有人记下这样的例子"
MARK_VAGUE = "离开那天的聊天就看不懂的有 {count} 条，占 {share}"
MARK_FAILED = "失败的任务 {count} 个"
MARK_LAG = "等着算向量的事有 {count} 件"


NO_FAILED = "没有失败的任务"
FAILED_HEAD = "失败的任务 {count} 个（重试一个：cognitive-memory status --retry 任务号；全部重来：--retry）"
FAILED_LINE = "{id} [{at}] {place}，试了 {attempts} 次：{error}\n    {advice}"
UNREADABLE_PLACE = "读不出来"
DIRECTORY, RUNNING, MODE, HELD, LOG, JOBS = "数据目录", "机器人", "模型", "记忆", "原话", "任务"
SPENT, LAG, OVERRIDES = "今天", "向量", "运行时改过"
IS_RUNNING = "正在运行（下面是账本里已经写下的）"
IS_NOT_RUNNING = "没有在运行"
EVENTS_HELD = "{events} 件事（忘掉 {retired}），备忘 {memos}，置顶 {pins}"
LINES_HELD = "{messages} 条"
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
