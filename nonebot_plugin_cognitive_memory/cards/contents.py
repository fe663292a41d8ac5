"""What the cards show: profiles, the status and the figures of the memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import cognitive_memory_core as core

from .. import replies
from ..replies.markdown import PlainLine, plain_lines
from .card import Block, Card, Chart, Figures, Labels, Paragraphs, Remarks, Tone

LABEL_LENGTH, LINE_LENGTH, LINES = 40, 400, 60  # characters and lines of a profile that are drawn


def profile_card(profile: core.Profile, scene: core.Scene, at: str) -> Card:
    """Return the card of a profile as the scene's person sees it."""
    words = replies.cards
    if profile.key.entity_type == "group":
        name, whose = profile.name or scene.group_name or words.THIS_GROUP, words.GROUP
    else:
        name = profile.name or scene.user_name or words.SOMEBODY
        here = words.YOU_HERE.format(group=scene.group_name or words.THIS_GROUP)
        whose = here if profile.key.group_id else words.YOU_IN_PRIVATE
    is_group = profile.key.entity_type == "group"
    labels = [Labels([tag[:LABEL_LENGTH] for tag in profile.tags])] if profile.tags else []
    return Card(
        "group" if is_group else "person",
        name.upper(),
        name,
        words.UPDATED.format(whose=whose, at=at),
        [*labels, *_paragraphs(profile.summary)],
        words.GROUP_FOOTER if is_group else words.PROFILE_FOOTER,
    )


def status_card(title: str, here: core.Activity, pins: int, remarks: Sequence[tuple[Tone, str]], at: str) -> Card:
    """Return the card of the status: what is remembered here, and whether the memory works."""
    words = replies.cards
    counts = ((here.events, words.EVENTS_HERE), (here.messages, words.LINES_HERE), (pins, words.PINS_HERE))
    blocks: list[Block] = [Figures(_figures(counts))]
    if any(day.messages for day in here.days):
        blocks.append(_lines_chart(here.days))
    return Card(
        "status", words.STATUS_SIGN, words.NAME, f"{title} · {at}", [*blocks, Remarks(remarks)], words.STATUS_FOOTER
    )


def stats_card(now: core.Status, activity: core.Activity, remarks: Sequence[tuple[Tone, str]], at: str) -> Card:
    """Return the card of the figures of the whole memory, with a bar per day."""
    words, totals = replies.cards, now.totals
    counts = (
        *((totals.events, words.EVENTS), (totals.messages, words.LINES), (totals.pins, words.PINS)),
        *((totals.memos, words.MEMOS), (now.calls_today, words.CALLS), (now.tokens_today, words.TOKENS)),
    )
    happened = Chart(
        words.EVENTS_BY_DAY,
        words.EVENTS_IN_DAYS.format(days=len(activity.days), count=f"{sum(day.events for day in activity.days):,}"),
        [(_day(day), day.events) for day in activity.days],
    )
    has_lines, has_events = any(day.messages for day in activity.days), any(day.events for day in activity.days)
    charts = [*([_lines_chart(activity.days)] if has_lines else []), *([happened] if has_events else [])]
    said = [*remarks, *([] if charts else [("plain", words.NO_DAYS.format(days=len(activity.days)))])]
    subtitle = words.STATS_SUBTITLE.format(at=at)
    blocks: list[Block] = [Figures(_figures(counts)), *charts, *([Remarks(said)] if said else [])]
    return Card("figures", words.STATS_SIGN, words.STATS_TITLE, subtitle, blocks, words.STATS_FOOTER)


def is_night(at: datetime) -> bool:
    """Return whether cards are dark at this hour: from 20:00 to 7:00."""
    return not 7 <= at.hour < 20  # noqa: PLR2004  # from seven in the morning to eight in the evening


def _lines_chart(days: Sequence[core.DayCount]) -> Chart:
    words = replies.cards
    caption = words.LINES_IN_DAYS.format(days=len(days), count=f"{sum(day.messages for day in days):,}")
    return Chart(words.LINES_BY_DAY, caption, [(_day(day), day.messages) for day in days])


def _figures(counts: Sequence[tuple[int, str]]) -> list[tuple[str, str]]:
    return [(f"{count:,}", label) for count, label in counts]


def _day(count: core.DayCount) -> str:
    return f"{count.day.month}-{count.day.day}"


def _paragraphs(markdown: str) -> Iterator[Paragraphs]:
    """Split a profile's text at its headings."""
    heading, lines = "", list[tuple[str, bool]]()
    for line in [*list(plain_lines(markdown))[:LINES], PlainLine("heading", "")]:
        if line.kind == "heading":
            if lines:
                yield Paragraphs(heading, lines)
            heading, lines = line.text, []
        else:
            lines.append((line.text[:LINE_LENGTH], line.kind == "item"))
