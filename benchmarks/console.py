"""Time to the first byte of each page of the console, and the longest gap of the bot's event loop meanwhile.

The client is a thread of the same process that asks over a socket, one page after another, or two clients at once.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import nonebot
import uvicorn

import cognitive_memory_core as core

from .measure import Report, loop_watched, percentile
from .workload import Noon, Speech, TextVectors, group_years, groups_by_size
from .year_in_ledger import laid

TOKEN = "a-token-of-the-benchmark"
WARM = 2  # visits of a page before it is measured
SETTLING = 600  # seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of events, visits of each page."""
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--visits", type=int, default=20)
    parser.add_argument("--directory", type=Path, help="a folder on the disk to measure (default: temporary files)")


def run(options: argparse.Namespace) -> Report:
    """Visit every page of a console over a large memory."""
    columns = ("page", "first byte p50 ms", "first byte p95 ms", "longest gap of the loop ms")
    report = Report(f"console: {options.events} events, {options.visits} visits of each page", columns)
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        asyncio.run(_measure(report, options, Path(folder)))
    return report


async def _measure(report: Report, options: argparse.Namespace, folder: Path) -> None:
    lines = list(group_years(options.events))
    group_id, _ = groups_by_size(lines)[0]
    await laid(lines, folder / "data")
    nonebot.init(driver="~none", log_level="ERROR", localstore_data_dir=str(folder / "bot"))
    nonebot.load_plugin("nonebot_plugin_cognitive_memory")
    settings = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"))
    opening = core.CognitiveMemory.open(settings, folder / "data", clock=Noon(), embedder=TextVectors())
    async with opening as memory, _served(_application(memory, settings, folder / "data")) as address:
        person = lines[-1].user_id
        event = (await memory.listings.events(core.Scene.operator(), core.EventListing(), 1, 0))[0]
        said = Speech(4).text(20)
        pages = {
            "today": "/",
            "memories": "/memories",
            "memories, page 1,000": "/memories?page=1000",
            "memories of a group": f"/memories?place=group/{group_id}",
            "memories of a person": f"/memories?user_id={person}",
            "memories, forgotten": "/memories?state=retired",
            "memories, not absolute": "/memories?state=relative",
            "memories, a search in a group": f"/memories?place=group/{group_id}&text={said}",
            "memories, a search everywhere": f"/memories?text={said}",
            "one memory": f"/memories/open?id={event.id}",
            "a tried question": f"/question?place=group/{group_id}&user_id={person}&text={said}",
            "people": "/people",
            "one person": f"/people/open?id={person}",
            "groups and chats": "/places",
            "one group": f"/places/open?place=group/{group_id}",
            "beliefs": f"/beliefs?group={group_id}",
            "failed jobs": "/jobs",
            "settings": "/settings",
            "report, without comparing texts": "/report",
            "export and backup": "/transfers",
        }
        client = await asyncio.to_thread(_logged_in, address)
        for name, path in pages.items():
            async with loop_watched() as gap:
                took = await asyncio.to_thread(_visited, client, path, options.visits)
            report.add(name, percentile(took, 0.5), percentile(took, 0.95), gap.longest)
        client.close()


def _application(memory: core.CognitiveMemory, settings: core.Settings, data_dir: Path) -> Any:
    from fastapi import FastAPI  # noqa: PLC0415  # the plugin's modules exist once a bot has loaded it

    from nonebot_plugin_cognitive_memory.console.application import console_application  # noqa: PLC0415
    from nonebot_plugin_cognitive_memory.console.sessions import Doors  # noqa: PLC0415
    from nonebot_plugin_cognitive_memory.console.visit import Desk  # noqa: PLC0415
    from nonebot_plugin_cognitive_memory.http.dependencies import Backing  # noqa: PLC0415
    from nonebot_plugin_cognitive_memory.http.site import Site  # noqa: PLC0415

    backing = Backing(lambda: memory, lambda: settings)
    site = Site(TOKEN, (), backing)
    site.add("/console", console_application(Doors(), Desk(backing, data_dir), TOKEN))
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


def _logged_in(address: str) -> httpx.Client:
    client = httpx.Client(base_url=address, trust_env=False, timeout=120.0)
    client.post("/login", data={"secret": TOKEN}, headers={"Origin": address.split("/memory", 1)[0]})
    return client


def _visited(client: httpx.Client, path: str, visits: int) -> Sequence[float]:
    """Return the milliseconds to the first byte of each visit."""
    took: list[float] = []
    for number in range(WARM + visits):
        start = time.perf_counter()
        with client.stream("GET", path) as answer:
            parts = answer.iter_raw()
            next(parts)
            first = time.perf_counter() - start
            for _ in parts:
                pass
        if answer.status_code != 200:  # OK
            raise RuntimeError(f"{path}: {answer.status_code}")
        if number >= WARM:
            took.append(first * 1000)
    return took
