"""What the context of a turn holds: does the evidence of a question of a labelled chat stand in its text?

A memory lives through the chat of ``--data``: it hears each line, and its historian reads the lines of a place in
windows, as a bot with default settings does. Each question is asked at its time, in its place, by its asker. Evidence
stands in a text as a line of the log, as a statement made from it, or as a clause that a profile quotes. ``--out``
names a folder for contexts and questions, to be answered by a reader; a judge, if one is given, answers and grades.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from .answers_judge import VERDICTS, Graded, graded
from .answers_models import Address, add_model_arguments, judge_of, model_of
from .answers_modes import MODES, Life, Trial, life
from .answers_pages import write_pages
from .answers_sets import begun, chat_of, drawn
from .answers_shown import WINDOW, Shown
from .chat_set import Chat, with_role
from .labelled import Tuning, mean
from .measure import Cell, Report, percentile

REACH = 80.0  # % of the questions
Judged = dict[str, list[Graded]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: chat, modes, models, changed settings, and what is written."""
    parser.add_argument("--data", type=Path, required=True, help="groupchat-zh, teamchat-zh or LoCoMo (JSON)")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=["rules", "gold"], metavar="MODE",
                        help="; ".join(f"{mode}: {says}" for mode, says in MODES.items()))  # fmt: skip
    parser.add_argument("--out", type=Path, help="folder for contexts and questions, answers, and events")
    parser.add_argument("--first", type=int, metavar="N", help="only the first N lines of the chat")
    parser.add_argument("--questions", type=int, metavar="N", help="only N questions, drawn at random")
    parser.add_argument(
        "--owners", nargs="+", metavar="ID", help="people who own their groups, which a set may not tell"
    )
    parser.add_argument("--seed", type=int, default=7, help="of that draw")
    add_model_arguments(parser)
    parser.add_argument("--query", nargs="*", default=[], metavar="KEY=VALUE", help="settings of query that differ")
    parser.add_argument("--budget", type=int, help="tokens of a context (default: as set)")
    parser.add_argument("--misses", action="store_true", help="print the contexts that lack evidence")


def run(options: argparse.Namespace) -> Report:
    """Let a memory live through the chat once a mode, and ask for a context at each question's time."""
    chat = chat_of(options.data)
    chat = _owned(chat, options.owners) if options.owners else chat
    chat = begun(chat, options.first) if options.first else chat
    chat = drawn(chat, options.questions, options.seed) if options.questions else chat
    query: dict[str, object] = dict(pair.split("=", 1) for pair in options.query)
    trial = Trial(Tuning({"query": query}), options.budget, model_of(options))
    lives = [asyncio.run(life(chat, mode, trial)) for mode in options.modes]
    judged = asyncio.run(_judged(lives, judge_of(options)))
    report = _report(chat, lives, judged)
    for one in lives if options.out else ():
        files = write_pages(options.out, one, judged.get(one.mode, []))
        report.notes.append(f"written: {', '.join(map(str, files))}")
    if options.misses:
        _print_misses(chat, lives[0].shown)
    return report


def _owned(chat: Chat, owners: Sequence[str]) -> Chat:
    return replace(chat, lines=tuple(replace(line, message=with_role(line.message, owners)) for line in chat.lines))


async def _judged(lives: Sequence[Life], address: Address | None) -> Judged:
    if address is None:
        return {}
    async with AsyncExitStack() as stack:
        judge = await address.opened(stack)
        return {one.mode: await graded(judge, one.shown) for one in lives}


def _report(chat: Chat, lives: Sequence[Life], judged: Judged) -> Report:
    title = f"answers: {len(chat.lines)} messages, contexts of {len(chat.questions)} questions at their time"
    report = Report(title, ("figure", "n", *(one.mode for one in lives)))
    if chat.known:
        _add_evidence(report, lives)
    if chat.questions:
        _add_sizes(report, lives)
    if judged:
        _add_verdicts(report, lives, judged)
    if any(each.reads for each in lives):
        _add_costs(report, lives)
    shares = [mean([float(one.share > 0) for one in _known(each)]) for each in lives if chat.known]
    report.failed = any(one.forbidden for each in lives for one in each.shown) or any(it < REACH for it in shares[:1])
    report.notes += [
        f"reach: evidence in the text of {REACH:.0f} % of the questions without a model, 0 forbidden",
        f"in the window: evidence among the last {WINDOW} lines of the place, which a chat hands its model itself",
        *(f"{one.mode}: {MODES[one.mode]}" for one in lives),
        *(f"{one.mode}: failed calls {dict(one.failures)}" for one in lives if one.failures),
    ]
    return report


