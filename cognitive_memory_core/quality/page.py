"""The report as one HTML page that loads nothing from the network: style and charts are embedded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from html import escape

from ..domain.quality import QualityReport
from ..sentences import report as words
from .plots import plots_of
from .sections import ReportSection, ReportTable, Row, heading, sections_of

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
    body = "\n".join(_body(report, zone))
    return (
        '<!doctype html>\n<html lang="zh-CN">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{words.TITLE}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _body(report: QualityReport, zone: tzinfo) -> Iterator[str]:
    plots = plots_of(report)
    yield f"<h1>{words.TITLE}</h1>"
    yield f"<p>{escape(heading(report, zone))}</p>"
    for section in sections_of(report, zone):
        yield from _section(section, plots)


def _section(section: ReportSection, plots: Mapping[str, str]) -> Iterator[str]:
    yield f"<h2>{escape(section.title)}</h2>"
    if section.lines:
        yield "<ul>"
        yield from (f"<li>{escape(line)}</li>" for line in section.lines)
        yield "</ul>"
    if section.plot in plots:
        yield plots[section.plot]
    for table in section.tables:
        yield f'<div class="table"><table>{_row("th", table.head, table)}'
        yield from (_row("td", row, table) for row in table.rows)
        yield "</table></div>"


def _row(tag: str, cells: Row, table: ReportTable) -> str:
    marks = (' class="number"' if at >= table.numbers_from else "" for at in range(len(cells)))
    return (
        f"<tr>{''.join(f'<{tag}{mark}>{escape(cell)}</{tag}>' for mark, cell in zip(marks, cells, strict=True))}</tr>"
    )
