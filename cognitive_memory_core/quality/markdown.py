"""The report as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo

from ..domain.quality import QualityReport
from ..sentences import report as words
from .sections import ReportTable, Row, heading, sections_of

_SIGNS = str.maketrans({**{sign: f"\\{sign}" for sign in "\\`*_[]|#"}, "<": "＜", ">": "＞"})


def report_markdown(report: QualityReport, zone: tzinfo) -> str:
    """Return a report as Markdown; quoted texts are escaped."""
    return "\n".join(_lines(report, zone)) + "\n"


def _lines(report: QualityReport, zone: tzinfo) -> Iterator[str]:
    yield f"# {words.TITLE}"
    yield ""
    yield heading(report, zone)
    for section in sections_of(report, zone):
        yield ""
        yield f"## {section.title}"
        yield from ("", *(f"- {_plain(line)}" for line in section.lines)) if section.lines else ()
        for table in section.tables:
            yield from ("", *_table(table))


def _table(table: ReportTable) -> Iterator[str]:
    yield _row(table.head)
    marks = ("---:" if at >= table.numbers_from else "---" for at in range(len(table.head)))
    yield f"| {' | '.join(marks)} |"
    yield from map(_row, table.rows)


def _row(cells: Row) -> str:
    return f"| {' | '.join(map(_plain, cells))} |"


def _plain(text: str) -> str:
    return " ".join(text.split()).translate(_SIGNS)
