"""Replies to ``/memory backfill``, for people."""

from __future__ import annotations

STOP = frozenset({"停", "取消", "stop"})
ALLOW, FORBID = frozenset({"允许", "allow"}), frozenset({"不许", "forbid"})
OPERATOR_ONLY = "补课要机器人管理员来做；他在这个群发一次 /记忆 补课 允许，群主也可以"
ALLOWED = "好，这个群的群主以后也可以补课；收回发送 /记忆 补课 不许"
FORBIDDEN = "好，这个群只有机器人管理员可以补课"
ALREADY = "这里正在补课，停下来发送 /记忆 补课 停"
NOTHING_TO_STOP = "这里没有在补课"
STOPPING = "好，读完手上这一页就停"
NOT_RECORDED = "这里现在不记（关着、只忆，或设置里不记），所以不补课"
NOT_TOLD = "群里还没有人知道我会记，而说明发不出去，所以不补课；请稍后再试"
ONLY_V11 = "OneBot v12 没有读历史消息的动作，补不了；可以导出聊天记录，用 cognitive-memory import-chat 导入"
STARTED = "开始补课：从最新的往前读 {wanted} 句，读到哪儿会说；停下来发送 /记忆 补课 停"
PROGRESS = "补课：读了 {seen} / {wanted} 句，新记下 {taken} 句"
ENDED = "补课完了，读了 {seen} 句：{summary}。从最早的开始整理，慢慢来"
STOPPED = "停下了，读了 {seen} 句：{summary}。再发一次 /记忆 补课 会接着补"
REFUSED = "协议端不给更早的了（{reason}），读了 {seen} 句：{summary}。再发一次 /记忆 补课 会接着补，已经记下的不会重复"
