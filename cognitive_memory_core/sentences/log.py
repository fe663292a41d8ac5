"""Lines of the log."""

from __future__ import annotations

MESSAGES_DROPPED = "消息来得比写得快，或者账本写不进去：还没写下的消息太多，最早的一些没有记下"
LOG_TOO_LARGE = (
    "消息记录超过 {most:g} MB，最早的 {removed} 条已经删去，以后也这样；"
    "想多留一些就调大 COGNITIVE_MEMORY__CAPTURE__LOG_MAX_MB"
)
CLOCK_HAS_JUMPED = "系统时钟与预计相差 {days} 天；在它连续正常走满一天之前，不清理任何过期数据。请检查系统时间"
WAITS_FOR_OWNER = "数据目录 {path} 还被另一个进程占着，最多等它 {seconds:g} 秒"
PURGE_WAITS = "[认知记忆] 已忘记的内容还没从磁盘上抹去，稍后再试（{reason}）"
PART_RESTS = "{part} 连续出错，暂停一会儿再试（{reason}）"
PART_FAILED = "[认知记忆] {part} 连续出错，熔断：{reason}"
PART_DOES_NOT_ANSWER = "{part} 已经 {seconds:g} 秒没有回答"
PART_HANGS = "[认知记忆] {reason}，先不等它"
PART_IS_BACK = "[认知记忆] {part} 恢复了"
MODEL_TELLS_NOTHING = (
    "[认知记忆] 向量模型分不清同义与不相干（{paraphrase:.3f} 与 {unrelated:.3f}），相关度按一般模型估计"
)
GATE_GAVE_UP = "闸门没有放行 {count} 条改写，按 is_absolute=false 存下"
GATE_QUOTED = "闸门没有放行 {count} 条甄别出来的话，改记所依据的原话"
UNCITED = "甄别出来的话里有 {count} 条没有出处，丢弃"
