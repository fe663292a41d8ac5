"""Words of the quality report."""

from __future__ import annotations

from collections.abc import Mapping

TITLE = "记忆质量报告"
HEAD = "{at}，开销和计数是最近 {days} 天的；{since}"
COUNTED_SINCE = "从 {day} 起计数"
NEVER_COUNTED = "还没有计数"
GIST = "先看这几条"
ALL_WELL = "没有发现需要处理的事"
STORED, FLAWS, TWICE, OPPOSED, TEACHERS = "记了什么", "离开那天看不懂的", "重复和近似", "改了口的", "谁教得多"
RECALLED, GATE, WAITING, COSTS, LATENCY, KEPT = "想起过没有", "闸门", "积压", "开销", "想起要多久", "消息留多久"
MISSED = "该想起却没想起的"
PLACE, LINES, EVENTS, ABSOLUTE, SHOWN = "地方", "原话", "记下的事", "看得懂", "想起过"
COUNT, EXAMPLE, REASON = "条数", "例子", "原因"
OLDER, NEWER, LIKENESS, PERSON, SHARE, LINES_SHARE = "旧的", "新的", "近似", "谁", "占这里的事", "占这里的原话"
PURPOSE, MODEL, CALLS, TOKENS, ANSWERED, BAD, PRICE = "用途", "模型", "调用", "token", "其中回答", "没答好", "价钱"
READ, TIMES, HALF, MOST = "哪一种", "次数", "一半在", "95% 在"
DAYS, GONE_LINES, GONE_SHARE = "只留几天", "会没了的原话", "占全部"
NOW = "（现在）"
NOBODY = "好几个人"
HIDDEN = "某位成员"
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
    "drift": "编号漂移",
    "empty": "空的",
    "too_long": "太长",
    "unfounded": "没有依据",
    "language": "换了语言",
    "amount": "数量对不上",
    "polarity": "肯定否定反了",
    "question": "把问句当成事实",
    "figure": "数字对不上",
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
READS: Mapping[str, str] = {"context": "每轮的上下文", "search": "搜索"}
EXAMINED = "比较了最近的 {count} 条"
CUT = "有的地方近似的太多，没有全数"
NOTHING_STORED = "还没有记下什么"
NOTHING_EXAMINED = "这次没有比较文字"
NO_FLAWS = "每一条离开那天都看得懂"
SAME_WORDS = "一字不差、由别人又说了一遍的 {count} 条；近似的 {near} 对"
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
NO_PRICE = "没有设置单价：models.*.price 写每百万 token 的价钱，例如 2/8（给的/写的）"
MERGES = "每次判断引出 {count:.2f} 次写侧写"
NO_LATENCY = "还没有量到"
WITHIN = "{bound} 毫秒以内"
BEYOND = "5 秒以上"
LOG_DAYS = "现在留 {days} 天"
NO_MISSED = "还没有人记下这样的例子"
CALLS_BY_DAY, EVENTS_BY_PLACE = "每天调用模型的次数", "各处记下的事"
LATENCIES, GONE_BY_DAYS = "上下文用的毫秒", "只留几天会没了的原话"
MARK_VAGUE = "离开那天的聊天就看不懂的有 {count} 条，占 {share}"
MARK_TWICE = "近似的事有 {count} 对，可以忘掉一些"
MARK_FAILED = "失败的任务 {count} 个"
MARK_LAG = "等着算向量的事有 {count} 件"
REPORT_SUMMARY = "记忆的质量：重复、矛盾、看不懂的、没人想起的、开销（可以和机器人同时用）"
HTML_OPTION = "写成一个网页文件（不联网也能看）"
DAYS_OPTION = "开销和计数看最近几天，默认 30"
WRITTEN = "写好了：{path}"
