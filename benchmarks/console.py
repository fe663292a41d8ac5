"""Time to the first byte of each page of the console, and what the bot's event loop pays for it.

Clients are processes of their own. Each page is visited by one client; then two clients visit all pages at once while
the bot records messages and builds contexts. A gap of the loop is given as measured, as processor time of its thread
between two ticks, and beside what a process that only sleeps was delayed by at most: on a busy machine the first alone
says nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import nonebot
import uvicorn

import cognitive_memory_core as core

from .bystander import Bystander, bystander
from .measure import Report, Sample, loop_watched, percentile
from .workload import NOW, Line, Noon, Speech, TextVectors, group_years, groups_by_size, vocabulary
from .year_in_ledger import laid, spoken

TOKEN = "a-token-of-the-benchmark"
WARM = 2  # visits of a page before it is measured
PAUSE = 0.05  # seconds between two messages of the bot under load
TALKING = 2_000  # lines that the bot under load is told
COLUMNS = (
    *("page", "first byte p50 ms", "first byte p95 ms", "whole p95 ms", "processor ms"),
    *("loop gap ms", "loop processor ms", "bystander ms"),
)
Took = tuple[float, float]  # milliseconds to the first byte and to the last one


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of events, visits of each page."""
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--visits", type=int, default=20)
    parser.add_argument("--directory", type=Path, help="a folder on the disk to measure (default: temporary files)")
    parser.add_argument("--laid", type=Path, help="a data directory with the workload, written before; else it is made")


def run(options: argparse.Namespace) -> Report:
    """Visit every page of a console over a large memory."""
    report = Report(f"console: {options.events} events, {options.visits} visits of each page", COLUMNS)
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        asyncio.run(_measure(report, options, Path(folder)))
    report.notes.append("the places are searched exactly; p95 of a row of two clients is over all pages together")
    report.notes.append("one logged line and one name for each event; a slow page is sent in two parts")
    return report


async def _measure(report: Report, options: argparse.Namespace, folder: Path) -> None:
    data_dir = options.laid or folder / "data"
    talk, group_id, person = await _laid(options.events, None if options.laid else data_dir)
    nonebot.init(driver="~none", log_level="ERROR", localstore_data_dir=str(folder / "bot"))
    nonebot.load_plugin("nonebot_plugin_cognitive_memory")
    settings = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"))
    said = Speech(4).text(20)
    vocabulary.cache_clear()  # of the bot's process, whose garbage collector would go through it
    gc.collect()
    opening = core.CognitiveMemory.open(settings, data_dir, clock=Noon(), embedder=TextVectors())
    async with opening as memory, _served(_application(memory, settings, data_dir)) as address, bystander() as aside:
        _freeze()
        pages = await _pages(memory, group_id, person, said)
        client, other = _client(address), _client(address)
        try:
            for name, path in pages.items():
                await aside.longest()
                async with loop_watched() as gap:
                    spent = time.process_time()
                    took = await asyncio.to_thread(_visited, client, path, options.visits)
                    spent = (time.process_time() - spent) * 1000 / (options.visits + WARM)
                report.add(name, *_figures(took), spent, gap.longest, gap.worked, await aside.longest())
            await _under_load(report, memory, talk, (client, other), paths=[*pages.values()], aside=aside)
        finally:
            for one in (client, other):
                one.stdin.close()
                await asyncio.to_thread(one.wait)


def _freeze() -> None:
    """Do what the bot does once its memory is open."""
    from nonebot_plugin_cognitive_memory.garbage_collection import freeze_started_objects  # noqa: PLC0415  # as below

    freeze_started_objects()


async def _laid(events: int, folder: Path | None) -> tuple[list[Line], str, str]:
    """Write the workload unless it is there; return lines for the bot to be told, the largest group and a person."""
    lines = list(group_years(events))
    if folder is not None:
        await laid(lines, folder)
        await spoken(lines, folder)
    return lines[:TALKING], groups_by_size(lines)[0][0], lines[-1].user_id


async def _pages(memory: core.CognitiveMemory, group_id: str, person: str, said: str) -> Mapping[str, str]:
    event = (await memory.listings.events(core.Scene.operator(), core.EventListing(), 1, 0))[0]
    return {
        "today": "/",
        "memories": "/memories",
        "memories, page 1,000": "/memories?page=1000",
        "memories of a group": f"/memories?place=group/{group_id}",
        "memories of a person": f"/memories?user_id={person}",
        "memories, forgotten": "/memories?state=retired",
        "memories, not absolute": "/memories?state=relative",
        "memories, a search in the largest group": f"/memories?place=group/{group_id}&text={said}",
        "one memory": f"/memories/open?id={event.id}",
        "a tried question in the largest group": f"/question?place=group/{group_id}&user_id={person}&text={said}",
        "people": "/people",
        "one person": f"/people/open?id={person}",
        "groups and chats": "/places",
        "one group": f"/places/open?place=group/{group_id}",
        "beliefs": f"/beliefs?group={group_id}",
        "suggestions for the largest group": f"/suggestions?group={group_id}",
        "kept cases": "/question/cases",
        "failed jobs": "/jobs",
        "settings": "/settings",
        "report, without comparing texts": "/report",
        "export and backup": "/transfers",
        "memories, a search everywhere": f"/memories?text={said}",
    }


