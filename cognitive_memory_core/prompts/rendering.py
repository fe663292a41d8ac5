"""Renders the items of a prompt, each on one line; chat text cannot end a line or imitate another item.

``defused`` removes square and angle brackets from chat text, so those in a prompt are always ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, tzinfo

from ..domain.belief import Belief
from ..domain.event import Event, Fact, duplicate_key, nested, shortened
from ..domain.message import Message
from ..domain.people import Person
from ..text.cleaning import clean_text
from ..text.fences import defused
from ..text.speakers import spoken
from ..text.time.calendar_spans import written
from ..text.time.time_words import dated_words
from .people_list import PeopleList, sender_shown

MOST_NEIGHBOURS = 10
MOST_FACTS = 60
ROOM = 24_000  # characters of all lines together; above it each line is cut to an equal share
SHORTEST_LINE = 60
SOURCE = 4_000
TEXT = 1_000
EARLIER = 5_000
NEIGHBOUR, NEIGHBOUR_LINES = 120, 400  # characters of one line of an event, and of all its lines
ANSWERED = 40  # characters of an earlier line that is answered
EARLIER_LINE = 80
DATED, MOST_DATES = 500, 3  # characters of a line that are read for dates, and dates shown of it
_WEEKDAYS = "一二三四五六日"
_QUOTED = re.compile(
    r"(?:[>＞][^\n]*(?:\n|$))+|「[^」\n]{1,500}」 {0,8}\n[- ]{5,100}\n"
)  # a quotation stands before the reply to it


def moment(when: datetime) -> str:
    """Return the time of a turn with weekday and zone."""
    return f"{written(when)} 周{_WEEKDAYS[when.weekday()]} {when:%H:%M}（{cut(str(when.tzinfo), 40)}）"


def block(title: str, content: str) -> str:
    """Put content between tags of this title; "" if there is none."""
    return f"<{title}>\n{content}\n</{title}>" if content else ""


def numbered_lines(
    lines: Sequence[Message | str],
    people_list: PeopleList,
    when: datetime,
    before: Iterable[Message] = (),
    *,
    marks_admins: bool = False,
) -> str:
    """Number the lines from 1, each with time, speaker, the line it replies to, and the dates of its relative words.

    ``before`` are earlier lines; if one of them is replied to, its beginning is shown. With ``marks_admins`` the lines
    of the group's owner and admins are marked.
    """
    room = max(ROOM // max(len(lines), 1), SHORTEST_LINE)
    numbers = {line.id: number for number, line in enumerate(lines, 1) if isinstance(line, Message)}
    by_id = {line.id: line for line in (*before, *lines) if isinstance(line, Message)}

    def shown(line: Message | str) -> str:
        if isinstance(line, str):
            return f"[原文] {_said(line, room)}"
        role = "[管理]" if marks_admins and line.scene.is_admin and not line.is_bot else ""
        answered, reply = by_id.get(line.reply_to or ""), "[回复更早的消息]" if line.reply_to else ""
        if answered:
            scene = answered.scene
            whom = "机器人" if answered.is_bot else people_list.short(answered.sender_id, scene.user_name)
            earlier = f"更早 {whom}：{cut(answered.text, ANSWERED)}"
            reply = f"[回复{f'{numbers[answered.id]} {whom}' if answered.id in numbers else earlier}]"
        who, dates = sender_shown(line, people_list), _dates(line, people_list, when)
        return f"{_clock(line.sent_at, when)} {role}{who}{reply}：{_said(line.text, room)}{dates}"

    return "\n".join(f"{number}. {shown(line)}" for number, line in enumerate(lines, 1))


def earlier_lines(lines: Sequence[Message], people_list: PeopleList, when: datetime) -> str:
    """List lines from before a dialogue, without numbers, so that no answer can cite them."""
    return "\n".join(
        f"{_clock(line.sent_at, when)} {sender_shown(line, people_list)}：{_said(line.text, EARLIER_LINE)}"
        for line in lines
    )


def source_line(source: str, lines: Sequence[Message | str], speaker: Person) -> str:
    """Return the message that started a turn; if it is among ``lines``, only the number of that line."""
    if not source.strip():
        return ""
    said = _said(source, SOURCE)
    for number, line in enumerate(lines, 1):
        if isinstance(line, Message) and line.sender_id == speaker.id and _said(line.text, SOURCE) == said:
            return f"即聊天第{number}条"
    return said


def neighbours(events: Sequence[Event], people_list: PeopleList, zone: tzinfo | None) -> str:
    """List the events already remembered, numbered from E1, each as its lines with its day and weekday."""
    rows: list[str] = []
    for number, event in enumerate(events[:MOST_NEIGHBOURS], 1):
        day = event.happened_at.astimezone(zone)
        said = cut(spoken(event, people_list.called, zone, longest=NEIGHBOUR), NEIGHBOUR_LINES)
        rows.append(f"E{number}. {written(day)}周{_WEEKDAYS[day.weekday()]} {said}")
    return "\n".join(rows)


def beliefs(standing: Iterable[Belief], people_list: PeopleList, zone: tzinfo | None) -> str:
    """List a group's beliefs, numbered from B1, each with its version, that version's day, its strength and its voice.

    The voice is who said it first, in words that stand behind what a model made of them; a belief that an admin wrote
    has none.
    """
    rows: list[str] = []
    for number, one in enumerate(standing, 1):
        state = f"第{one.version}版 {written(one.updated_at.astimezone(zone))} 强度{one.strength:.1f}"
        whose = f" 据{people_list.called(one.supporters[0])}" if one.supporters else ""
        is_reworded = bool(one.quotes) and duplicate_key(one.quotes[0].text) != one.key
        words = f"（原话“{nested(cut(one.quotes[0].text, NEIGHBOUR))}”）" if is_reworded else ""
        rows.append(f"B{number}. [{state}{whose}] {cut(one.statement, TEXT)}{words}")
    return "\n".join(rows)


def facts(shown: Sequence[Fact], lines: Mapping[str, int], zone: tzinfo | None, *, is_group: bool) -> str:
    """List facts, numbered from 1, each with its day, the number of the line that tells it, and the words said.

    ``lines`` are these numbers by event. The words of a person are in quotation marks; those of a group name speakers.
    """
    rows: list[str] = []
    for number, fact in enumerate(shown, 1):
        of_line = f"[行{lines[fact.event_id]}] " if fact.event_id in lines else ""
        said = cut(fact.text, TEXT) if is_group else f"“{nested(cut(fact.text, TEXT))}”"
        rows.append(f"{number}. {written(fact.happened_at.astimezone(zone))} {of_line}{said}")
    return "\n".join(rows)


def cut(text: str, limit: int) -> str:
    """Return an untrusted text on one line, defused and cut to ``limit`` characters."""
    return shortened(defused(text[: limit * 2]), limit)


def _said(text: str, limit: int) -> str:
    """Return what a line says as one line, cut to ``limit`` characters; a quotation at its beginning is marked."""
    plain = clean_text(text[: limit * 2]).strip()
    quote = _QUOTED.match(plain)
    if not quote:
        return cut(plain, limit)
    quoted = quote[0].strip(">＞「」- \n")
    return f"[引用：{cut(quoted, limit // 3)}] {cut(plain[quote.end() :], limit)}"


def _dates(line: Message, people_list: PeopleList, when: datetime) -> str:
    """Return the dates of those relative words of a line that mean one day, counted from when the line was said."""
    if line.is_bot:
        return ""
    sent_at, text = line.sent_at.astimezone(when.tzinfo), clean_text(line.text[:DATED])
    dated = dated_words(text, sent_at, people_list.names)
    words = dict.fromkeys((text[mention.start : mention.stop], date) for mention, date in dated)
    today = written(when) if sent_at.date() == when.date() else ""
    notes = [f"{defused(word)}={date}" for word, date in words if not (today and date.startswith(today))]
    return f" [{'，'.join(notes[:MOST_DATES])}]" if notes else ""


def _clock(sent_at: datetime, when: datetime) -> str:
    local = sent_at.astimezone(when.tzinfo)
    day = "" if local.date() == when.date() else short_date(local.date(), when.date())
    return f"{day}周{_WEEKDAYS[local.weekday()]} {local:%H:%M}"


def short_date(day: date, today: date) -> str:
    """Return a date, without its year if that is the present one."""
    return f"{day.month}月{day.day}日" if day.year == today.year else written(day)
