"""``status``, ``search``, ``report`` and ``export``: read the memory, even while a bot is running with it."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import tzinfo
from pathlib import Path
from typing import Literal

from .. import sentences
from ..directory_owner import is_owned
from ..domain.event import MEMORY_KINDS
from ..domain.ids import checked_id
from ..domain.job import FailedJob
from ..domain.reading import ReadFilter
from ..domain.scope import Scene
from ..errors import BadArgument, UnavailableError
from ..memory.read_only import DirectorySnapshot, opened_reader
from ..quality.rendering import report_figures, report_markdown
from ..settings.configuration import Configuration
from ..text.speakers import spoken
from .bot_directory import BotDirectory, owning
from .parser import DONE, progress_bar, show

LONGEST = 4_000  # characters of a query


async def search(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Search events, or lines of the log, and print the best ones."""
    settings = bot.settings
    user = arguments.user and checked_id(arguments.user, "--user")
    group = arguments.group and checked_id(arguments.group, "--group")
    kinds = ("message",) if arguments.messages else MEMORY_KINDS
    wanted = ReadFilter(Scene.operator(settings.agent), user, group, kinds)
    async with opened_reader(bot.settings, bot.existing_dir) as reader:
        hits = await reader.search(wanted, arguments.query[:LONGEST], top_k=arguments.n)
        nothing = sentences.command_line.NOTHING_FOUND
        targets: Mapping[Literal["person", "group"], str | None] = {"person": user, "group": group}
        for kind, said in targets.items() if not hits else ():
            if said and (known := await reader.known_as(kind, said)) != [said]:
                nothing = sentences.command_line.unknown_target(kind, said, known)
    figures, lines = list[Mapping[str, object]](), list[str]()
    for hit in hits:
        event, place = hit.event, sentences.report.place(hit.event.group_id, hit.event.user_id)
        at = event.happened_at.astimezone(settings.zone)
        lines.append(f"{at:%Y-%m-%d %H:%M}  {hit.score:.2f}  [{place}]  {event.text}")
        lines += [f"    {spoken(event)}"] if event.quotes and event.is_absolute else []  # a model worded the text
        told = {name: getattr(event, name) for name in ("id", "kind", "text", "group_id", "user_id", "sender_id")}
        quotes = [{"sender_id": quote.sender_id, "text": quote.text} for quote in event.quotes]
        at_score = {"happened_at": event.happened_at.isoformat(), "score": round(hit.score, 4)}
        figures.append({**told, "quotes": quotes, **at_score})
    return show(arguments, figures, "\n".join(lines) or nothing)


