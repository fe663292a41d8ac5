"""The report for readers: plain values for JSON, Markdown, and one HTML page that loads nothing from the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, tzinfo
from html import escape
from typing import Any, cast

from ..domain.quality import QualityReport
from ..domain.scope import Scope
from ..sentences import report as words
from .sections import ReportSection, Row, heading, place_of, sections_of


def report_figures(report: QualityReport) -> dict[str, Any]:
    """Return all fields and totals of a report for JSON; a place is agent, place and place_id, an instant ISO 8601."""
    latencies = [
        {**_plain(one), "count": one.count, "median_ms": one.quantile(0.5), "p95_ms": one.quantile(0.95)}
        for one in report.latencies
    ]
    totals = {
        "events": report.events,
        "not_absolute": report.vague,
        "never_recalled": report.never_recalled,
        "price": report.price,
        "merges_a_triage": report.merges_a_triage,
    }
    return {**_plain(report), "latencies": latencies, "dominant": _plain(report.dominant), "totals": totals}


def _plain(value: object) -> Any:
    if isinstance(value, Scope):
        return {"agent": value.agent, "place": value.kind, "place_id": value.place_id}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in cast("tuple[object, ...]", value)]
    return value.isoformat() if isinstance(value, date) else value


_SIGNS = str.maketrans({**{sign: f"\\{sign}" for sign in "\\`*_[]|#"}, "<": "＜", ">": "＞"})


def report_markdown(report: QualityReport, zone: tzinfo) -> str:
    """Return a report as Markdown; quoted texts are escaped."""
    lines = [f"# {words.TITLE}", "", heading(report, zone)]
    for section in sections_of(report, zone):
        lines += ["", f"## {section.title}"]
        lines += ["", *(f"- {_escaped(line)}" for line in section.lines)] if section.lines else []
        if section.rows:
            marks = ("---:" if at >= section.numbers_from else "---" for at in range(len(section.head)))
            lines += ["", _table_row(section.head), f"| {' | '.join(marks)} |", *map(_table_row, section.rows)]
    return "\n".join(lines) + "\n"


def _table_row(cells: Row) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(text: str) -> str:
    return " ".join(text.split()).translate(_SIGNS)


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
        "places": (
            words.EVENTS_BY_PLACE,
            [Bar(place_of(one.scope), one.events, one.events - one.absolute) for one in report.places[:LABELLED]],
        ),
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


_STYLE = """
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --line: #ccc; --bar: #3a7ca5; --mark: #d1495b; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --paper: #1b1b1b; --line: #555; --bar: #6fb1d6; } }
body { margin: 0 auto; padding: 1.5rem; max-width: 60rem; color: var(--ink); background: var(--paper);
  font: 16px/1.6 system-ui, "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.table { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { border-bottom: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
.number { text-align: right; white-space: nowrap; }
svg { width: 100%; max-width: 40rem; } rect { fill: var(--bar); } rect.marked { fill: var(--mark); }
svg line { stroke: var(--line); } svg text { fill: var(--ink); font-size: 11px; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def report_page(report: QualityReport, zone: tzinfo) -> str:
    """Return a report as an HTML page; quoted texts are escaped."""
    plots = plots_of(report)
    body = [f"<h1>{words.TITLE}</h1>", f"<p>{escape(heading(report, zone))}</p>"]
    for section in sections_of(report, zone):
        body.append(f"<h2>{escape(section.title)}</h2>")
        if section.lines:
            body += ["<ul>", *(f"<li>{escape(line)}</li>" for line in section.lines), "</ul>"]
        if section.plot in plots:
            body.append(plots[section.plot])
        if section.rows:
            rows = [_html_row(section, row, "td") for row in section.rows]
            body += [f'<div class="table"><table>{_html_row(section, section.head, "th")}', *rows, "</table></div>"]
    shown = "\n".join(body)
    return (
        '<!doctype html>\n<html lang="zh-CN">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{words.TITLE}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{shown}\n</body>\n</html>\n"
    )


def _html_row(section: ReportSection, cells: Row, tag: str) -> str:
    marks = (' class="number"' if at >= section.numbers_from else "" for at in range(len(cells)))
    written = (f"<{tag}{mark}>{escape(cell)}</{tag}>" for mark, cell in zip(marks, cells, strict=True))
    return f"<tr>{''.join(written)}</tr>"
