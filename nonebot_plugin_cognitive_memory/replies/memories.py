"""Replies that show what is remembered: events and pins, what was said meanwhile, a group's beliefs and suggestions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

import cognitive_memory_core as core

from .commands import ADMINS_ONLY, instant, short

LATEST = 20  # lines shown instead of a summary
SOURCES = 8  # lines that an item's details quote
BENEATH, BENEATH_LENGTH = 2, 60  # lines that stand beneath what a model worded, and characters of each


def item_list(  # everything that a page shows
    pins: Sequence[core.Pin],
    events: Sequence[core.Event],
    shown: Showing,
    *,
    first: int,
    page: int,
    is_more: bool,
    are_forgotten: bool = False,
) -> str:
    """List pins and events under their own headings, numbered from ``first``; the events may be forgotten ones."""
    number, lines = first + len(pins), list[str]()
    if pins:
        lines += ["置顶", *(_numbered_pin(at, pin) for at, pin in enumerate(pins, first))]
    if events:
        which = f"第 {page} 页；" if page > 1 or is_more else ""
        heading = f"这里记住的事（{which}看全文发 /记忆 详情 {number}，忘掉发 /记忆 忘掉 {number}）"
        lines.append(f"你忘掉的事，30 天内能恢复（恢复发 /记忆 恢复 {number}）" if are_forgotten else heading)
        lines += [shown.numbered(at, event) for at, event in enumerate(events, number)]
    if is_more:
        lines.append(f"下一页：/记忆 列表 {'已忘 ' if are_forgotten else ''}{page + 1}")
    return "\n".join(lines)


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
    quotes = event.quotes if event.sender_id or shown.beneath(event) else ()  # a note of the bot's may be its text
    if quotes:
        told.append("原话：")
        for quote in quotes[:SOURCES]:
            at = f"{quote.sent_at.astimezone(shown.zone):%m-%d %H:%M} " if quote.sent_at else ""
            told.append(f"{at}{called(quote.sender_id, quote.sender_name)}：{short(quote.text)}")
    if distinct and not (event.sender_id and quotes):
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


def words_beneath(said: str, quotes: Sequence[core.Quote], zone: tzinfo, *, own: str = "") -> str:
    """Return the words on which a sentence rests, as they stand beneath it; "" if it says the same.

    A model worded the sentence, and may have twisted what was said. ``own`` is whose portrait it stands in: their name
    is left out.
    """
    shown = {_folded(said), *map(_folded, _QUOTED.split(said))}
    if all(_folded(quote.text) in shown for quote in quotes):
        return ""
    this_year, told = datetime.now(zone).year, list[str]()
    for quote in quotes[:BENEATH]:
        at = quote.sent_at.astimezone(zone) if quote.sent_at else None
        day = "" if at is None else f"{f'{at.year}年' if at.year != this_year else ''}{at.month}月{at.day}日"
        who = "" if own and own == quote.sender_id else called(quote.sender_id, quote.sender_name)
        whose = " ".join(part for part in (who, day) if part)
        text = short(quote.text)
        text = text if len(text) <= BENEATH_LENGTH else f"{text[: BENEATH_LENGTH - 1]}…"
        told.append(f"“{text.translate(_NESTED)}” —— {whose}".removesuffix(" —— "))
    more = f"，还有 {len(quotes) - BENEATH} 句" if len(quotes) > BENEATH else ""
    return "；".join(told) + more


WHOSE = re.compile(r"(?<=”) (—— .*?)(?=；“|，还有 \d+ 句$|$)")  # in what words_beneath returns


def beneath(said: str, quotes: Sequence[core.Quote], zone: tzinfo) -> str:
    """Return the words on which a sentence rests on a line of their own beneath it; "" for none."""
    words = words_beneath(said, quotes, zone)
    return f"\n   {words}" if words else ""


_QUOTED = re.compile(r"[“”]| 说：|^机器人记：")  # what stands around the words of a text that is an exchange
_NESTED = str.maketrans("“”", "「」")


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def called(user_id: str, name: str) -> str:
    """Return what a person is called: by name, else by id; "" is the id of the bot."""
    return name or f"QQ({user_id})" if user_id else "机器人"


def speaker_of(line: core.Message) -> str:
    """Return what the speaker of a line is called."""
    return called("" if line.is_bot else line.scene.user_id, line.scene.user_name)


@dataclass(frozen=True)
class Showing:
    """How events are shown to the person of ``scene``: times in ``zone``, other groups by their names in ``groups``."""

    scene: core.Scene
    zone: tzinfo
    groups: Mapping[str, str]

    def numbered(self, number: int, event: core.Event) -> str:
        """Show an event under its number, people by their names alone."""
        return f"{number}. {self.dated(event)} {self.placed(event)}{self.short(event)}"

    def short(self, event: core.Event) -> str:
        """Return the beginning of an event's text and, beneath it, the words that it rests on."""
        return short(self._explained(event, _named(event))) + self.beneath(event)

    def beneath(self, event: core.Event) -> str:
        """Return the words of an event on a line of their own beneath its text, its voice's first; "" for none."""
        quotes = sorted(event.quotes, key=lambda quote: quote.sender_id != event.sender_id)
        named = [replace(quote, text=_named(event, quote.text)) for quote in quotes]
        return beneath(_END_DATE.sub("", _named(event)), named, self.zone)

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