async def report(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Print the quality of what is remembered as Markdown or JSON."""
    async with opened_reader(bot.settings, bot.existing_dir) as reader:
        found = await reader.report(days=arguments.days)
    if arguments.json:
        show(arguments, report_figures(found), "")
    else:
        sys.stdout.write(report_markdown(found, bot.settings.zone))
    return DONE


async def export(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Write the whole memory, or one person's part, as JSON Lines."""
    target: Path = arguments.file.absolute()
    user = checked_id(arguments.user, "--user") if arguments.user is not None else None
    template = sentences.command_line.EXPORTED
    with progress_bar(sentences.command_line.EXPORTING, None):
        try:
            async with owning(bot) as memory:  # notes the copy, which an erasure names
                count = await memory.export(target, user_id=user)
        except UnavailableError:
            template = sentences.command_line.EXPORTED_BESIDE_BOT
            async with opened_reader(bot.settings, bot.existing_dir) as reader:
                count = await reader.export(target, user_id=user)
    return show(arguments, {"rows": count, "file": str(target)}, template.format(count=count, path=target))


ID_LENGTH, ERROR_LENGTH = 8, 200
NAME_WIDTH = 12  # columns, of which a Chinese character takes two


async def status(arguments: argparse.Namespace, bot: BotDirectory) -> int:
    """Print the figures of the memory and its failed jobs, or queue failed jobs again."""
    if (wanted := arguments.retry) is not None:
        async with owning(bot) as memory:
            ids = (
                [None]
                if wanted == "all"
                else [one.id for one in await memory.failed_jobs() if one.id.startswith(wanted)]
            )
            if len(ids) != 1:
                raise BadArgument(sentences.command_line.UNKNOWN_JOB)
            count = await memory.revive(ids[0])
        return show(arguments, {"retried": count}, sentences.command_line.RETRIED.format(count=count))
    configuration = bot.configuration
    is_running = await asyncio.to_thread(is_owned, bot.data_dir)
    async with opened_reader(configuration.settings, bot.existing_dir) as reader:
        snapshot = await reader.snapshot()
    failed, zone = snapshot.failed, configuration.settings.zone
    switches = [
        {"place": one.scope.kind, "place_id": one.scope.place_id, "switch": one.switch, "until": one.until}
        for one in snapshot.switches
    ]
    figures = {
        "data_dir": str(bot.data_dir),
        "running": is_running,
        "totals": asdict(snapshot.totals),
        "jobs": asdict(snapshot.jobs),
        "failed": [_failed_figures(job) for job in failed],
        "spent_today": [asdict(spending) for spending in snapshot.spent_today],
        "index_lag": snapshot.index_lag,
        "switches": switches,
        "overrides": configuration.overridden,
        "problems": configuration.problems,
    }
    lines = [] if arguments.failed else [*_status_lines(bot, configuration, snapshot, is_running=is_running)]
    if failed or arguments.failed:
        head = sentences.report.FAILED_HEAD.format(count=len(failed)) if failed else sentences.report.NO_FAILED
        lines += [*([""] if lines else []), head, *(_failed_line(job, zone) for job in failed)]
    return show(arguments, figures, "\n".join(lines))


def _status_lines(
    bot: BotDirectory, configuration: Configuration, snapshot: DirectorySnapshot, *, is_running: bool
) -> Iterator[str]:
    words, totals, zone = sentences.report, snapshot.totals, configuration.settings.zone

    def row(name: str, *values: str) -> str:
        return f"{name}{' ' * (NAME_WIDTH - 2 * len(name))}" + f"\n{' ' * NAME_WIDTH}".join(values)

    yield row(words.DIRECTORY, str(bot.data_dir))
    yield row(words.RUNNING, words.IS_RUNNING if is_running else words.IS_NOT_RUNNING)
    borrowed = words.BORROWED.format(names="、".join(snapshot.lenders)) if snapshot.lenders else words.RULES
    historian = configuration.settings.models.historian.model_name or borrowed
    yield row(words.MODE, words.MODELS.format(historian=historian, embedding=snapshot.embedder))
    yield row(words.HELD, words.EVENTS_HELD.format(**vars(totals)))
    yield row(words.LOG, words.LINES_HELD.format(messages=totals.messages))
    yield row(words.JOBS, words.COUNTS.format(**vars(snapshot.jobs)))
    calls, tokens = (sum(getattr(one, name) for one in snapshot.spent_today) for name in ("calls", "tokens"))
    yield row(words.SPENT, words.SPENDING.format(calls=calls, tokens=tokens))
    if snapshot.index_lag:
        yield row(words.LAG, words.LAGGING.format(count=snapshot.index_lag))
    switched: list[str] = []
    for one in snapshot.switches:
        place, switch = words.place(one.scope.group_id, one.scope.place_id), words.SWITCHED[one.switch]
        until = words.UNTIL.format(until=f"{one.until.astimezone(zone):%Y-%m-%d %H:%M}") if one.until else ""
        switched.append(words.SWITCHED_HERE.format(place=place, switched=switch, until=until))
    if switched:
        yield row(words.SWITCHES, *switched)
    if changed := [*(f"{key}={value}" for key, value in configuration.overridden.items()), *configuration.problems]:
        yield row(words.OVERRIDES, *changed)


def _failed_figures(job: FailedJob) -> Mapping[str, object]:
    scene = job.job.work.scene if job.job else None
    where = {"group_id": scene.group_id if scene else None, "user_id": scene.user_id if scene else None}
    told = {name: getattr(job, name) for name in ("attempts", "failed_at", "error", "advice")}
    return {"id": job.id, **where, **told}


def _failed_line(job: FailedJob, zone: tzinfo) -> str:
    words, scene = sentences.report, job.job.work.scene if job.job else None
    return words.FAILED_LINE.format(
        id=job.id[:ID_LENGTH],
        at=f"{job.failed_at.astimezone(zone):%m-%d %H:%M}",
        place=words.place(scene.group_id, scene.user_id) if scene else words.UNREADABLE_PLACE,
        attempts=job.attempts,
        error=" ".join(job.error.split())[:ERROR_LENGTH],
        advice=job.advice,
    )
