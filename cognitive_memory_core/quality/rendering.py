"""The report for readers: plain values for JSON, Markdown, and one HTML page that loads nothing from the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
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


MOST_BARS = 60


def charts_of(report: QualityReport) -> dict[str, str]:
    """Return the charts of a report by :attr:`ReportSection.plot`; charts without a value are left out."""
    context = next((one for one in report.latencies if one.read == "context"), None)
    bars = {
        "places": (words.EVENTS_BY_PLACE, [(place_of(one.scope), one.events) for one in report.places[:MOST_BARS]]),
        "calls": (words.CALLS_BY_DAY, [(f"{day:%m-%d}", calls) for day, calls, _ in report.spent_by_day]),
        "latency": (
            words.LATENCIES,
            [(f"≤{bound}" if bound else "…", count) for bound, count in (context.counts if context else ())],
        ),
        "retention": (words.GONE_BY_DAYS, [(str(one.log_days), one.lines) for one in report.retention]),
    }
    return {
        name: _chart(title, drawn[-MOST_BARS:]) for name, (title, drawn) in bars.items() if any(v for _, v in drawn)
    }


def _chart(title: str, bars: Sequence[tuple[str, int]]) -> str:
    """Return a bar chart, a row for each bar with its value; the highest bar fills the width."""
    top = max(value for _, value in bars)
    rows = (
        f'<tr><th>{escape(label)}</th><td><meter max="{top}" value="{value}"></meter></td><td>{value}</td></tr>'
        for label, value in bars
    )
    return f'<table class="chart"><caption>{escape(title)}</caption>{"".join(rows)}</table>'


_STYLE = """
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --line: #ccc; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --paper: #1b1b1b; --line: #555; } }
body { margin: 0 auto; padding: 1.5rem; max-width: 60rem; color: var(--ink); background: var(--paper);
  font: 16px/1.6 system-ui, "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.table { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { border-bottom: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
.number { text-align: right; white-space: nowrap; }
.chart { width: auto; margin-top: 1rem; } .chart th, .chart td { border: 0; padding: 0 0.6rem; text-align: right; }
.chart caption { text-align: left; } meter { width: 18rem; max-width: 40vw; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def report_page(report: QualityReport, zone: tzinfo) -> str:
    """Return a report as an HTML page; quoted texts are escaped."""
    charts = charts_of(report)
    body = [f"<h1>{words.TITLE}</h1>", f"<p>{escape(heading(report, zone))}</p>"]
    for section in sections_of(report, zone):
        body.append(f"<h2>{escape(section.title)}</h2>")
        if section.lines:
            body += ["<ul>", *(f"<li>{escape(line)}</li>" for line in section.lines), "</ul>"]
        body.append(charts.get(section.plot, ""))
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
