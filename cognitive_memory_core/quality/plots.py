"""Small bar charts as SVG: no script, no font and no file from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ..domain.quality import QualityReport
from ..sentences import report as words
from .sections import place_of

WIDTH, HEIGHT, EDGE, FOOT = 640, 180, 8, 40
MOST_BARS = 60
LABELLED = 16  # bars up to which each has its label; of more, some have
ROOM = 0.8  # share of a bar's place that it fills
GAP = 4
LABEL_LENGTH, LABEL_TAIL = 8, 5  # characters; of a longer label the end is shown


@dataclass(frozen=True)
class Bar:
    """One bar: its label, its height, and how much of the height is highlighted."""

    label: str
    value: float
    marked: float = 0.0


def plots_of(report: QualityReport) -> dict[str, str]:
    """Return the charts of a report by :attr:`ReportSection.plot`; charts without a value are left out."""
    context = next((one for one in report.latencies if one.read == "context"), None)
    bars = {
        "places": (words.EVENTS_BY_PLACE, [_of_place(report, at) for at in range(len(report.places[:LABELLED]))]),
        "calls": (words.CALLS_BY_DAY, [Bar(f"{day:%m-%d}", calls) for day, calls, _ in report.spent_by_day]),
        "latency": (
            words.LATENCIES,
            [Bar(f"≤{bound}" if bound else "…", count) for bound, count in (context.counts if context else ())],
        ),
        "retention": (words.GONE_BY_DAYS, [Bar(str(one.log_days), one.lines) for one in report.retention]),
    }
    return {name: chart(title, drawn) for name, (title, drawn) in bars.items() if any(bar.value for bar in drawn)}


def chart(title: str, bars: Sequence[Bar]) -> str:
    """Return a bar chart as SVG; the highest bar fills the height, and each has its value as a tooltip."""
    bars = bars[-MOST_BARS:]
    top = max(bar.value for bar in bars) or 1.0
    each = (WIDTH - 2 * EDGE) / len(bars)
    step = -(-len(bars) // LABELLED)
    drawn = [_bar(bar, EDGE + at * each, each, top, is_labelled=at % step == 0) for at, bar in enumerate(bars)]
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title, quote=True)}">'
        f"<title>{escape(title)}</title>"
        f'<text x="{EDGE}" y="12">{escape(words.CHART.format(title=title, top=f"{top:g}"))}</text>{"".join(drawn)}'
        f'<line x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{HEIGHT - FOOT}" y2="{HEIGHT - FOOT}"/></svg>'
    )


def _bar(bar: Bar, left: float, each: float, top: float, *, is_labelled: bool) -> str:
    foot, room = HEIGHT - FOOT, HEIGHT - FOOT - 2 * EDGE
    tall, marked = room * bar.value / top, room * bar.marked / top
    wide, start = each * ROOM, left + each * (1 - ROOM) / 2
    parts = [f'<rect x="{start:.1f}" y="{foot - tall:.1f}" width="{wide:.1f}" height="{tall:.1f}"/>']
    if bar.marked:
        parts.append(
            f'<rect class="marked" x="{start:.1f}" y="{foot - marked:.1f}" width="{wide:.1f}" height="{marked:.1f}"/>'
        )
    if is_labelled:
        is_long = len(bar.label) > LABEL_LENGTH
        label = escape(f"…{bar.label[-LABEL_TAIL:]}" if is_long else bar.label)
        parts.append(f'<text x="{left + each / 2:.1f}" y="{foot + EDGE + GAP * 2}" text-anchor="middle">{label}</text>')
    return f"<g><title>{escape(bar.label)}: {bar.value:g}</title>{''.join(parts)}</g>"


def _of_place(report: QualityReport, at: int) -> Bar:
    place = report.places[at]
    return Bar(place_of(place.scope), place.events, place.events - place.absolute)
