"""Log lines about the console, and replies to ``/memory console``; the texts of the pages are in ``console_zh``."""

from __future__ import annotations

MOUNTED = "控制台在 {path}：用 COGNITIVE_MEMORY__HTTP__TOKEN 登录，或者私聊发 /记忆 控制台 拿一次性登录码"
NEEDS_JINJA = (
    "控制台要 Jinja：pip install 'nonebot-plugin-cognitive-memory[console]'；"
    "不要控制台就写 COGNITIVE_MEMORY__HTTP__CONSOLE=false"
)
CODE = (
    "控制台登录码：{code}\n{minutes} 分钟内有效，只能用一次，不要转给别人。"
    "打开机器人地址后面的 {path}（在机器人这台机器上是 {address}）"
)
CLOSED = (
    "控制台没有开：要用 FastAPI 驱动，.env 里写 COGNITIVE_MEMORY__HTTP__TOKEN=一串随机字符，"
    "COGNITIVE_MEMORY__HTTP__CONSOLE 不能是 false，并装好 nonebot-plugin-cognitive-memory[console]；改完重启"
)
