"""Replies that look back: what was said while somebody was away, and what an answer rested on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

import cognitive_memory_core as core

from .commands import short
from .memories import SOURCES, Showing, speaker_of

MOST_TALKS, MOST_EVENTS, MOST_PEOPLE = 12, 8, 6
NOT_READ_HERE = "这里关着，或只记不用，所以不能爬楼；管理员发 /记忆 开 就可以"
UNKNOWN_ANSWER = "不知道：这句话不是用记忆回答的，或过了一小时，或分不清是为谁答的"
NOTHING_BEHIND = "回答这句的时候，没有想起什么相关的事"


def caught_up(missed: core.CatchUp, scene: core.Scene, zone: tzinfo, waiting: int) -> str:
    """Show what was said, by talk: when, by whom, and what was kept of it."""
    since = _clock(missed.since, zone)
    if not missed.talks:
        return f"{since} 以后，这里没有人说什么"
    talks = missed.talks[-MOST_TALKS:]
    said = f"不止 {missed.lines}" if missed.is_cut else f" {missed.lines}"
    cut = f"，下面是最近的 {len(talks)} 段" if len(talks) < len(missed.talks) else ""
    lines = [f"{since} 以后，这里说了{said} 句{cut}"]
    shown = Showing(scene, zone, {})
    for talk in talks:
        named = [f"{person.name or f'QQ({person.id})'} {count} 句" for person, count in talk.speakers[:MOST_PEOPLE]]
        more = f" 等 {len(talk.speakers)} 人" if len(talk.speakers) > MOST_PEOPLE else ""
        begun, ended = _clock(talk.begun_at, zone), f"{talk.ended_at.astimezone(zone):%H:%M}"
        lines.append(f"【{begun if begun.endswith(ended) else f'{begun} 到 {ended}'}】{'、'.join(named)}{more}")
        kept = talk.events[-MOST_EVENTS:]
        lines += [f"· {short(shown.full(event))}" for event in kept] or ["· 没有记下什么"]
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
    told = [f"· {shown.dated(event)} {shown.placed(event)}{short(shown.full(event))}" for event in events]
    told += [f"· {shown.dated(line.as_event())} {speaker_of(line)}：{short(line.text)}" for line in lines[:SOURCES]]
    hidden = total - len(events) - min(len(lines), SOURCES)
    if not total:
        return NOTHING_BEHIND
    rest = [f"还有 {hidden} 条，你看不到、已经忘掉，或写不下"] if hidden > 0 else []
    return "\n".join(("回答这句的时候，想起了：", *told, *rest))


def _clock(at: datetime, zone: tzinfo) -> str:
    local, today = at.astimezone(zone), datetime.now(zone).date()
    days = {0: "今天", -1: "昨天"}.get((local.date() - today).days)
    return f"{days or f'{local:%m-%d}'} {local:%H:%M}"
