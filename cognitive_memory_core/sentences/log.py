"""Lines of the log."""

from __future__ import annotations

MESSAGES_DROPPED = "消息来得比写得快，或者账本写不进去：还没写下的消息太多，最早的一些没有记下"
LOG_TOO_LARGE = (
    "消息记录超过 {most:g} MB，最早的 {removed} 条已经删去，以后也这样；"
    "想多留一些就调大 COGNITIVE_MEMORY__CAPTURE__LOG_MAX_MB"
)
CLOCK_HAS_JUMPED = "系统时钟与预计相差 {days} 天；在它连续正常走满一天之前，不清理任何过期数据。请检查系统时间"
PARTS = {  # by the name of their loop; names that are public keywords stay
    "Indexer": "算向量",
    "accounts": "记模型用量",
    "belief index": "群记忆的索引",
    "calibration": "校准向量模型",
    "clock": "系统时钟",
    "embedder": "载入向量模型",
    "clock watch": "看时钟",
    "housekeeping": "清理过期数据",
    "ledger rows": "账本",
    "memory": "记忆",
    "message log": "消息记录",
    "messages": "消息记录",
    "profile index": "侧写的索引",
    "profile names": "侧写里的名字",
    "tallies": "质量报告的计数",
    "vector index": "向量索引",
}
QUEUE_REFUSED = "{refusal}；启动以来没收下 {count} 次"
JOBS_FOUND = "{pending} 个任务等着，{processing} 个做到一半重新做，{failed} 个失败的留着"
JOBS_REMOVED = "失败的任务太多或太久，删掉了：{jobs}"
JOB_TWICE = "任务文件 {worse} 和 {best} 是同一个，删掉了前一个"
PROFILE_LINES_LEFT_OUT = "模型写的侧写里有 {count} 行没有依据，已略去"
PROFILE_FACTS_LEFT = "historian_profile_merge：{count} 条事实没有写进侧写，仍可搜到"
NOT_EMBEDDED = "有一条没有算出向量（{item}）：{reason}"
ROWS_DIFFER = "向量索引和账本差 {rows} 条，正在重建"
INDEX_BUILDS = "开始建第 {generation} 代向量索引，共 {rows} 条"
INDEX_IN_USE = "第 {generation} 代向量索引建好了，已启用"
TIMES_SWAPPED = "time_from 晚于 time_to，已对调"
NOT_COMPRESSED = "总结没做成，改用最近的几句：{reason}"
GROUPS_WAIT = "群记忆：今天的模型调用用完了，{all} 个群里还有 {count} 个等下一轮"
EVOLVED = "群记忆演化了一个群：{message}"

NOT_EVOLVED = "群记忆这一次没能演进：{reason}"
LOOP_CANCELLED = "后台任务被别处的代码取消了，已重新开始"
WORKS_AGAIN = "{name} 恢复了"
PROFILE_LEFT_OUT = "导入：跳过一份侧写：{reason}"
LINE_LEFT_OUT = "导入：跳过第 {number} 行：{reason}"
WAITS_FOR_OWNER = "数据目录 {path} 还被另一个进程占着，最多等它 {seconds:g} 秒"
PURGE_WAITS = "[认知记忆] 已忘记的内容还没从磁盘上抹去，稍后再试（{reason}）"
PART_RESTS = "{part} 连续出错，暂停一会儿再试（{reason}）"
PART_FAILED = "[认知记忆] {part} 连续出错，熔断：{reason}"
PART_HANGS = "[认知记忆] {reason}，先不等它"
PART_DOES_NOT_ANSWER = "{part} 已经 {seconds:g} 秒没有回答"
PART_IS_BACK = "[认知记忆] {part} 恢复了"
LOCAL_MODEL_REFUSED = "本机的向量模型 {name} 用不了（{reason}），改用不带模型的 hash 向量"
LOCAL_RERANKER_REFUSED = "本机的重排模型 {name} 用不了（{reason}），不重排"
NOT_INSTALLED = "没有装，或者文件不全"
LITTLE_MEMORY = "内存只有 {megabytes} MB"
MODEL_TELLS_NOTHING = (
    "[认知记忆] 向量模型分不清同义与不相干（{paraphrase:.3f} 与 {unrelated:.3f}），相关度按一般模型估计"
)
BY_RULES = "模型服务一直不肯回答（{reason}），由规则整理，按 is_absolute=false 存下"
GATE_GAVE_UP = "闸门没有放行 {count} 条改写，按 is_absolute=false 存下"
GATE_QUOTED = "闸门没有放行 {count} 条甄别出来的话，改记所依据的原话"
UNCITED = "甄别出来的话里有 {count} 条没有出处，已丢弃"