async def _under_load(
    report: Report,
    memory: core.CognitiveMemory,
    lines: Sequence[Line],
    clients: Sequence[subprocess.Popen[str]],
    *,
    paths: Sequence[str],
    aside: Bystander,
) -> None:
    """Let two clients visit all pages but the search everywhere at once, while the bot talks."""
    bot = Sample()
    talking = asyncio.create_task(_talk(memory, lines, bot))
    await aside.longest()
    async with loop_watched() as gap:
        visits = (asyncio.to_thread(_toured, client, paths[:-1]) for client in clients)
        took = [one for tour in await asyncio.gather(*visits) for one in tour]
    talking.cancel()
    report.add("two clients and a bot", *_figures(took), 0.0, gap.longest, gap.worked, await aside.longest())
    report.add("the bot's contexts meanwhile", bot.p50, bot.p95, bot.p95, 0.0, 0.0, 0.0, 0.0)


async def _talk(memory: core.CognitiveMemory, lines: Sequence[Line], contexts: Sample) -> None:
    """Record messages, and build a context for every tenth."""
    for number, line in enumerate(lines):
        await memory.observe(core.Message(f"load-{number}", line.scene, line.text, NOW))
        if number % 10 == 0:
            with contexts.watch():
                await memory.context(line.scene, line.text)
        await asyncio.sleep(PAUSE)


def _figures(took: Sequence[Took]) -> tuple[float, float, float]:
    first, whole = [one for one, _ in took], [one for _, one in took]
    return percentile(first, 0.5), percentile(first, 0.95), percentile(whole, 0.95)


def _application(memory: core.CognitiveMemory, settings: core.Settings, data_dir: Path) -> Any:
    from fastapi import FastAPI  # noqa: PLC0415  # the plugin's modules exist once a bot has loaded it

    from nonebot_plugin_cognitive_memory.console.application import console_application  # noqa: PLC0415
    from nonebot_plugin_cognitive_memory.console.sessions import ConsoleAccess  # noqa: PLC0415
    from nonebot_plugin_cognitive_memory.console.visit import ConsoleContext  # noqa: PLC0415
    from nonebot_plugin_cognitive_memory.http.dependencies import Backing  # noqa: PLC0415
    from nonebot_plugin_cognitive_memory.http.site import Site  # noqa: PLC0415

    backing = Backing(lambda: memory, lambda: settings)
    site = Site(TOKEN, (), backing)
    site.add("/console", console_application(ConsoleAccess(), ConsoleContext(backing, data_dir), TOKEN))
    app = FastAPI()
    app.mount("/memory", site.app)
    return app


@asynccontextmanager
async def _served(app: Any) -> AsyncGenerator[str, None]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
        task = asyncio.create_task(server.serve([listening]))
        while not server.started:  # noqa: ASYNC110  # uvicorn offers no event
            await asyncio.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/memory/console"
        finally:
            server.should_exit = True
            await task


def _client(address: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.console", address, TOKEN]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _toured(client: subprocess.Popen[str], paths: Sequence[str]) -> list[Took]:
    return [took for path in paths for took in _visited(client, path, 2)]


def _visited(client: subprocess.Popen[str], path: str, visits: int) -> list[Took]:
    """Return the milliseconds to the first and to the last byte of each visit after the first ones."""
    assert client.stdin is not None
    assert client.stdout is not None
    client.stdin.write(json.dumps([path, WARM + visits]) + "\n")
    client.stdin.flush()
    took: list[Took] = json.loads(client.stdout.readline())
    return took[WARM:]


def _visit(client: httpx.Client, path: str) -> Took:
    start = time.perf_counter()
    with client.stream("GET", path) as answer:
        parts = answer.iter_raw()
        next(parts)
        first = time.perf_counter() - start
        for _ in parts:
            pass
    if answer.status_code != 200:  # OK
        raise RuntimeError(f"{path}: {answer.status_code}")
    return first * 1000, (time.perf_counter() - start) * 1000


def main(address: str, token: str) -> None:
    """Log in, then visit each page that a line of standard input names as often as it says."""
    client = httpx.Client(base_url=address, trust_env=False, timeout=120.0)
    client.post("/login", data={"secret": token}, headers={"Origin": address.split("/memory", 1)[0]})
    for line in sys.stdin:
        path, visits = json.loads(line)
        print(json.dumps([_visit(client, path) for _ in range(visits)]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
