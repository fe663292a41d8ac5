"""The report as sections of sentences and tables, which Markdown and the page show alike."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo

from ..domain.quality import Examination, QualityReport, QuotedEvent
from ..domain.scope import Scope
from ..sentences import report as words

MOST_PLACES = 30  # shown; the rest is in the JSON
NAMED_FLAWS = 0.1  # share of events that do not stand on their own, from which the gist says so
HALF, MOST = 0.5, 0.95
Row = tuple[str, ...]


@dataclass(frozen=True)
class ReportSection:
    """A heading with sentences and a table; ``plot`` names the chart that belongs to it.

    ``numbers_from`` is the table's first column of numbers.
    """

    title: str
    lines: tuple[str, ...] = ()
    head: Row = ()
    rows: tuple[Row, ...] = ()
    numbers_from: int = 1
    plot: str = ""


def sections_of(report: QualityReport, zone: tzinfo) -> list[ReportSection]:
    """Return the sections of a report in order, the problems first."""
    return [
        ReportSection(words.GIST, tuple(marks(report)) or (words.ALL_WELL,)),
        _stored(report),
        *_examined(report.examination, zone),
        _recalled(report),
        _main_contributors(report),
        _gate(report),
        _backlog(report, zone),
        _costs(report),
        _latency(report),
        _log_retention(report),
        _missed(report, zone),
    ]


def marks(report: QualityReport) -> list[str]:
    """Return the problems that somebody should look at, the gravest first, one sentence each."""
    said = [
        words.POISONING.format(
            place=place_of(one.scope),
            who=one.name or words.HIDDEN,
            share=percent(one.share),
            lines=percent(one.lines_share),
        )
        for one in report.dominant
    ]
    if report.backlog.jobs.failed:
        said.append(words.MARK_FAILED.format(count=report.backlog.jobs.failed))
    found = report.examination
    if report.events and report.vague > NAMED_FLAWS * report.events:
        said.append(words.MARK_VAGUE.format(count=report.vague, share=percent(report.vague / report.events)))
    if found and found.near:
        said.append(words.MARK_TWICE.format(count=found.near))
    if report.backlog.vectors:
        said.append(words.MARK_LAG.format(count=report.backlog.vectors))
    return said


def heading(report: QualityReport, zone: tzinfo) -> str:
    """Return the line under the title: date of the report, its days, and the first day with counts."""
    day = report.counted_since
    since = words.COUNTED_SINCE.format(day=day.isoformat()) if day else words.NEVER_COUNTED
    return words.HEAD.format(at=f"{report.at.astimezone(zone):%Y-%m-%d %H:%M}", days=report.days, since=since)


def percent(share: float) -> str:
    """Return a share in [0, 1] as a percentage for people."""
    return f"{share * 100:.0f}%" if share >= NAMED_FLAWS or not share else f"{share * 100:.1f}%"


def place_of(scope: Scope) -> str:
    """Return the kind and id of a place for people."""
    return words.place(scope.kind, scope.place_id)


def _stored(report: QualityReport) -> ReportSection:
    if not report.places:
        return ReportSection(words.STORED, (words.NOTHING_STORED,))
    kinds = sorted({kind for place in report.places for kind in place.kinds})
    head = (words.PLACE, words.LINES, words.EVENTS, *(words.KINDS.get(kind, kind) for kind in kinds), words.ABSOLUTE)
    rows = tuple(
        (
            place_of(place.scope),
            str(place.lines),
            str(place.events),
            *(str(place.kinds.get(kind, 0)) for kind in kinds),
            *(
                f"{part}（{percent(part / place.events)}）" if place.events else "0"
                for part in (place.absolute, place.recalled)
            ),
        )
        for place in report.places[:MOST_PLACES]
    )
    return ReportSection(words.STORED, (), (*head, words.SHOWN), rows, plot="places")


def _examined(found: Examination | None, zone: tzinfo) -> tuple[ReportSection, ...]:
    """Return the sections on flaws, on repetitions, and on what was taken back."""
    if found is None:
        return tuple(ReportSection(one, (words.NOTHING_EXAMINED,)) for one in (words.FLAWS, words.TWICE, words.OPPOSED))
    flaws = tuple(
        (words.FLAW[one.flaw], str(one.count), "；".join(_quote(each, zone) for each in one.examples))
        for one in found.flaws
    )
    examined = words.EXAMINED.format(count=found.examined) if flaws else words.NO_FLAWS
    same = words.SAME_WORDS.format(count=found.duplicates, near=found.near)
    opposed = words.OPPOSED_FOUND.format(count=found.contradictions) if found.contradictions else words.NO_OPPOSED
    head = (words.PLACE, words.OLDER, words.NEWER, words.LIKENESS)
    near_rows, opposed_rows = (
        tuple(
            (place_of(one.scope), _quote(one.older, zone), _quote(one.newer, zone), percent(one.likeness))
            for one in pairs
        )
        for pairs in (found.near_pairs, found.contradicting_pairs)
    )
    return (
        ReportSection(words.FLAWS, (examined,), (words.REASON, words.COUNT, words.EXAMPLE), flaws, numbers_from=3),
        ReportSection(words.TWICE, (same, words.CUT) if found.is_cut else (same,), head, near_rows, numbers_from=3),
        ReportSection(words.OPPOSED, (opposed,), head, opposed_rows, numbers_from=3),
    )


def _recalled(report: QualityReport) -> ReportSection:
    if report.counted_since is None:
        return ReportSection(words.RECALLED, (words.NO_COUNT,))
    share = percent(report.never_recalled / report.events) if report.events else percent(0)
    return ReportSection(words.RECALLED, (words.NEVER.format(count=report.never_recalled, share=share),))


def _main_contributors(report: QualityReport) -> ReportSection:
    rows = tuple(
        (place_of(one.scope), one.name or words.HIDDEN, str(one.events), percent(one.share), percent(one.lines_share))
        for one in report.teachers[:MOST_PLACES]
    )
    head = (words.PLACE, words.PERSON, words.EVENTS, words.SHARE, words.LINES_SHARE)
    return ReportSection(words.TEACHERS, () if rows else (words.NO_TEACHERS,), head, rows, numbers_from=2)


def _gate(report: QualityReport) -> ReportSection:
    rows = tuple((words.REFUSALS.get(reason, reason), str(count)) for reason, count in report.refusals.items())
    line = words.REFUSED.format(count=sum(report.refusals.values()), retries=report.retries)
    return ReportSection(words.GATE, (line if rows else words.NOT_REFUSED,), (words.REASON, words.COUNT), rows)


def _backlog(report: QualityReport, zone: tzinfo) -> ReportSection:
    waits, jobs = report.backlog, report.backlog.jobs
    at = waits.facts_since
    line = words.BACKLOG.format(
        pending=jobs.pending,
        processing=jobs.processing,
        failed=jobs.failed,
        vectors=waits.vectors,
        facts=waits.facts,
        since=words.FACTS_SINCE.format(at=f"{at.astimezone(zone):%m-%d %H:%M}") if at else "",
    )
    return ReportSection(words.WAITING, (line,))


def _costs(report: QualityReport) -> ReportSection:
    if not report.costs:
        return ReportSection(words.COSTS, (words.NO_SPENDING,))
    head = (words.PURPOSE, words.MODEL, words.CALLS, words.TOKENS, words.ANSWERED, words.BAD, words.PRICE)
    rows = tuple(
        (
            words.PURPOSES.get(cost.purpose, cost.purpose),
            cost.model,
            *map(str, (cost.calls, cost.tokens, cost.answered, cost.bad + cost.unreachable)),
            "" if cost.price is None else f"{cost.price:.3f}",
        )
        for cost in report.costs
    )
    price, merges = report.price, report.merges_a_triage
    lines = [words.NO_PRICE if price is None else words.TOTAL_PRICE.format(price=price)]
    lines += [] if merges is None else [words.MERGES.format(count=merges)]
    lines += [] if all(cost.model for cost in report.costs) else [words.NO_MODEL_NAMED]
    return ReportSection(words.COSTS, tuple(lines), head, rows, numbers_from=2, plot="calls")


def _latency(report: QualityReport) -> ReportSection:
    bounds = [(one, one.quantile(HALF), one.quantile(MOST)) for one in report.latencies]
    rows = tuple(
        (
            words.READS.get(one.read, one.read),
            str(one.count),
            *(words.WITHIN.format(bound=bound) if bound else words.BEYOND for bound in (half, most)),
        )
        for one, half, most in bounds
    )
    head = (words.READ, words.TIMES, words.HALF, words.MOST)
    return ReportSection(words.LATENCY, () if rows else (words.NO_LATENCY,), head, rows, plot="latency")


def _log_retention(report: QualityReport) -> ReportSection:
    lines = sum(place.lines for place in report.places)
    whole = max([lines, *(one.lines for one in report.retention)])
    rows = tuple(
        (
            f"{one.log_days}{words.NOW if one.log_days == report.log_days else ''}",
            f"{one.lines}",
            percent(one.lines / whole if whole else 0),
            f"{one.weight / 1_000_000:.1f}",
        )
        for one in report.retention
    )
    head = (words.DAYS, words.GONE_LINES, words.GONE_SHARE, "MB")
    return ReportSection(words.KEPT, (words.LOG_DAYS.format(days=report.log_days),), head, rows, plot="retention")


def _missed(report: QualityReport, zone: tzinfo) -> ReportSection:
    said = [f"[{one.noted_at.astimezone(zone):%Y-%m-%d}] {one.question} → {one.wanted}" for one in report.missed]
    return ReportSection(words.MISSED, tuple(said) or (words.NO_MISSED,))


def _quote(event: QuotedEvent, zone: tzinfo) -> str:
    return f"[{event.happened_at.astimezone(zone):%Y-%m-%d}] {event.text}"
