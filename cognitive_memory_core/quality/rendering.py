"""The report for readers: plain values for JSON, and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from itertools import chain

import orjson

from ..domain.event import exchange
from ..domain.quality import Examination, QualityReport, QuotedEvent
from ..domain.scope import Scope
from ..sentences import report as words
from ..sentences.context import IN_WORDS, SOMEBODY

MOST_PLACES = 30  # shown; the rest is in the JSON
NAMED_FLAWS = 0.1  # share of events that do not stand on their own, from which the gist says so
Row = tuple[str, ...]
_SIGNS = str.maketrans({**{sign: f"\\{sign}" for sign in "\\`*_[]|#"}, "<": "＜", ">": "＞"})


def _section(
    title: str, lines: Sequence[str] = (), head: Row = (), rows: Sequence[Row] = (), numbers_from: int = 1
) -> list[str]:
    """Return a heading with sentences and a table, whose numbers begin at a column; quoted texts are escaped."""

    def escaped(text: str) -> str:
        return " ".join(text.split()).translate(_SIGNS)

    shown = ["", f"## {title}"]
    shown += ["", *(f"- {escaped(line)}" for line in lines)] if lines else []
    if rows:
        marks = ["---:" if at >= numbers_from else "---" for at in range(len(head))]
        names, *cells = (list(map(escaped, row)) for row in (head, *rows))
        shown += ["", *(f"| {' | '.join(row)} |" for row in (names, marks, *cells))]
    return shown


def report_figures(report: QualityReport) -> Mapping[str, object]:
    """Return all fields and totals of a report for JSON; a place is agent, place and place_id, an instant ISO 8601."""

    def plain(value: object) -> Mapping[str, object]:
        if isinstance(value, Scope):
            return {"agent": value.agent, "place": value.kind, "place_id": value.place_id}
        return vars(value)

    totals = {
        "events": report.events,
        "not_absolute": report.vague,
        "never_recalled": report.never_recalled,
        "price": report.price,
    }
    figures = {**vars(report), "dominant": report.dominant, "totals": totals}
    return orjson.loads(orjson.dumps(figures, plain, orjson.OPT_PASSTHROUGH_DATACLASS))


def _stored(report: QualityReport) -> Iterator[list[str]]:
    """Yield the problems, and the section on what is stored."""
    yield _section(words.GIST, tuple(_problems(report)) or (words.ALL_WELL,))
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
    yield _section(words.STORED, empty, (*head, words.ABSOLUTE, words.SHOWN), rows)


def _shown(report: QualityReport, zone: tzinfo) -> Iterator[list[str]]:
    """Yield the sections on what was recalled, who taught, what the gate refused, what waits, and what was missed."""
    never = words.NO_COUNT
    if report.counted_since:
        share = report.never_recalled / report.events if report.events else 0
        never = words.NEVER.format(count=report.never_recalled, share=_percent(share))
    yield _section(words.RECALLED, (never,))
    rows = tuple(
        (_place(one.scope), one.name or SOMEBODY, str(one.events), _percent(one.share), _percent(one.lines_share))
        for one in report.teachers[:MOST_PLACES]
    )
    head = (words.PLACE, words.PERSON, words.EVENTS, words.SHARE, words.LINES_SHARE)
    yield _section(words.TEACHERS, () if rows else (words.NO_TEACHERS,), head, rows, 2)
    rows = tuple((words.REFUSALS.get(reason, reason), str(count)) for reason, count in report.refusals.items())
    refused = words.REFUSED.format(count=sum(report.refusals.values()), retries=report.retries)
    yield _section(words.GATE, (refused if rows else words.NOT_REFUSED,), (words.REASON, words.COUNT), rows)
    waits, at = report.backlog, report.backlog.facts_since
    waiting = words.BACKLOG.format(
        pending=waits.jobs.pending,
        processing=waits.jobs.processing,
        failed=waits.jobs.failed,
        vectors=waits.vectors,
        facts=waits.facts,
        since=words.FACTS_SINCE.format(at=f"{at.astimezone(zone):%m-%d %H:%M}") if at else "",
    )
    yield _section(words.WAITING, (waiting,))
    missed = [f"[{one.noted_at.astimezone(zone):%Y-%m-%d}] {one.question} → {one.wanted}" for one in report.missed]
    yield _section(words.MISSED, tuple(missed) or (words.NO_MISSED,))


def _problems(report: QualityReport) -> Iterator[str]:
    """Yield what somebody should look at, the gravest first, one sentence each."""
    for one in report.dominant:
        shares = {"share": _percent(one.share), "lines": _percent(one.lines_share)}
        yield words.POISONING.format(place=_place(one.scope), who=one.name or SOMEBODY, **shares)
    if report.backlog.jobs.failed:
        yield words.MARK_FAILED.format(count=report.backlog.jobs.failed)
    if report.vague > NAMED_FLAWS * report.events:
        yield words.MARK_VAGUE.format(count=report.vague, share=_percent(report.vague / report.events))
    if report.backlog.vectors:
        yield words.MARK_LAG.format(count=report.backlog.vectors)


def _examined(found: Examination | None, zone: tzinfo) -> Iterator[list[str]]:
    """Yield the sections on flaws and on what was taken back."""
    if found is None:
        return

    def quoted(event: QuotedEvent) -> str:
        told = exchange(event.quotes)
        words = IN_WORDS.format(words=told) if event.quotes and told != event.text else ""
        return f"[{event.happened_at.astimezone(zone):%Y-%m-%d}] {event.text}{words}"

    rows = tuple((words.FLAW[one.flaw], str(one.count), "；".join(map(quoted, one.examples))) for one in found.flaws)
    examined = words.EXAMINED.format(count=found.examined) if rows else words.NO_FLAWS
    yield _section(words.FLAWS, (examined,), (words.REASON, words.COUNT, words.EXAMPLE), rows, 3)
    rows = tuple((_place(one.scope), quoted(one.older), quoted(one.newer)) for one in found.contradicting_pairs)
    opposed = words.OPPOSED_FOUND.format(count=found.contradictions) if rows else words.NO_OPPOSED
    yield _section(words.OPPOSED, (opposed,), (words.PLACE, words.OLDER, words.NEWER), rows, 3)


def _costs(report: QualityReport) -> Iterator[list[str]]:
    """Yield the section on costs."""
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
    lines += [] if all(cost.model for cost in report.costs) else [words.NO_MODEL_NAMED]
    head = (words.PURPOSE, words.MODEL, words.CALLS, words.TOKENS, words.ANSWERED, words.BAD, words.PRICE)
    yield _section(words.COSTS, tuple(lines) if rows else (words.NO_SPENDING,), head, rows, 2)


def _percent(share: float) -> str:
    return f"{share * 100:.0f}%" if share >= NAMED_FLAWS or not share else f"{share * 100:.1f}%"


def _place(scope: Scope) -> str:
    return words.place(scope.group_id, scope.place_id)


def report_markdown(report: QualityReport, zone: tzinfo) -> str:
    """Return a report as Markdown, the problems first; quoted texts are escaped."""
    day = report.counted_since
    since = words.COUNTED_SINCE.format(day=day.isoformat()) if day else words.NEVER_COUNTED
    head = words.HEAD.format(at=f"{report.at.astimezone(zone):%Y-%m-%d %H:%M}", days=report.days, since=since)
    sections = (_stored(report), _examined(report.examination, zone), _shown(report, zone), _costs(report))
    lines = [f"# {words.TITLE}", "", head]
    for section in chain(*sections):
        lines += section
    return "\n".join(lines) + "\n"