def _named(event: core.Event, text: str = "") -> str:
    """Return an event's text, or a quote's, without ids behind names and a last note that only names the group."""
    text = text or event.text
    text = re.sub(rf"（[^（）]*\({re.escape(event.group_id)}\)）$", "", text) if event.group_id else text
    for some_id in {event.sender_id, event.user_id, event.group_id, *event.subjects} - {""}:
        text = re.sub(rf"(?<!QQ)(?<=[^\s(（])\({re.escape(some_id)}\)", "", text)
    return text


NOTHING_YET = "还没有群记忆：群里聊得多了会按时长出来，也可以发送 /记忆 演化 7"
FORGOTTEN_OWN = "忘掉了：{text}\n以后不会再想起来；30 天内可以恢复：/记忆 列表 已忘，之后彻底删除"
FORGOTTEN = "忘掉了：{text}\n以后不会再想起来；30 天后彻底删除"
RETIRED = "不再用这条了：{belief}\n以后也不会自动记回来；想找回：先发 /记忆 群记忆，再发 /记忆 恢复 加它的序号"
RESTORED = "恢复了：{text}"
RESTORE_REFUSED = f"恢复群记忆：{ADMINS_ONLY}；恢复自己忘掉的：先发送 /记忆 列表 已忘"
_CHANGES_UNDONE = (
    "注“演化”的，是机器人读了聊天自己改的。觉得不对，先发 /记忆 群记忆 看序号（比如 3）：\n"
    "不要这一条：/记忆 淘汰 3；又想要了：/记忆 恢复 3\n"
    "想换回以前的说法：/记忆 演进 3，挑一版恢复"
)
NO_SUGGESTIONS = "现在没有建议：同一个问题有几个人、或在几天里遇到过，才会出现在这里"
ACCEPTED = "采纳了：这条成了群记忆，说到它时会用上；看 /记忆 群记忆，不要了就 /记忆 淘汰 序号"
DISMISSED = "好，这个问题不再建议"
DECISIONS: Mapping[str, bool] = {
    **dict.fromkeys(("accept", "采纳", "接受", "要"), True),
    **dict.fromkeys(("dismiss", "不要", "忽略", "驳回"), False),
}
_KINDS = {"faq": "常见问题", "workflow": "流程", "skill": "技能"}
_ACTIONS = {"create": "新增", "update": "更新", "delete": "淘汰", "restore": "恢复", "strength": "强度"}
_BY_EVOLUTION, _BY_OPERATOR = "演化", "机器人管理员"


def held(belief: core.Belief, zone: tzinfo, note: str = "") -> str:
    """Return what a belief states, a note on it, and beneath them the words on which it rests."""
    return f"{belief.statement}{note}{beneath(belief.statement, belief.quotes, zone)}"


def listed(page: core.BeliefPage, zone: tzinfo, first: int, number: int, *, is_more: bool) -> str:
    """List beliefs, numbered from ``first``; retired and sleeping ones are marked."""
    calls = f"怎么来的：/记忆 演进 {first}；不要了：/记忆 淘汰 {first}；找回淘汰的：/记忆 恢复 加序号"
    lines = [f"群记忆 {page.total} 条（{calls}）"]
    for at, one in enumerate(page.beliefs, first):
        mark = "（已淘汰）" if one.status != "active" else "（很久没人提，先不用）" if one.is_asleep else ""
        lines.append(f"{at}. {mark}{held(one, zone, f'（第 {one.version} 版）')}")
    return "\n".join((*lines, *([f"下一页：/记忆 群记忆 {number + 1}"] if is_more else [])))


def history(versions: Sequence[core.Belief], zone: tzinfo) -> str:
    """Show the versions of a belief, oldest first: its day, its reason, how many people said it, and its words."""
    if not versions:
        return NOTHING_YET
    lines = ["这条的来历，从旧到新（想换回旧的说法，发 /记忆 恢复 加它的序号）"]
    for at, one in enumerate(versions, 1):
        people = f"{len(one.supporters)} 个人说过" if one.supporters else ""
        told = "，".join(part for part in (one.change_summary, people) if part)
        day = one.updated_at.astimezone(zone)
        said = held(one, zone, f"（{told}）" if told else "")
        lines.append(f"{at}. [{day:%Y-%m-%d}] 第 {one.version} 版：{said}")
    lines[-1] += " ← 现在用这一版" if versions[-1].status == "active" else " ← 已淘汰"
    return "\n".join(lines)


