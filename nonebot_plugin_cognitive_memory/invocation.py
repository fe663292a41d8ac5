"""What is a command: ours, and anybody's."""

from __future__ import annotations

import re

from nonebot import get_driver
from nonebot.adapters import Event

NAMES = ("memory", "记忆")
STARTS = tuple(sorted(get_driver().config.command_start, key=len, reverse=True))
"""The bot's COMMAND_START; a "/" in front of our own name is always understood."""
FRONT = "|".join(re.escape(start) for start in sorted({"/", *STARTS}, key=len, reverse=True))
_OURS = re.compile(rf"\s*(?P<front>{FRONT})(?:{'|'.join(NAMES)})(?:\s+(?P<word>\S+)|\s*$)", re.IGNORECASE)


def is_any_command(event: Event) -> bool:
    """Tell whether a message starts like a command of some plugin, or is ours."""
    text = event.get_plaintext().lstrip()
    return any(start and text.startswith(start) for start in STARTS) or is_ours(text)


def is_ours(text: str) -> bool:
    """Tell whether a text calls ``/memory``; without any sign in front only a known word behind it makes it a call."""
    called = _OURS.match(text)
    return called is not None and bool(called["front"] or not called["word"] or called["word"].lower() in WORDS)


SUBCOMMANDS = {
    "help": "帮助",
    "status": "状态",
    "list": "列表",
    "search": "搜索",
    "add": "记住",
    "forget": "忘掉",
}
WORDS = frozenset((*SUBCOMMANDS, *SUBCOMMANDS.values()))
