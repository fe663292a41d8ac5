"""Recognises commands, our own and those of other plugins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

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
LONGEST_WORD = 32  # characters of an unknown subcommand that are compared
_ME = frozenset({"me", "我"})
_BY_WORD: Mapping[str, str] = {
    **{word: name for name, chinese in SUBCOMMANDS.items() for word in (name, chinese)},
    **dict.fromkeys(("忘了我", "删掉我"), "forget_me"),
    **dict.fromkeys(("纠正", "改"), "correct"),
    "删除": "forget",
    "查找": "search",
    "画像": "profile",
    "关闭": "off",
}
_STARTS = tuple(get_driver().config.command_start)
_WORD_CHARACTER = re.compile("[A-Za-z0-9_]")  # "/chatlog" does not call "chat"
_SIGNS = "|".join(re.escape(sign) for sign in sorted({"/", "／", *_STARTS} - {""}, key=len, reverse=True))
_MAY_LACK_SIGN = "?" if "" in _STARTS else ""
_NAMES = "|".join(NAMES)
_CHINESE = "|".join(  # "/记忆关于" does not call "关"
    word if len(word) > 1 else rf"{word}(?=\s|\d|\Z)"
    for word in sorted(_BY_WORD, key=len, reverse=True)
    if not word.isascii()
)
HEAD = rf"(?i:(?:{_SIGNS}){_MAY_LACK_SIGN}(?:{_NAMES}))"
"""The command's name after one of the bot's COMMAND_START signs; "/" and "／" are always accepted."""
_CALL = re.compile(
    rf"\s*(?:(?P<sign>{_SIGNS})\s*){_MAY_LACK_SIGN}(?P<name>(?i:{_NAMES}))"
    rf"(?:(?:\s+|(?<=记忆))(?P<known>{_CHINESE})|\s+(?P<word>[^\s\d]+)|(?=\s|\Z))(?P<rest>.*)\Z",
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
    subcommand, rest = called_subcommand(text), call["rest"]
    if not rest.strip():
        return subcommand is not None or not call["word"]
    return subcommand in WITH_ARGUMENTS and (rest[0].isspace() or rest[0].isdigit())


def called_subcommand(text: str) -> str | None:
    """Return the subcommand that a ``/memory`` command names; None if it is unknown."""
    call = _CALL.match(text)
    subcommand = _BY_WORD.get(_word(call)) if call else None
    return "forget_me" if subcommand == "forget" and call and call["rest"].strip().casefold() in _ME else subcommand


def nearest_subcommand(text: str) -> str | None:
    """Return the subcommand that is most like the unknown one of a ``/memory`` command; None if none is like it."""
    call = _CALL.match(text)
    like = get_close_matches(_word(call)[:LONGEST_WORD], _BY_WORD, n=1, cutoff=0.5) if call else []
    return _BY_WORD[like[0]] if like else None


def in_standard_form(text: str) -> str:
    """Return a ``/memory`` command in its documented form: one sign, the English subcommand, single spaces."""
    call = _CALL.match(text)
    if call is None:
        return text
    subcommand, rest = called_subcommand(text), call["rest"]
    if subcommand == "forget_me" and rest.strip().casefold() in _ME:
        rest = ""
    parts = ((call["sign"] or "").replace("／", "/") + call["name"], subcommand or _word(call))
    return " ".join(filter(None, parts)) + (rest if not rest or rest[0].isspace() else f" {rest}")


def _word(call: re.Match[str]) -> str:
    return (call["known"] or call["word"] or "").casefold()
