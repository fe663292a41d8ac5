"""Detection of commands to a bot, and of orders about its memory."""

from __future__ import annotations

from ..characters import folded
from ..patterns import Pattern

_READ = 300  # characters of a text
_COMMAND = Pattern(r"[/／][^\s/／]|[.!#][a-z]+(?:\s|$)")
_OF_MEMORY = Pattern(
    "(?:删(?:除|掉|了|光)?|清(?:空|除|掉|零)|忘(?:掉|记|了)?|抹(?:掉|去|除)|重置|覆盖|改写|作废)[^，。！!？?\\n]{0,8}"
    "(?:记忆|群记忆|记录|设定|规则|规矩|所有|全部|一切|memory|memories)"
    "|(?:把|将)[^，。！!？?\\n]{0,12}(?:记忆|群记忆|规则|规矩)[^，。！!？?\\n]{0,8}(?:删|清|忘|抹|改|作废)"
    "|(?:记忆|记住|记下|写进记忆|写入记忆)[：:，,、]|请?(?:记住|记下|牢记)[^，。！!？?\\n]{0,4}(?:以后|今后|从|我|管理)"
    "|(?:delete|erase|wipe|forget|reset) (?:all|every|the|your)[^.!?\\n]{0,20}(?:memor|rule|belief)"
)


def is_command(text: str) -> bool:
    """Return whether a line begins like a command to a bot."""
    return bool(_COMMAND.compiled.match(folded(text[:_READ]).strip()))


def orders_memory(text: str) -> bool:
    """Return whether a line tells a bot what to remember or to forget."""
    return bool(_OF_MEMORY.compiled.search(folded(text[:_READ])))
