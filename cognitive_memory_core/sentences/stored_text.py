"""Text that the core writes into profiles and statements when it stores them, and functions that parse it."""

from __future__ import annotations

from collections.abc import Mapping

PROFILE_HEADINGS: Mapping[str, str] = {  # the headings of a profile, in the order in which they are written
    "role": "身份",
    "interests": "兴趣",
    "style": "风格",
    "topics": "近期话题",
    "tools": "常用工具",
    "pain_points": "困扰",
}
GROUP_HEADINGS: Mapping[str, str] = {  # the same for the profile of a group
    "rules": "规矩",
    "state": "现状",
    "topics": "话题",
    "members": "成员",
}
EARLIER_GROUP_HEADINGS: Mapping[str, str] = {  # a group's profile once had a person's headings
    "身份": "现状",
    "兴趣": "话题",
    "风格": "现状",
    "近期话题": "话题",
    "常用工具": "现状",
    "困扰": "现状",
}


def headings(*, is_group: bool) -> Mapping[str, str]:
    """Return the headings of a profile by the names that a model uses for them."""
    return GROUP_HEADINGS if is_group else PROFILE_HEADINGS


SOMEBODY = "某位成员"
RULE_TAGS = frozenset(("规矩", "禁忌"))  # of beliefs on what a group allows
OF_ADMIN = "[管理]"  # behind the name of an admin whose word a fact of the group is
BOT, BOT_NOTED = "机器人", "机器人记"  # who said or noted a quoted line
BELIEF_WITHDRAWN = "依据的消息都撤回或忘掉了"
QUOTED_CLAUSE = "“{clause}”"
NOTHING_SHOWN = "（内容无法显示）"
_LEFT_OUT = ("（更早的 ", " 条没有列在这里，仍可搜到）")
_LEFT_OUT_DIGITS = 8


def left_out_lines(count: int) -> str:
    """Return the line of a profile that states how many older lines were left out."""
    return f"{_LEFT_OUT[0]}{count}{_LEFT_OUT[1]}"


def left_out_count(line: str) -> int | None:
    """Parse a line made by :func:`left_out_lines`; None for any other line."""
    count = line.strip().removeprefix(_LEFT_OUT[0]).removesuffix(_LEFT_OUT[1])
    is_figure = count.isdecimal() and count.isascii() and len(count) <= _LEFT_OUT_DIGITS
    return int(count) if is_figure and line.strip() == left_out_lines(int(count)) else None


_NOTED_ON = ("（记于 ", "）")


def noted_on(text: str, day: str) -> str:
    """Return a line of a profile with its date, as the rules write it."""
    return f"- {text}{_NOTED_ON[0]}{day}{_NOTED_ON[1]}"


def noted(line: str) -> tuple[str, str] | None:
    """Parse a line made by :func:`noted_on` into text and day; None for any other line."""
    text, mark, day = line.removeprefix("- ").removesuffix(_NOTED_ON[1]).rpartition(_NOTED_ON[0])
    is_day = len(day) == len("2026-03-04") and day.isascii() and day.replace("-", "").isdecimal()
    return (text, day) if mark and is_day and line == noted_on(text, day) else None