def changes(log: Sequence[core.Change], days: int, zone: tzinfo) -> str:
    """Show the change log by day, oldest first, and say how to undo a change."""
    if not log:
        return f"最近 {days} 天群记忆没有变化"
    lines = [f"最近 {days} 天的变更 {len(log)} 条"]
    day = ""
    for one in log:
        at = one.changed_at.astimezone(zone)
        if f"{at:%Y-%m-%d}" != day:
            day = f"{at:%Y-%m-%d}"
            lines.append(f"—— {day} ——")
        lines.append(f"{at:%H:%M} {_ACTIONS[one.action]}：{_change_text(one, zone)}")
    return "\n".join((*lines, _CHANGES_UNDONE))


def evolved(evolution: core.Evolution, zone: tzinfo) -> str:
    """Report what a run did, with the new words of each change."""
    told = [f"{_ACTIONS[one.action]}：{_change_text(one, zone)}" for one in evolution.changes]
    return "\n".join((evolution.message, *told))


def _change_text(change: core.Change, zone: tzinfo) -> str:
    """Return the statements before and after a change, the reason, who decided, and beneath them the words of each."""
    before, after = change.old_statement, change.new_statement
    said = (beneath(before, change.old_quotes, zone), beneath(after, change.new_quotes, zone))
    words = f"{before} → {after}" if before and after and before != after else after or before
    by = {"": _BY_EVOLUTION, "operator": _BY_OPERATOR}.get(change.changed_by, f"QQ({change.changed_by})")
    reason = f"；{change.change_reason}" if change.change_reason else ""
    return f"{words}（{by}{reason}）{''.join(dict.fromkeys(said))}"


def suggestions(found: Sequence[core.Suggestion], zone: tzinfo) -> str:
    """List suggestions: drafts above their words, who met the problem on how many days, and when it was met last."""
    if not found:
        return NO_SUGGESTIONS
    lines = [f"建议 {len(found)} 条（采纳 /记忆 建议 采纳 序号，不要 /记忆 建议 不要 序号）"]
    for at, one in enumerate(found, 1):
        met = f"{len(one.people)} 个人、{one.days} 天里遇到过，最近 {one.last_at.astimezone(zone):%m-%d}"
        lines.append(f"{at}. [{_KINDS[one.kind]}] {one.draft}{beneath(one.draft, one.quotes, zone)}")
        lines.append(f"   依据 {len(one.event_ids)} 条：{met}")
    return "\n".join(lines)


MOST_TALKS, MOST_EVENTS, MOST_PEOPLE = 12, 8, 6
NOT_READ_HERE = "这里关着，或只记不用，所以不能爬楼；管理员发 /记忆 开 就可以"
UNKNOWN_ANSWER = "不知道：这句话不是用记忆回答的，或过了一小时，或分不清是为谁答的"
NOTHING_BEHIND = "回答这句的时候，没有想起什么相关的事"


def caught_up(missed: core.CatchUp, scene: core.Scene, zone: tzinfo, waiting: int) -> str:
    """Show what was said, by talk: when, by whom, and what was kept of it."""
    since = instant(missed.since, zone).strip()
    if not missed.talks:
        return f"{since} 以后，这里没有人说什么"
    talks = missed.talks[-MOST_TALKS:]
    said = f"不止 {missed.lines}" if missed.is_cut else f" {missed.lines}"
    cut = f"，下面是最近的 {len(talks)} 段" if len(talks) < len(missed.talks) else ""
    lines = [f"{since} 以后，这里说了{said} 句{cut}"]
    shown = Showing(scene, zone, {})
    for talk in talks:
        named = [f"{called(person.id, person.name)} {count} 句" for person, count in talk.speakers[:MOST_PEOPLE]]
        more = f" 等 {len(talk.speakers)} 人" if len(talk.speakers) > MOST_PEOPLE else ""
        begun, ended = instant(talk.begun_at, zone).strip(), f"{talk.ended_at.astimezone(zone):%H:%M}"
        lines.append(f"【{begun if begun.endswith(ended) else f'{begun} 到 {ended}'}】{'、'.join(named)}{more}")
        kept = talk.events[-MOST_EVENTS:]
        lines += [f"· {shown.short(event)}" for event in kept] or ["· 没有记下什么"]
        if len(kept) < len(talk.events):
            lines.append(f"· 还有 {len(talk.events) - len(kept)} 件，发 /记忆 列表 看")
    if waiting:
        lines.append(f"最近的 {waiting} 句还没有整理")
    return "\n".join(lines)


def reasons(
    events: Sequence[core.Event], lines: Sequence[core.Message], scene: core.Scene, zone: tzinfo, total: int
) -> str:
    """Show the memories and lines on which an answer rested; ``total`` counts also those that are not shown."""
    shown = Showing(scene, zone, {})
    told = [f"· {shown.dated(event)} {shown.placed(event)}{shown.short(event)}" for event in events]
    told += [f"· {shown.dated(line.as_event())} {speaker_of(line)}：{short(line.text)}" for line in lines[:SOURCES]]
    hidden = total - len(events) - min(len(lines), SOURCES)
    if not total:
        return NOTHING_BEHIND
    rest = [f"还有 {hidden} 条，你看不到、已经忘掉，或写不下"] if hidden > 0 else []
    return "\n".join(("回答这句的时候，想起了：", *told, *rest))