def _add_evidence(report: Report, lives: Sequence[Life]) -> None:
    count = len(_known(lives[0]))

    def add(figure: str, value: Callable[[Shown], float]) -> None:
        report.add(figure, count, *(mean([value(one) for one in _known(each)]) for each in lives))

    add("evidence in the text, some %", lambda one: float(one.share > 0))
    add("evidence in the text, all %", lambda one: float(one.share == 1))
    add("evidence in the text, share %", lambda one: one.share)
    add("some, or in the window %", lambda one: float(one.is_at_hand))
    for by, kinds in (("", _types), ("place ", _places)):
        for kind in sorted({kinds(one) for one in _known(lives[0])}):
            each = [[float(one.share > 0) for one in _known(each) if kinds(one) == kind] for each in lives]
            report.add(f"some % {by}{kind}", len(each[0]), *map(mean, each))


def _types(shown: Shown) -> str:
    return shown.question.type


def _places(shown: Shown) -> str:
    """Return the group; private chats count together."""
    return shown.question.place if shown.question.scene.kind == "group" else "private"


def _add_sizes(report: Report, lives: Sequence[Life]) -> None:
    count = len(lives[0].shown)
    wrong = sum(bool(one.question.forbidden) for one in lives[0].shown)
    report.add("forbidden shown", wrong, *(sum(len(one.forbidden) for one in each.shown) for each in lives))
    for figure, share in (("median", 0.5), ("p95", 0.95)):
        report.add(f"tokens a turn, {figure}", count, *(_tokens(each.shown, share) for each in lives))
    idle = [[one for one in each.shown if not one.question.evidence] for each in lives]
    report.add("tokens without an answer, median", len(idle[0]), *(_tokens(each, 0.5) for each in idle))
    report.add("degraded", count, *(sum(bool(one.degraded) for one in each.shown) for each in lives))


def _tokens(shown: Iterable[Shown], share: float) -> Cell:
    return percentile([one.tokens for one in shown] or [0], share)


def _add_verdicts(report: Report, lives: Sequence[Life], judged: Judged) -> None:
    for verdict in (*VERDICTS, ""):
        shares = [mean([float(one.verdict == verdict) for one in judged[each.mode]]) for each in lives]
        report.add(f"{verdict or 'not judged'} %", len(lives[0].shown), *shares)


def _add_costs(report: Report, lives: Sequence[Life]) -> None:
    """Add what the historian stored and asked, per message of a person; modes without one have none."""
    said = lives[0].said

    def add(figure: str, value: Callable[[Life], Cell]) -> None:
        report.add(figure, said, *(value(each) if each.reads else "" for each in lives))

    add("events stored", lambda each: len(each.memories))
    add("calls a message", lambda each: each.calls.total() / said)
    add("tokens of calls a message", lambda each: each.tokens.total() / said)
    for purpose in sorted({purpose for each in lives for purpose in each.calls}):
        add(f"calls of {purpose}", lambda each, purpose=purpose: each.calls[purpose])
    report.failed |= any(each.buried for each in lives)
    add("jobs that failed for good", lambda each: each.buried)


def _known(each: Life) -> list[Shown]:
    return [one for one in each.shown if one.question.evidence]


def _print_misses(chat: Chat, shown: Sequence[Shown]) -> None:
    said = {line.message.id: f"{line.name}: {line.message.text}" for line in chat.lines}
    for one in shown:
        missed = sorted(one.question.evidence - one.found)
        if missed:
            sys.stdout.write(f"== {one.question.type} {one.question.at:%m-%d %H:%M} {one.question.text}\n")
            sys.stdout.writelines(f"   missing {message} {said[message]}\n" for message in missed)
            sys.stdout.write(f"{one.text}\n")
