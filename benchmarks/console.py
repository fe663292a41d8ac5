"""Time to the first byte of each page of the console over a large memory, and the longest work of the event loop.

Pages are asked of the application itself, without a socket. The longest work of the loop is processor time of its
thread between two ticks, which a busy machine adds nothing to.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import nonebot

import cognitive_memory_core as core
from cognitive_memory_core.domain.people import Alias
from cognitive_memory_core.store.ledger import Ledger
from tests.support.clock import FrozenClock

from .measure import Report, Sample, freeze, loop_watched
from .workload import NOW, Line, Speech, TopicVectors, batches, group_years, groups_by_size, laid

BASE, TOKEN = "http://127.0.0.1/memory/console", "a-token-of-the-benchmark"
WARM = 2  # visits of a page before it is measured
REACH, LOOP = 300.0, 20.0  # ms
LOOPED = "loop's longest work ms"
# {group}: the largest, {small}: the smallest; {person}: somebody of the largest, {day}: one of its days
PAGES = (
    *("/", "/memories", "/memories?page=1000", "/memories?place=group/{group}", "/memories?user_id={person}"),
    "/memories?place=group/{small}",
    *("/memories?state=retired", "/memories?place=group/{group}&text={said}", "/memories?text={said}"),
    *("/memories/open?id={event}", "/lines", "/lines?page=100", "/lines?day={day}", "/lines?place=group/{group}"),
    *("/lines?place=group/{group}&day={day}", "/lines?user_id={person}", "/people", "/people/open?id={person}"),
    *("/places", "/places/open?place=group/{group}", "/beliefs?group={group}", "/suggestions?group={group}"),
    *("/question?place=group/{group}&user_id={person}&text={said}", "/question/cases", "/running", "/jobs"),
    *("/settings", "/settings?group=record", "/prompts", "/records", "/report", "/transfers"),
)


def timed(app: Any, first: Sample) -> Any:
    """Return an application that notes the time to the first byte of each answer."""

    async def wrapped(scope: Any, receive: Any, send: Any) -> None:
        started, answers = time.perf_counter(), len(first.seconds)

        async def sending(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.body" and len(first.seconds) == answers:
                first.seconds.append(time.perf_counter() - started)
            await send(message)

        await app(scope, receive, sending)

    return wrapped


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of events, of lines, of visits."""
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--visits", type=int, default=20)
    parser.add_argument("--laid", type=Path, help="a folder for the workload, kept for the next run")
    parser.add_argument("--pages", default="", help="only pages whose address begins so")


def run(options: argparse.Namespace) -> Report:
    """Visit every page; the reach is a first byte within 300 ms (p95) and work of the loop within 20 ms."""
    title = f"console: {options.events} events, {options.lines} lines, {options.visits} visits of each page"
    report = Report(
        title, ("page", "first byte p50 ms", "p95 ms", "whole p95 ms", "processor ms", "loop's longest work ms")
    )
    with tempfile.TemporaryDirectory() as folder:
        nonebot.init(driver="~none", log_level="ERROR", localstore_data_dir=folder)
        nonebot.load_plugin("nonebot_plugin_cognitive_memory")
        asyncio.run(_measure(report, options, options.laid or Path(folder)))
    over = [row[0] for row in report.rows if float(row[2]) > REACH or float(row[5]) > LOOP]
    report.notes.append(f"over {REACH:.0f} ms or {LOOP:.0f} ms: {', '.join(map(str, over)) or 'none'}")
    return report


async def _measure(report: Report, options: argparse.Namespace, folder: Path) -> None:
    lines = list(group_years(options.events))
    if not (folder / "ledger.db").exists():
        await laid(lines, folder)
        await _spoken(lines[-options.lines :], folder)
    groups, said = [group for group, _ in groups_by_size(lines)], Speech(4).text(20)
    group = groups[0]
    last = max((one for one in lines if one.group_id == group), key=lambda one: one.happened_at)
    values = {
        "group": group,
        "small": groups[-1],
        "person": last.user_id,
        "day": f"{last.happened_at:%Y-%m-%d}",
        "said": said,
    }
    settings = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"))
    async with core.CognitiveMemory.open(settings, folder, clock=FrozenClock(NOW), embedder=TopicVectors()) as memory:
        first = Sample()
        transport = httpx.ASGITransport(timed(_application(memory, settings, folder), first))
        browser = httpx.AsyncClient(transport=transport, base_url=BASE, headers={"origin": "http://127.0.0.1"})
        await browser.post("/login", data={"secret": TOKEN})
        for page in (one for one in PAGES if one.startswith(options.pages)):
            path = page.format(**values, event=last.id)
            for _ in range(WARM):
                assert (await browser.get(path)).is_success, path
            whole = Sample()
            first.seconds.clear()
            spent = time.process_time()
            async with loop_watched() as gap:
                for _ in range(options.visits):
                    with whole.watch():
                        await browser.get(path)
            spent = 1000 * (time.process_time() - spent) / options.visits
            report.add(page, first.p50, first.p95, whole.p95, spent, gap.worked)


async def _spoken(lines: Sequence[Line], folder: Path) -> None:
    """Write lines into the message log of a data directory that no memory has open, with a name for each person."""
    ledger = await Ledger.open(folder / "ledger.db")
    try:
        for batch in batches(lines):
            await ledger.log.append([core.Message(one.id, one.scene, one.text, one.happened_at) for one in batch])
            named = [(one.scene.scope, one.user_id, f"某人{one.user_id[-5:]}", one.happened_at) for one in batch]
            await ledger.names.note_all([Alias(*one, one[-1]) for one in named])
    finally:
        await ledger.close()


def _application(memory: core.CognitiveMemory, settings: core.Settings, folder: Path) -> Any:
    from fastapi import FastAPI  # noqa: PLC0415  # the plugin's modules exist once a bot has loaded it

    from nonebot_plugin_cognitive_memory.console.application import console_application  # noqa: PLC0415
    from nonebot_plugin_cognitive_memory.console.sessions import ConsoleAccess  # noqa: PLC0415
    from nonebot_plugin_cognitive_memory.console.visit import ConsoleContext  # noqa: PLC0415
    from nonebot_plugin_cognitive_memory.http.routes import Backing  # noqa: PLC0415
    from nonebot_plugin_cognitive_memory.http.site import Site  # noqa: PLC0415

    backing = Backing(lambda: memory, lambda: settings)
    site, app = Site(TOKEN, (), backing), FastAPI()
    site.add("/console", console_application(ConsoleAccess(), ConsoleContext(backing, folder), TOKEN))
    app.mount("/memory", site.app)
    freeze()
    return app
