"""Cards for profiles, status and statistics: pictures if Pillow and a Chinese font are there, else their text."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import cognitive_memory_core as core

from .. import replies
from ..markdown import plain_lines
from ..replies.status import Remark
from . import fonts
from .layout import Accent, Block, Card, CardLayout, Theme

if TYPE_CHECKING:
    from .painting import Typefaces


def profile_card(profile: core.Profile, scene: core.Scene, at: str, words: Mapping[str, str]) -> Card:
    """Return the card of a profile, headed for the scene's person; ``at`` is the written time of its last change.

    ``words`` are, by line or tag that a model worded, the words of somebody that stand beneath it.
    """
    texts, is_group = replies.status, profile.key.entity_type == "group"
    if is_group:
        name, whose = profile.name or scene.group_name or texts.THIS_GROUP, texts.GROUP
    else:
        name = profile.name or scene.user_name or texts.SOMEBODY
        here = texts.YOU_HERE.format(group=scene.group_name or texts.THIS_GROUP)
        whose = here if profile.key.group_id else texts.YOU_IN_PRIVATE
    subtitle, footer = (
        texts.UPDATED.format(whose=whose, at=at),
        texts.GROUP_FOOTER if is_group else texts.PROFILE_FOOTER,
    )
    labels = [("labels", profile.tags, [f"{tag}：{words[tag]}" for tag in profile.tags if tag in words])]
    told = [] if is_group else [("remarks", [("plain", texts.SELF_TOLD)])]
    blocks = [*(labels if profile.tags else []), *_paragraphs(profile.summary, words), *told]
    accent: Accent = "group" if is_group else "person"
    return Card(accent, name.upper(), name, subtitle, blocks, footer)


def status_card(now: core.Status, here: core.Activity, pins: int, remarks: Sequence[Remark], at: str) -> Card:
    """Return the card of the status: what is remembered here, and whether the memory works."""
    words = replies.status
    counts = {words.EVENTS_HERE: here.events, words.LINES_HERE: here.messages, words.PINS_HERE: pins}
    charts = _chart(here.days, "messages", words.LINES_BY_DAY, words.LINES_IN_DAYS)
    blocks = [("figures", counts), *charts, ("remarks", remarks)]
    subtitle = f"{words.PAUSED if now.paused else words.WORKING} · {at}"
    return Card("status", words.STATUS_SIGN, words.NAME, subtitle, blocks, words.STATUS_FOOTER)


def stats_card(now: core.Status, activity: core.Activity, remarks: Sequence[Remark], at: str) -> Card:
    """Return the card of the figures of the whole memory, with a bar per day."""
    words, totals, days = replies.status, now.totals, activity.days
    counts = {words.EVENTS: totals.events, words.LINES: totals.messages, words.PINS: totals.pins}
    counts |= {words.MEMOS: totals.memos, words.CALLS: now.calls_today, words.TOKENS: now.tokens_today}
    charts = [
        *_chart(days, "messages", words.LINES_BY_DAY, words.LINES_IN_DAYS),
        *_chart(days, "events", words.EVENTS_BY_DAY, words.EVENTS_IN_DAYS),
    ]
    said = [*remarks, *([] if charts else [("plain", words.NO_DAYS.format(days=len(days)))])]
    blocks = [("figures", counts), *charts, *([("remarks", said)] if said else [])]
    subtitle = words.STATS_SUBTITLE.format(at=at)
    return Card("figures", words.STATS_SIGN, words.STATS_TITLE, subtitle, blocks, words.STATS_FOOTER)


def daily_card(
    day: Mapping[str, int], newest: Sequence[tuple[str, str]], remarks: Sequence[Remark], since: str, at: str
) -> Card:
    """Return the card of a day: its figures, what was learned last with its words, and what the operator has to do."""
    words = replies.status
    learned = ("paragraphs", words.NEWEST, [(one, True, beneath) for one, beneath in newest])
    blocks = [("figures", day), *([learned] if newest else [])]
    subtitle = words.DAILY_SUBTITLE.format(since=since, at=at)
    remarked = ("remarks", remarks)
    return Card("status", words.DAILY_SIGN, words.DAILY_TITLE, subtitle, [*blocks, remarked], words.DAILY_FOOTER)


def _chart(days: Sequence[core.DayCount], counted: str, heading: str, caption: str) -> list[Block]:
    """Return the chart of what is ``counted`` of each day, with its sum in the caption; none if all counts are 0."""
    bars = [(f"{one.day.month}-{one.day.day}", getattr(one, counted)) for one in days]
    total = sum(count for _, count in bars)
    return [("chart", heading, caption.format(days=len(days), count=f"{total:,}"), bars)] if total else []


def _paragraphs(markdown: str, words: Mapping[str, str]) -> Iterator[Block]:
    """Split a profile's text at its headings; each line has its words beneath it, or ""."""
    heading, lines = "", list[tuple[str, bool, str]]()
    written = [(line.strip("-*+• \t"), *shown) for line in markdown.splitlines() for shown in plain_lines(line)]
    for said, kind, text in [*written, ("", "heading", "")]:
        if kind == "heading":
            if lines:
                yield ("paragraphs", heading, lines)
            heading, lines = text, []
        else:
            lines.append((text, kind == "item", words.get(said, "")))


MOST_WAITING = 8  # cards; further askers get text at once


class Studio:
    """Draws cards in a thread, one at a time, with the fonts of this machine, which the first card looks for."""

    def __init__(self, own_fonts: Path | None, *, has_library: bool | None = None) -> None:
        """Prepare; fonts in the folder ``own_fonts`` are preferred to the system's."""
        self._own_fonts = own_fonts
        has_it = find_spec("PIL") is not None if has_library is None else has_library
        self._typefaces: Typefaces | None = None
        self._turn = asyncio.Lock()
        self._waiting = 0
        self.missing = "" if has_it else "library"

    async def drawn(self, card: Card, theme: Theme) -> bytes | None:
        """Return a card as a PNG; None if this machine cannot draw it, or if too many cards wait."""
        if self.missing or self._waiting >= MOST_WAITING:
            return None
        self._waiting += 1
        try:
            async with self._turn:
                return await asyncio.to_thread(self._draw, card, theme)
        finally:
            self._waiting -= 1

    def _draw(self, card: Card, theme: Theme) -> bytes | None:
        from .painting import Typefaces, painted  # noqa: PLC0415  # the library is optional

        if self._typefaces is None:
            self._typefaces = Typefaces(fonts.found_fonts(self._own_fonts))
        if not self._typefaces.has_chinese:
            self.missing = "font"
            return None
        height, parts = CardLayout(theme, self._typefaces.length).parts(card)
        return painted(height, parts, theme["page"], self._typefaces)
