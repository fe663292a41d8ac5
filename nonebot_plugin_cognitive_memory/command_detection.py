"""Recognises commands, our own and those of other plugins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from nonebot import get_driver
from nonebot.adapters import Event

NAMES = ("memory", "记忆")
SUBCOMMANDS: Mapping[str, str] = {
    "help": "帮助",
    "status": "状态",
    "list": "列表",
    "show": "详情",
    "search": "搜索",
    "add": "记住",
    "pins": "置顶列表",
    "forget": "忘掉",
    "forget_me": "忘记我",
    "correct": "更正",
    "profile": "侧写",
    "group": "群侧写",
    "share": "共享",
    "consider": "整理",
    "export": "导出",
    "optout": "别记我",
    "optin": "可以记我",
    "incognito": "无痕",
    "on": "开",
    "off": "关",
    "record": "只记",
    "recall": "只忆",
    "beliefs": "群记忆",
    "history": "演进",
    "changes": "变更",
    "evolve": "演化",
    "retire": "淘汰",
    "restore": "恢复",
    "suggestions": "建议",
    "summarize": "总结",
    "pin": "置顶",
    "clear": "清空",
    "stats": "统计",
    "queue": "队列",
    "failed": "失败",
    "retry": "重试",
    "reindex": "重建索引",
    "view": "查看",
    "rollback": "回滚",
    "config": "配置",
    "pause": "停",
    "resume": "启",
    "console": "控制台",
}
WITH_ARGUMENTS = frozenset(
    {
        *("status", "list", "show", "search", "add", "forget", "correct", "profile", "group", "share", "incognito"),
        *("beliefs", "history", "changes", "evolve", "retire", "restore", "suggestions"),
        *("on", "off", "record", "recall", "summarize", "pin", "stats", "retry", "view", "rollback", "config"),
    }
)
_BY_WORD = {word: name for name, chinese in SUBCOMMANDS.items() for word in (name, chinese)}
_STARTS = tuple(get_driver().config.command_start)
_WORD_CHARACTER = re.compile("[A-Za-z0-9_]")  # "/chatlog" does not call "chat"
_SIGNS = "|".join(re.escape(sign) for sign in sorted({"/", "／", *_STARTS}, key=len, reverse=True))
_NAMES = "|".join(NAMES)
_GLUED = "|".join(sorted(map(re.escape, SUBCOMMANDS.values()), key=len, reverse=True))
HEAD = rf"(?i:(?:{_SIGNS})(?:{_NAMES}))"
"""The command's name after one of the bot's COMMAND_START signs; "/" and "／" are always accepted."""
_CALL = re.compile(
    rf"\s*(?P<head>(?P<sign>{_SIGNS})(?i:{_NAMES}))"
    rf"(?:(?:\s+(?P<word>[^\s\d]+)|(?<=记忆)(?P<glued>{_GLUED}))(?=\s|\d|\Z)|(?=\s|\Z))(?P<rest>.*)\Z",
    re.DOTALL,
)


def is_any_command(event: Event) -> bool:
    """Return whether a message starts like a command of any plugin."""
    text = event.get_plaintext().lstrip()
    return any(start and text.startswith(start) for start in _STARTS) or is_ours(text)


def unsigned(text: str) -> str:
    """Return a text without the command sign at its start, with which the historian would take it for a command."""
    return next((text[len(start) :] for start in _STARTS if start and text.startswith(start)), text)


def words_after(text: str, commands: Iterable[str]) -> str | None:
    """Return the text after the one of these commands that it calls; None if it calls none of them."""
    called = unsigned(text)
    if called == text:
        return None
    for name in sorted(filter(None, commands), key=len, reverse=True):
        rest = called.removeprefix(name)
        if rest != called and not (_WORD_CHARACTER.match(name[-1]) and _WORD_CHARACTER.match(rest)):
            return rest.strip()
    return None


def is_ours(text: str) -> bool:
    """Return whether a text calls ``/memory``.

    Without a command sign, the text must be the name alone, or the name and a subcommand with its arguments.
    """
    call = _CALL.match(text)
    if call is None or call["sign"]:
        return call is not None
    subcommand, has_rest = called_subcommand(text), bool(call["rest"].strip())
    if subcommand is None:
        return not call["word"] and not has_rest
    return not has_rest or subcommand in WITH_ARGUMENTS


def called_subcommand(text: str) -> str | None:
    """Return the subcommand that a ``/memory`` command names; None if it is unknown."""
    call = _CALL.match(text)
    return _BY_WORD.get((call["word"] or call["glued"] or "").casefold()) if call else None


def in_standard_form(text: str) -> str:
    """Return a ``/memory`` command in its documented form: one sign, the subcommand in lower case, single spaces."""
    call = _CALL.match(text)
    if call is None:
        return text
    word = (call["word"] or call["glued"] or "").casefold()
    return " ".join(part for part in (call["head"].replace("／", "/"), word) if part) + _spaced(call["rest"])


def _spaced(rest: str) -> str:
    return f" {rest}" if rest[:1].isdigit() else rest
