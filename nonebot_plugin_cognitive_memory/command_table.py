"""The table of commands, and how a message that calls one is recognised, ours or another plugin's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from nonebot import get_driver

NAMES = ("memory", "记忆")
_NUMBER, _TEXT = r"(?P<number>-?[0-9]{1,40})", r"(?P<text>.*)"
AS_TEXT = r"(?P<text>(?i:-t|--text|text|文字))?"


@dataclass(frozen=True)
class Command:
    """A subcommand: its names, the pattern of what follows it, where and for whom it is, and the function it calls.

    ``words`` are its Chinese names, the documented one first. ``handler`` is ``module.function`` in ``commands/``,
    loaded at the first call. In a private chat the commands of admins are everybody's, except those of groups only.
    "owners": superusers, and the owner of a group where a superuser allowed it; the function checks this.
    """

    name: str
    words: tuple[str, ...]
    handler: str
    takes: str = ""
    who: Literal["anyone", "admins", "owners", "superusers"] = "anyone"
    place: Literal["anywhere", "group", "private"] = "anywhere"


COMMANDS: Mapping[str, Command] = {
    command.name: command
    for command in (
        Command("help", ("帮助",), "places.show_help"),
        Command("status", ("状态",), "places.show_status", AS_TEXT),
        Command("list", ("列表",), "memories.list_events", rf"(?P<text>已忘|忘掉的|(?i:forgotten))?\s*(?:{_NUMBER})?"),
        Command("show", ("详情",), "memories.show_item", _NUMBER),
        Command("search", ("搜索", "查找"), "memories.search_events", _TEXT),
        Command("add", ("记住",), "memories.add_pin", _TEXT),
        Command("pins", ("置顶列表",), "memories.list_pins"),
        Command("forget", ("忘掉", "删除"), "memories.forget_item", _NUMBER),
        Command("forget_me", ("忘记我", "忘了我", "删掉我"), "people.forget_me"),
        Command("correct", ("更正", "纠正", "改"), "memories.correct_item", rf"{_NUMBER}\s+{_TEXT}"),
        Command("profile", ("侧写", "画像"), "people.show_profile", AS_TEXT),
        Command("group", ("群侧写",), "people.show_profile", AS_TEXT),
        Command("share", ("共享",), "people.share_profile", r"(?P<text>(?i:on|off)|开|关)"),
        Command("catchup", ("爬楼",), "memories.catch_up", _TEXT),
        Command("why", ("为什么",), "memories.why"),
        Command("consider", ("整理",), "places.consider_now"),
        Command("export", ("导出",), "people.export_own", place="private"),
        Command("optout", ("别记我",), "people.set_consent"),
        Command("optin", ("可以记我",), "people.set_consent"),
        Command("incognito", ("无痕",), "people.go_incognito", _TEXT),
        Command("on", ("开",), "places.switch", _TEXT, "admins"),
        Command("off", ("关", "关闭"), "places.switch", _TEXT, "admins"),
        Command("record", ("只记",), "places.switch", _TEXT, "admins"),
        Command("recall", ("只忆",), "places.switch", _TEXT, "admins"),
        Command("beliefs", ("群记忆",), "places.list_beliefs", f"(?:{_NUMBER})?", "admins", "group"),
        Command("history", ("演进",), "places.show_history", _NUMBER, "admins", "group"),
        Command("changes", ("变更",), "places.show_changes", f"(?:{_NUMBER})?", "admins", "group"),
        Command("evolve", ("演化",), "places.evolve", f"(?:{_NUMBER})?", "admins", "group"),
        Command("retire", ("淘汰",), "places.retire", _NUMBER, "admins", "group"),
        Command("restore", ("恢复",), "places.restore", _NUMBER),  # of a belief: admins
        Command("suggestions", ("建议",), "places.suggest", _TEXT, "admins", "group"),
        Command("summarize", ("总结",), "places.summarize", f"(?:{_NUMBER})?", "admins"),
        Command("pin", ("置顶",), "memories.add_pin", _TEXT, "admins", "group"),
        Command("clear", ("清空",), "places.clear", who="admins"),
        Command("backfill", ("补课",), "backfill.take_in", rf"{_NUMBER}|(?P<text>\S*)", "owners"),
        Command("stats", ("统计",), "operating.show_stats", AS_TEXT, "superusers"),
        Command("daily", ("日报",), "scheduled.show_daily", AS_TEXT, "superusers", "private"),
        Command("queue", ("队列",), "operating.show_queue", who="superusers"),
        Command("failed", ("失败",), "operating.show_failed", who="superusers"),
        Command("retry", ("重试",), "operating.retry", r"(?P<text>\S*)", "superusers"),
        Command("reindex", ("重建索引",), "operating.reindex", who="superusers"),
        Command("view", ("查看",), "people.view_profile", _TEXT, "superusers"),
        Command("rollback", ("回滚",), "people.roll_back", _TEXT, "superusers"),
        Command("config", ("配置",), "operating.configure", _TEXT, "superusers"),
        Command("pause", ("停",), "operating.suspend", who="superusers"),
        Command("resume", ("启",), "operating.suspend", who="superusers"),
        Command("console", ("控制台",), "operating.give_code", who="superusers", place="private"),
    )
}
LONGEST_WORD = 32  # characters of an unknown subcommand that are compared
_ME = frozenset({"me", "我"})
_BY_WORD = {word: command for command in COMMANDS.values() for word in (command.name, *command.words)}
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
_CALL = re.compile(
    rf"\s*(?:(?P<sign>{_SIGNS})\s*){_MAY_LACK_SIGN}(?P<name>(?i:{_NAMES}))"
    rf"(?:(?:\s+|(?<=记忆))(?P<known>{_CHINESE})|\s+(?P<word>[^\s\d]+)|(?=\s|\Z))(?P<rest>.*)\Z",
    re.DOTALL,
)


def is_any_command(text: str) -> bool:
    """Return whether a text without leading spaces begins like a command of any plugin."""
    return unsigned(text) != text or is_ours(text)


def chat_text(plain: str, text: str, chat_commands: Iterable[str], *, is_chat: bool = False) -> str | None:
    """Return what a message says if it is chat; None if it is a command.

    ``plain`` is its plain text, ``text`` what is stored of it. A command among ``chat_commands`` is chat without its
    name, any other chat without its command sign; ``is_chat``: so is whatever does not call ``/memory``.
    """
    said = plain.lstrip()
    if is_ours(said) or not (is_chat or unsigned(said) == said or words_after(said, chat_commands) is not None):
        return None
    words = words_after(text, chat_commands)
    return unsigned(text) if words is None else words


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
    command, said = called(text)
    if command is None or not said:
        return command is not None
    return bool(command.takes) and (call["rest"][0].isspace() or call["rest"][0].isdigit())


def called(text: str) -> tuple[Command | None, str]:
    """Return the subcommand of a ``/memory`` command, None if it is unknown, and the text behind it."""
    call = _CALL.match(text)
    if call is None:
        return None, ""
    said = call["rest"].strip()
    word = _word(call) or ("" if said else "help")
    if word in _BY_WORD and _BY_WORD[word].name == "forget" and said.casefold() in _ME:
        return COMMANDS["forget_me"], ""
    return _BY_WORD.get(word), said


def nearest(text: str) -> Command | None:
    """Return the subcommand that is most like the unknown one of a ``/memory`` command; None if none is like it."""
    call = _CALL.match(text)
    like = get_close_matches(_word(call)[:LONGEST_WORD], _BY_WORD, n=1, cutoff=0.5) if call else []
    return _BY_WORD[like[0]] if like else None


def _word(call: re.Match[str]) -> str:
    return (call["known"] or call["word"] or "").casefold()
