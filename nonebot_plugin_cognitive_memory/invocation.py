"""Recognises commands, our own and those of other plugins."""

from __future__ import annotations

import re
from collections.abc import Mapping

from nonebot import get_driver
from nonebot.adapters import Event

NAMES = ("memory", "记忆")
SUBCOMMANDS: Mapping[str, str] = {
    "help": "帮助",
    "status": "状态",
    "list": "列表",
    "search": "搜索",
    "add": "记住",
    "forget": "忘掉",
    "profile": "侧写",
    "group": "群侧写",
    "share": "共享",
    "rollback": "回滚",
}
_BY_WORD = {word: name for name, chinese in SUBCOMMANDS.items() for word in (name, chinese)}
_STARTS = tuple(get_driver().config.command_start)
_SIGNS = "|".join(re.escape(sign) for sign in sorted({"/", *_STARTS}, key=len, reverse=True))
HEAD = rf"(?i:(?:{_SIGNS})(?:{'|'.join(NAMES)}))"
"""The command's name after one of the bot's COMMAND_START signs; "/" is always accepted."""
_CALL = re.compile(rf"\s*(?P<sign>{_SIGNS})(?i:{'|'.join(NAMES)})(?:\s+(?P<word>\S+)|\s*$)")


def is_any_command(event: Event) -> bool:
    """Return whether a message starts like a command of any plugin."""
    text = event.get_plaintext().lstrip()
    return any(start and text.startswith(start) for start in _STARTS) or is_ours(text)


def is_ours(text: str) -> bool:
    """Return whether a text calls ``/memory``; without a sign in front, only if a known subcommand follows."""
    call = _CALL.match(text)
    return call is not None and bool(call["sign"] or not call["word"] or called_subcommand(text))


def called_subcommand(text: str) -> str | None:
    """Return the subcommand that a call names; None if it is unknown."""
    call = _CALL.match(text)
    return _BY_WORD.get((call["word"] or "").lower()) if call else None
