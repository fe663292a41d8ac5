"""The report for readers: plain values for JSON, Markdown, and one HTML page that loads nothing from the network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from datetime import tzinfo
from html import escape
from typing import Any, NamedTuple

import orjson

from ..domain.quality import Examination, QualityReport, QuotedEvent
from ..domain.scope import Scope
from ..sentences import report as words

MOST_PLACES = 30  # shown; the rest is in the JSON
NAMED_FLAWS = 0.1  # share of events that do not stand on their own, from which the gist says so
Row = tuple[str, ...]


class ReportSection(NamedTuple):
    """A heading with sentences and a table whose numbers begin at a column."""

    title: str
    lines: tuple[str, ...] = ()
    head: Row = ()
    rows: tuple[Row, ...] = ()
    numbers_from: int = 1


def report_figures(report: QualityReport) -> dict[str, Any]:
    """Return all fields and totals of a report for JSON; a place is agent, place and place_id, an instant ISO 8601."""

    def plain(value: Any) -> dict[str, object]:
        if isinstance(value, Scope):
            return {"agent": value.agent, "place": value.kind, "place_id": value.place_id}
        return {field.name: getattr(value, field.name) for field in fields(value)}

    latencies = [
        {**plain(one), "count": one.count, "median_ms": one.quantile(0.5), "p95_ms": one.quantile(0.95)}
        for one in report.latencies
    ]
    totals = {
        "events": report.events,
        "not_absolute": report.vague,
        "never_recalled": report.never_recalled,
        "price": report.price,
        "merges_a_triage": report.merges_a_triage,
    }
    figures = {**plain(report), "latencies": latencies, "dominant": report.dominant, "totals": totals}
    return orjson.loads(orjson.dumps(figures, plain, orjson.OPT_PASSTHROUGH_DATACLASS))


def sections_of(report: QualityReport, zone: tzinfo) -> Iterator[ReportSection]:
    """Yield the sections of a report in order, the problems first."""
    yield ReportSection(words.GIST, tuple(_problems(report)) or (words.ALL_WELL,))
    kinds = sorted({kind for place in report.places for kind in place.kinds})
    rows = tuple(
        (
            _place(place.scope),
            str(place.lines),
            str(place.events),
            *(str(place.kinds.get(kind, 0)) for kind in kinds),
            *(
                f"{part}（{_percent(part / place.events)}）" if place.events else "0"
                for part in (place.absolute, place.recalled)
            ),
        )
        for place in report.places[:MOST_PLACES]
    )
    head = (words.PLACE, words.LINES, words.EVENTS, *(words.KINDS.get(kind, kind) for kind in kinds))
    empty = () if rows else (words.NOTHING_STORED,)
    yield ReportSection(words.STORED, empty, (*head, words.ABSOLUTE, words.SHOWN), rows)
    yield from _compared(report.examination, zone)
    never = words.NO_COUNT
    if report.counted_since:
        share = report.never_recalled / report.events if report.events else 0
        never = words.NEVER.format(count=report.never_recalled, share=_percent(share))
    yield ReportSection(words.RECALLED, (never,))
    rows = tuple(
        (_place(one.scope), one.name or words.HIDDEN, str(one.events), _percent(one.share), _percent(one.lines_share))
        for one in report.teachers[:MOST_PLACES]
    )
    head = (words.PLACE, words.PERSON, words.EVENTS, words.SHARE, words.LINES_SHARE)
    yield ReportSection(words.TEACHERS, () if rows else (words.NO_TEACHERS,), head, rows, 2)
    rows = tuple((words.REFUSALS.get(reason, reason), str(count)) for reason, count in report.refusals.items())
    refused = words.REFUSED.format(count=sum(report.refusals.values()), retries=report.retries)
    yield ReportSection(words.GATE, (refused if rows else words.NOT_REFUSED,), (words.REASON, words.COUNT), rows)
    waits, at = report.backlog, report.backlog.facts_since
    waiting = words.BACKLOG.format(
        pending=waits.jobs.pending,
        processing=waits.jobs.processing,
        failed=waits.jobs.failed,
        vectors=waits.vectors,
        facts=waits.facts,
        since=words.FACTS_SINCE.format(at=f"{at.astimezone(zone):%m-%d %H:%M}") if at else "",
    )
    yield ReportSection(words.WAITING, (waiting,))
    yield from _measured(report)
    missed = [f"[{one.noted_at.astimezone(zone):%Y-%m-%d}] {one.question} → {one.wanted}" for one in report.missed]
    yield ReportSection(words.MISSED, tuple(missed) or (words.NO_MISSED,))


def _problems(report: QualityReport) -> Iterator[str]:
    """Yield what somebody should look at, the gravest first, one sentence each."""
    for one in report.dominant:
        shares = {"share": _percent(one.share), "lines": _percent(one.lines_share)}
        yield words.POISONING.format(place=_place(one.scope), who=one.name or words.HIDDEN, **shares)
    if report.backlog.jobs.failed:
        yield words.MARK_FAILED.format(count=report.backlog.jobs.failed)
    if report.vague > NAMED_FLAWS * report.events:
        yield words.MARK_VAGUE.format(count=report.vague, share=_percent(report.vague / report.events))
    if report.examination and report.examination.near:
        yield words.MARK_TWICE.format(count=report.examination.near)
    if report.backlog.vectors:
        yield words.MARK_LAG.format(count=report.backlog.vectors)


def _compared(found: Examination | None, zone: tzinfo) -> Iterator[ReportSection]:
    """Yield the sections on flaws, on repetitions, and on what was taken back."""
    if found is None:
        yield from (ReportSection(one, (words.NOTHING_EXAMINED,)) for one in (words.FLAWS, words.TWICE, words.OPPOSED))
        return

    def quoted(event: QuotedEvent) -> str:
        return f"[{event.happened_at.astimezone(zone):%Y-%m-%d}] {event.text}"

    rows = tuple((words.FLAW[one.flaw], str(one.count), "；".join(map(quoted, one.examples))) for one in found.flaws)
    examined = words.EXAMINED.format(count=found.examined) if rows else words.NO_FLAWS
    yield ReportSection(words.FLAWS, (examined,), (words.REASON, words.COUNT, words.EXAMPLE), rows, 3)
    same = words.SAME_WORDS.format(count=found.duplicates, near=found.near)
    opposed = words.OPPOSED_FOUND.format(count=found.contradictions) if found.contradictions else words.NO_OPPOSED
    for title, lines, pairs in (
        (words.TWICE, (same, words.CUT) if found.is_cut else (same,), found.near_pairs),
        (words.OPPOSED, (opposed,), found.contradicting_pairs),
    ):
        rows = tuple((_place(one.scope), quoted(one.older), quoted(one.newer), _percent(one.likeness)) for one in pairs)
        yield ReportSection(title, lines, (words.PLACE, words.OLDER, words.NEWER, words.LIKENESS), rows, 3)


def _measured(report: QualityReport) -> Iterator[ReportSection]:
    """Yield the sections on costs and on the time of reads."""
    rows = tuple(
        (
            words.PURPOSES.get(cost.purpose, cost.purpose),
            cost.model,
            *map(str, (cost.calls, cost.tokens, cost.answered, cost.bad + cost.unreachable)),
            "" if cost.price is None else f"{cost.price:.3f}",
        )
        for cost in report.costs
    )
    lines = [words.NO_PRICE if report.price is None else words.TOTAL_PRICE.format(price=report.price)]
    lines += [] if report.merges_a_triage is None else [words.MERGES.format(count=report.merges_a_triage)]
    lines += [] if all(cost.model for cost in report.costs) else [words.NO_MODEL_NAMED]
    head = (words.PURPOSE, words.MODEL, words.CALLS, words.TOKENS, words.ANSWERED, words.BAD, words.PRICE)
    said = tuple(lines) if rows else (words.NO_SPENDING,)
    yield ReportSection(words.COSTS, said, head, rows, 2)
    rows = tuple(
        (
            words.READS.get(one.read, one.read),
            str(one.count),
            *(
                words.WITHIN.format(bound=bound) if bound else words.BEYOND
                for bound in (one.quantile(0.5), one.quantile(0.95))
            ),
        )
        for one in report.latencies
    )
    head, empty = (words.READ, words.TIMES, words.HALF, words.MOST), () if rows else (words.NO_LATENCY,)
    yield ReportSection(words.LATENCY, empty, head, rows)


def _percent(share: float) -> str:
    return f"{share * 100:.0f}%" if share >= NAMED_FLAWS or not share else f"{share * 100:.1f}%"


def _place(scope: Scope) -> str:
    return words.place(scope.group_id, scope.place_id)


def _heading(report: QualityReport, zone: tzinfo) -> str:
    """Return the line under the title: date of the report, its days, and the first day with counts."""
    day = report.counted_since
    since = words.COUNTED_SINCE.format(day=day.isoformat()) if day else words.NEVER_COUNTED
    return words.HEAD.format(at=f"{report.at.astimezone(zone):%Y-%m-%d %H:%M}", days=report.days, since=since)


_SIGNS = str.maketrans({**{sign: f"\\{sign}" for sign in "\\`*_[]|#"}, "<": "＜", ">": "＞"})


def report_markdown(report: QualityReport, zone: tzinfo) -> str:
    """Return a report as Markdown; quoted texts are escaped."""

    def escaped(text: str) -> str:
        return " ".join(text.split()).translate(_SIGNS)

    lines = [f"# {words.TITLE}", "", _heading(report, zone)]
    for section in sections_of(report, zone):
        lines += ["", f"## {section.title}"]
        lines += ["", *(f"- {escaped(line)}" for line in section.lines)] if section.lines else []
        if section.rows:
            marks = ["---:" if at >= section.numbers_from else "---" for at in range(len(section.head))]
            head, *rows = (list(map(escaped, row)) for row in (section.head, *section.rows))
            lines += ["", *(f"| {' | '.join(row)} |" for row in (head, marks, *rows))]
    return "\n".join(lines) + "\n"


_STYLE = """
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --line: #ccc; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --paper: #1b1b1b; --line: #555; } }
body { margin: 0 auto; padding: 1.5rem; max-width: 60rem; color: var(--ink); background: var(--paper);
  font: 16px/1.6 system-ui, "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.table { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { border-bottom: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
.number { text-align: right; white-space: nowrap; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def report_page(report: QualityReport, zone: tzinfo) -> str:
    """Return a report as an HTML page; quoted texts are escaped."""
    body = [f"<h1>{words.TITLE}</h1>", f"<p>{escape(_heading(report, zone))}</p>"]
    for section in sections_of(report, zone):
        body.append(f"<h2>{escape(section.title)}</h2>")
        if section.lines:
            body += ["<ul>", *(f"<li>{escape(line)}</li>" for line in section.lines), "</ul>"]
        if section.rows:
            body.append('<div class="table"><table>')
            for tag, cells in (("th", section.head), *(("td", row) for row in section.rows)):
                marks = (' class="number"' if at >= section.numbers_from else "" for at in range(len(cells)))
                written = (f"<{tag}{mark}>{escape(cell)}</{tag}>" for mark, cell in zip(marks, cells, strict=True))
                body.append(f"<tr>{''.join(written)}</tr>")
            body.append("</table></div>")
    shown = "\n".join(body)
    return (
        '<!doctype html>\n<html lang="zh-CN">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{words.TITLE}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{shown}\n</body>\n</html>\n"
    )
