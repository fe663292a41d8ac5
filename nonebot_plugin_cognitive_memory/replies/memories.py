"""Replies that show what is remembered: lists, search results and details of events, pins and lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

import cognitive_memory_core as core

from .commands import NO_PAGE, NOTHING_FORGOTTEN, short

LATEST = 20  # lines shown instead of a summary
SOURCES = 8  # lines that an item's details quote


def item_list(  # everything that a page shows
    pins: Sequence[core.Pin],
    events: Sequence[core.Event],
    shown: Showing,
    *,
    first: int,
    page: int,
    is_more: bool,
) -> str:
    """List pins and events under their own headings, numbered from ``first``."""
    lines: list[str] = []
    if pins:
        lines += ["置顶", *(_numbered_pin(number, pin) for number, pin in enumerate(pins, first))]
    if events:
        at = f"第 {page} 页；" if page > 1 or is_more else ""
        first_number = first + len(pins)
        lines.append(f"这里记住的事（{at}看全文发 /记忆 详情 {first_number}，忘掉发 /记忆 忘掉 {first_number}）")
        lines += [shown.numbered(number, event) for number, event in enumerate(events, first_number)]
    if is_more:
        lines.append(f"下一页：/记忆 列表 {page + 1}")
    return "\n".join(lines)


def forgotten_list(events: Sequence[core.Event], shown: Showing, *, first: int, page: int, is_more: bool) -> str:
    """List the events that the asker forgot, numbered from ``first``."""
    if not events:
        return NOTHING_FORGOTTEN if page == 1 else NO_PAGE.format(page=page)
    lines = [f"你忘掉的事，30 天内能恢复（恢复发 /记忆 恢复 {first}）"]
    lines += [shown.numbered(number, event) for number, event in enumerate(events, first)]
    return "\n".join((*lines, *([f"下一页：/记忆 列表 已忘 {page + 1}"] if is_more else [])))


def forgotten(event: core.Event, *, is_own: bool) -> str:
    """Confirm that an event is forgotten; ``is_own``: the asker said it, and therefore may restore it."""
    until = "30 天内可以恢复：/记忆 列表 已忘，之后彻底删除" if is_own else "30 天后彻底删除"
    return f"忘掉了：{short(_END_DATE.sub('', _named(event)))}\n以后不会再想起来；{until}"


def restored(event: core.Event) -> str:
    """Confirm that an event is remembered again."""
    return f"恢复了：{short(_END_DATE.sub('', _named(event)))}"


def pin_list(pins: Sequence[core.Pin], zone: tzinfo) -> str:
    """List pins with their dates, numbered from 1."""
    if not pins:
        return "还没有置顶：发送 /记忆 记住 内容"
    lines = [
        f"{_numbered_pin(number, pin)}（{pin.pinned_at.astimezone(zone):%Y-%m-%d} 记下）"
        for number, pin in enumerate(pins, 1)
    ]
    return "\n".join(("置顶（序号看这里；去掉第 1 条发 /记忆 忘掉 1，改它发 /记忆 更正 1 新的内容）", *lines))


def found(
    pins: Sequence[core.Pin],
    events: Sequence[core.Event],
    messages: Sequence[core.Event],
    shown: Showing,
) -> str:
    """List the pins and events that a search found, numbered from 1, then unnumbered lines of the log."""
    numbered_pins = [_numbered_pin(number, pin) for number, pin in enumerate(pins, 1)]
    numbered = [shown.numbered(number, event) for number, event in enumerate(events, 1 + len(pins))]
    said = [shown.line(message) for message in messages]
    parts = [
        ("置顶", numbered_pins),
        ("找到这些（忘掉：/记忆 忘掉 序号）", numbered),
        ("相关的原话", said),
    ]
    return (
        "\n".join(line for title, lines in parts if lines for line in (title, *lines))
        or "没有找到相关的记忆；换个说法试试，或看 /记忆 列表"
    )


def event_details(number: int, event: core.Event, lines: Sequence[core.Message], shown: Showing) -> str:
    """Show one event in full: who said it, when, where and how often, its lines, and how to change it by its number."""
    told = [shown.full(event), f"{shown.dated(event)} {shown.placed(event)}{shown.speaker(event)} 说的"]
    if event.count > 1:
        told.append(f"说过 {event.count} 次")
    told += [
        f"{name}：{text}"
        for name, text in (("问题", event.pain), ("办法", event.solution), ("结果", event.outcome))
        if text
    ]
    if not event.is_absolute and not event.quotes:
        told.append("这条没能说清是谁或什么时候，只作参考")
    distinct = list({(line.scene.user_id, line.text): line for line in lines}.values())
    if event.sender_id and event.quotes:
        told.append("原话：")
        for quote in event.quotes[:SOURCES]:
            at = f"{quote.sent_at.astimezone(shown.zone):%m-%d %H:%M} " if quote.sent_at else ""
            named = (quote.sender_name or f"QQ({quote.sender_id})") if quote.sender_id else "机器人"
            told.append(f"{at}{named}：{short(quote.text)}")
    elif distinct:
        told.append("出自（同样的话只列一次）：" if event.count > 1 else "出自：")
        told += [
            f"{line.sent_at.astimezone(shown.zone):%m-%d %H:%M} {speaker_of(line)}：{short(line.text)}"
            for line in distinct[:SOURCES]
        ]
    told.append(f"改它：/记忆 更正 {number} 新的说法；忘掉：/记忆 忘掉 {number}")
    return "\n".join(told)


def latest_lines(lines: Sequence[core.Message]) -> str:
    """Show the newest lines instead of a summary, if no model is set."""
    said = [f"{speaker_of(line)}：{short(line.text)}" for line in lines[-LATEST:]]
    return "\n".join(("没有接大模型，写不了总结；最近说的是：", *said))


def pin_details(pin: core.Pin, zone: tzinfo) -> str:
    """Show one pin in full."""
    whose = "你的置顶" if pin.owner_id else "全群的置顶"
    return f"{pin.text}\n{whose}，{pin.pinned_at.astimezone(zone):%Y-%m-%d %H:%M}"


def speaker_of(line: core.Message) -> str:
    """Return who said a line: the bot, or a person by name or id."""
    return "机器人" if line.is_bot else line.scene.user_name or f"QQ({line.scene.user_id})"


@dataclass(frozen=True)
class Showing:
    """How events are shown to the person of ``scene``: times in ``zone``, other groups by their names in ``groups``."""

    scene: core.Scene
    zone: tzinfo
    groups: Mapping[str, str]

    def numbered(self, number: int, event: core.Event) -> str:
        """Show an event under its number, people by their names alone."""
        return f"{number}. {self.dated(event)} {self.placed(event)}{short(self._explained(event, _named(event)))}"

    def full(self, event: core.Event) -> str:
        """Return the whole text of an event; in a group, people by their names alone."""
        return self._explained(event, _named(event) if self.scene.group_id else event.text)

    def speaker(self, event: core.Event) -> str:
        """Return the speaker of an event: in a group the name; elsewhere, or if the name is unknown, name and id."""
        return (event.sender_name if self.scene.group_id else "") or core.tools.speaker(event)

    def _explained(self, event: core.Event, text: str) -> str:
        """Mark a date at the end of a text as the date meant; remove it if it is the day on which the text was said."""
        said = event.happened_at.astimezone(self.zone)
        return _END_DATE.sub(lambda date: "" if date[1] == f"{said:%Y-%m-%d}" else f"（指 {date[1]}）", text)

    def line(self, message: core.Event) -> str:
        """Show a line of the log that a search found."""
        who = message.sender_name or core.tools.speaker(message)
        return f"{self.dated(message)} {self.placed(message)}{who}：{short(_named(message))}"

    def dated(self, event: core.Event) -> str:
        """Return when an event was, in brackets: month, day and time in the current year, else the date."""
        at = event.happened_at.astimezone(self.zone)
        return f"[{at:%m-%d %H:%M}]" if at.year == datetime.now(self.zone).year else f"[{at:%Y-%m-%d}]"

    def placed(self, event: core.Event) -> str:
        """Return the group of an event in brackets, "" if it is shown in that group or has none."""
        if not event.group_id or event.group_id == self.scene.group_id:
            return ""
        name = self.groups.get(event.group_id, "")
        return f"（{name}）" if name else f"（群 {event.group_id}）"


_END_DATE = re.compile(r"（(\d{4}-\d{2}(?:-\d{2})?)）$")


def _numbered_pin(number: int, pin: core.Pin) -> str:
    return f"{number}. {'' if pin.owner_id else '（全群）'}{short(pin.text)}"


def _named(event: core.Event) -> str:
    """Return an event's text without the ids behind names, and without a note at the end that only names the group."""
    text = re.sub(rf"（[^（）]*\({re.escape(event.group_id)}\)）$", "", event.text) if event.group_id else event.text
    for some_id in {event.sender_id, event.user_id, event.group_id, *event.subjects} - {""}:
        text = re.sub(rf"(?<!QQ)(?<=[^\s(（])\({re.escape(some_id)}\)", "", text)
    return text
